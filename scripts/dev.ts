import { spawn } from "node:child_process";
import { readEnvironment } from "@mailproof/local/environment";
import { createServer } from "vite";
import { OPTIONS } from "../packages/dashboard/build.ts";

// npm run dev: the server of `npm start`, which restarts with its state when a source file changes, and the dashboard
// by vite, which reloads what changed in the browser. Vite passes what is not the dashboard's to the server.

const { PORT: port } = readEnvironment(process.env);

/** Otherwise Node reports each import of a worker thread as a message of that thread, among the server's own. */
const WITHOUT_REPORTS = "data:text/javascript,delete process.env.WATCH_REPORT_DEPENDENCIES";

const server = spawn(
  process.execPath,
  [
    "--watch-path=packages",
    "--watch-preserve-output",
    `--import=${WITHOUT_REPORTS}`,
    "packages/local/src/server/main.ts",
  ],
  { stdio: "inherit" },
);
const dashboard = await createServer({
  ...OPTIONS,
  mode: "development",
  logLevel: "info",
  server: {
    host: "127.0.0.1",
    proxy: { "^/(?!app/)": `http://127.0.0.1:${port}` },
  },
});
await dashboard.listen();
dashboard.printUrls();

const stop = async (): Promise<void> => {
  server.kill("SIGTERM");
  await dashboard.close();
};
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop());
server.once("exit", () => void dashboard.close());

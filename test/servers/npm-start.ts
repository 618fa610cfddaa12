import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

type Ready = { readonly base_url: string; readonly mcp_url: string; readonly test_key: string };

/** Runs `task` against a server that `npm start` started on its own folder, and stops it. */
export const withServer = async (task: (ready: Ready) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-server-"));
  const child = spawn("npm", ["start"], {
    cwd: join(import.meta.dirname, "../.."),
    env: { ...process.env, MAILPROOF_DIR: folder, PORT: "0" },
    stdio: "ignore",
    detached: true,
  });
  const ended = once(child, "exit");
  const ready = join(folder, "ready.json");
  try {
    while (!existsSync(ready)) {
      if (child.exitCode !== null) throw new Error("npm start ended");
      await setTimeout(50);
    }
    await task(JSON.parse(readFileSync(ready, "utf8")) as Ready);
  } finally {
    // The group: npm does not pass every signal on.
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
};

import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { buildApp } from "fauxqs";
import { getToolFolder } from "../third-party/tools.ts";
import { isOverMoto } from "./shape.ts";

// DynamoDB, SQS and S3 on loopback, until the process that started this one is gone. The queues go by the
// clock of the caller, where it sends one along.

let ahead: number | undefined;
const realNow = Date.now;
Date.now = () => ahead ?? realNow();

const app = buildApp({ logger: false, host: "127.0.0.1" });
app.addHook("onRequest", async ({ headers }) => {
  const sent = headers["x-clock"];
  if (sent !== undefined) ahead = Number(sent);
});
await app.listen({ port: 0, host: "127.0.0.1" });

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
};

const STARTS_MAX = 5;

/** A program that answers at a port, once it does. It ends where another process has taken the port meanwhile. */
const start = async (command: string, createArgs: (port: number) => readonly string[]) => {
  for (let tries = 0; tries < STARTS_MAX; tries++) {
    const port = await freePort();
    const child = spawn(command, createArgs(port), { stdio: ["ignore", "ignore", "inherit"] });
    process.on("exit", () => child.kill("SIGKILL"));
    const ended = once(child, "exit").then(() => "ended" as const);
    const url = `http://127.0.0.1:${port}`;
    const isUp = (): Promise<boolean> =>
      fetch(`${url}/`).then(
        () => true,
        () => false,
      );
    for (;;) {
      const isReady = await Promise.race([isUp(), ended]);
      if (isReady === "ended") break;
      if (isReady) {
        child.on("exit", () => process.exit(1));
        return url;
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  throw new Error(`${command} does not start`);
};

const startDynoxide = (program = "") =>
  start(program, (port) => `serve --host 127.0.0.1 --port ${port}`.split(" "));

const startMoto = () =>
  start(`${getToolFolder("python")}/bin/python`, (port) => [
    new URL("../third-party/moto-server.py", import.meta.url).pathname,
    String(port),
  ]);

process.stdin.resume().on("end", () => process.exit(0));

const fauxqs = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
const startEmulators = async () => {
  if (isOverMoto) {
    const moto = await startMoto();
    return { dynamodb: moto, others: moto };
  }
  return { dynamodb: await startDynoxide(process.argv[2]), others: fauxqs };
};

process.stdout.write(`${JSON.stringify(await startEmulators())}\n`);

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { type AddressInfo, createServer } from "node:net";
import { buildApp } from "fauxqs";

// DynamoDB, SQS and S3 on loopback, until whoever started this process is gone. The queues go by the clock of
// whoever asks, where he sends one along.

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

const dynamoPort = await freePort();
const binary = createRequire(import.meta.url).resolve("@dynoxide/linux-x64/dynoxide");
const dynamo = spawn(binary, ["serve", "--host", "127.0.0.1", "--port", `${dynamoPort}`], {
  stdio: "ignore",
});
process.on("exit", () => dynamo.kill("SIGKILL"));
dynamo.on("exit", () => process.exit(1));
process.stdin.resume().on("end", () => process.exit(0));

const isUp = async (): Promise<boolean> =>
  fetch(`http://127.0.0.1:${dynamoPort}/`).then(
    () => true,
    () => false,
  );
while (!(await isUp())) await new Promise((resolve) => setTimeout(resolve, 10));

process.stdout.write(
  `${JSON.stringify({
    dynamodb: `http://127.0.0.1:${dynamoPort}`,
    others: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
  })}\n`,
);

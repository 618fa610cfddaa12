import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startServer } from "./server.ts";

// node --import ./scripts/need-node.mjs bench/refusals.ts [--connections 2000]: what refusing costs, in one run and as
// ratios: a request over the limit, and one with a wrong key, against a read that is answered.

const SECONDS = 3;

type LoadFigures = {
  readonly connections: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
};

const { values } = parseArgs({ options: { connections: { type: "string", default: "2000" } } });
const connections = Number(values.connections);

const openSocket = (url: URL): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(url.port), url.hostname, () => resolve(socket));
    socket.once("error", reject);
  });

/** Each connection asks again when it was answered. Answers have one segment, so a chunk is an answer. */
const load = async (
  base: string,
  key: string,
  sockets: readonly Socket[],
): Promise<LoadFigures> => {
  const { host } = new URL(base);
  const request = `GET /v1/account HTTP/1.1\r\nhost: ${host}\r\nx-api-key: ${key}\r\n\r\n`;
  const latencies: number[] = [];
  const open = sockets.filter(({ destroyed }) => !destroyed);
  const end = performance.now() + SECONDS * 1_000;
  await Promise.all(
    open.map(
      (socket) =>
        new Promise<void>((resolve) => {
          let sentAt = performance.now();
          const ask = (): void => {
            sentAt = performance.now();
            socket.write(request);
          };
          socket.once("close", resolve);
          socket.on("data", () => {
            latencies.push(performance.now() - sentAt);
            if (performance.now() < end) return ask();
            socket.removeAllListeners("data");
            resolve();
          });
          ask();
        }),
    ),
  );
  latencies.sort((a, b) => a - b);
  const at = (share: number): number =>
    Math.round(latencies[Math.floor(latencies.length * share)] ?? Number.NaN);
  return {
    connections: open.length,
    perSecond: Math.round(latencies.length / SECONDS),
    p50: at(0.5),
    p99: at(0.99),
  };
};

const folder = mkdtempSync(join(tmpdir(), "mailproof-bench-"));
const { ready, stop } = await startServer(folder);
try {
  const sockets: Socket[] = [];
  for (let n = 0; n < connections; n++) sockets.push(await openSocket(new URL(ready.base_url)));
  // The first minute's allowance is used up on the way.
  await load(ready.base_url, ready.live_key, sockets);
  const limited = await load(ready.base_url, ready.live_key, sockets);
  const unknown = await load(ready.base_url, `${ready.live_key.slice(0, -1)}_`, sockets);
  process.stdout.write(`${JSON.stringify({ limited, unknown }, null, 2)}\n`);
  for (const socket of sockets) socket.destroy();
} finally {
  await stop();
  rmSync(folder, { recursive: true });
}

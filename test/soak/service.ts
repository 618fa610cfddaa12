import { type ChildProcess, fork, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { type AddressInfo, createServer as createPlainServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { PUBLIC_AND_WORTHLESS_CERTIFICATE, PUBLIC_AND_WORTHLESS_KEY } from "@mailproof/lab/lab";
import { NODE_OPTIONS } from "../../scripts/node-options.ts";

/** The product in its own process, at an address that stays the same over all its restarts. */
export const startService = async (folder: string, network: Readonly<Record<string, string>>) => {
  const [port, metricsPort, mailPort] = [await freePort(), await freePort(), await freePort()];
  const baseUrl = `http://127.0.0.1:${port}`;
  const authority = join(folder, "authority.pem");
  writeFileSync(authority, PUBLIC_AND_WORTHLESS_CERTIFICATE);
  const log = createWriteStream(join(folder, "server.log"));
  const env = {
    PATH: process.env["PATH"] ?? "",
    MAILPROOF_DIR: join(folder, "state"),
    PORT: String(port),
    METRICS_PORT: String(metricsPort),
    MAIL_DOMAIN: "mail.example.com",
    MAIL_PORT: String(mailPort),
    DEMO: "off",
    OUTBOUND_ALLOW_PRIVATE: "127.0.0.0/8",
    ...network,
    NODE_EXTRA_CA_CERTS: authority,
  };
  let child: ChildProcess;
  const start = async (): Promise<void> => {
    child = spawn(process.execPath, [...NODE_OPTIONS, "packages/local/src/server/main.ts"], {
      env,
    });
    child.stdout?.pipe(log, { end: false });
    child.stderr?.pipe(log, { end: false });
    while (!(await fetch(`${baseUrl}/health`).catch(() => undefined))) {
      if (child.exitCode !== null) throw new Error("the server did not start: see server.log");
      await setTimeout(50);
    }
  };
  const stop = async (signal: "SIGTERM" | "SIGKILL"): Promise<void> => {
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  };
  const command = async (...args: readonly string[]): Promise<any> => {
    const commandProcess = spawn(process.execPath, ["packages/local/bin/mailproof.mjs", ...args], {
      env,
    });
    return JSON.parse(await text(commandProcess.stdout)) as unknown;
  };
  // A soak that is broken off leaves nothing behind.
  process.once("exit", () => child.kill("SIGKILL"));
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => process.exit(130));
  await start();
  scrapeMetrics(`http://127.0.0.1:${metricsPort}/metrics`);
  return {
    baseUrl,
    start,
    stop,
    command,
    pid: () => child.pid ?? 0,
    state: env.MAILPROOF_DIR,
  };
};

const SCRAPE_INTERVAL_MS = 15_000;

/** As Prometheus does. A server that is being restarted has nothing to say. */
const scrapeMetrics = (url: string): void => {
  const scrape = () =>
    fetch(url).then(
      (response) => response.text(),
      () => undefined,
    );
  setInterval(() => void scrape(), SCRAPE_INTERVAL_MS).unref();
};

export type Service = Awaited<ReturnType<typeof startService>>;

const freePort = async (): Promise<number> => {
  const server = createPlainServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
};

/** Takes webhooks, and refuses every third. The lab's own name servers know the way here. */
export const startReceiver = async () => {
  let calls = 0;
  const identity = { key: PUBLIC_AND_WORTHLESS_KEY, cert: PUBLIC_AND_WORTHLESS_CERTIFICATE };
  const server = createServer(identity, (request, answer) => {
    request.resume();
    calls++;
    answer.writeHead(calls % 3 === 0 ? 500 : 204).end();
  }).listen(0);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://aonly.lab.mailproof.test:${port}/in`,
    calls: () => calls,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

/** A file of this folder as its own process, that ends with this one. What it says first is returned. */
export const startBeside = async <First>(file: string, ...args: readonly string[]) => {
  const child = fork(join(import.meta.dirname, file), args);
  const ended = once(child, "exit").then(() => {
    throw new Error(`${file} has ended`);
  });
  ended.catch(() => undefined);
  /** Its next message. */
  const hear = <T>(): Promise<T> =>
    Promise.race([once(child, "message").then(([message]) => message as T), ended]);
  const first = await hear<First>();
  return {
    first,
    hear,
    pid: child.pid ?? 0,
    send: (message: object) => void child.send(message),
    end: () => child.disconnect(),
  };
};

/** Megabytes of memory and seconds of processor time. Where the system does not tell them they are not numbers. */
export const measureUsage = (
  pid: number,
): { readonly megabytes: number; readonly cpuSeconds: number } => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return {
      megabytes: Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024,
      cpuSeconds: (Number(stat[11]) + Number(stat[12])) / TICKS_PER_SECOND,
    };
  } catch {
    return { megabytes: Number.NaN, cpuSeconds: Number.NaN };
  }
};

/** Linux has counted in hundredths of a second since long ago, whatever its kernel does inside. */
const TICKS_PER_SECOND = 100;

/** How long the same piece of work takes now, in milliseconds: what of a slow answer is the machine's doing. */
export const measureMachineMs = (): number => {
  const from = performance.now();
  for (let n = 0; n < 4_000; n++) createHash("sha256").update(PIECE).digest();
  return performance.now() - from;
};

const PIECE = Buffer.alloc(256, "soak");

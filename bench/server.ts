import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { audit } from "@mailproof/core/background/audit";
import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";

type Ready = { readonly base_url: string; readonly live_key: string; readonly account_id: string };

export type Server = Awaited<ReturnType<typeof startServer>>;

export const TREE = fileURLToPath(new URL("..", import.meta.url));

/** The product in its own process, as `npm start` runs it in a tree: with that tree's Node and its options. */
export const startServer = async (
  folder: string,
  env: Readonly<Record<string, string>> = {},
  tree = TREE,
) => {
  const { scripts } = JSON.parse(readFileSync(join(tree, "package.json"), "utf8")) as {
    readonly scripts: { readonly start: string };
  };
  const logFile = join(folder, "bench.log");
  const log = openSync(logFile, "w");
  // With "exec" the process is the server, and no shell around it.
  const child = spawn("sh", ["-c", `exec ${scripts.start.replace(/^exec /, "")}`], {
    cwd: tree,
    env: {
      ...process.env,
      PATH: `${join(tree, "node_modules/.bin")}:${process.env["PATH"]}`,
      ...env,
      MAILPROOF_DIR: folder,
      PORT: "0",
      REACH_DOMAINS: "",
    },
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  const file = join(folder, "ready.json");
  while (!existsSync(file)) {
    if (child.exitCode !== null)
      throw new Error(`The server did not start: ${readFileSync(logFile, "utf8")}`);
    await setTimeout(20);
  }
  const ready = JSON.parse(readFileSync(file, "utf8")) as Ready;
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  };
  const stop = () => end("SIGTERM");
  /** For a server that is not asked what it kept: its work in progress is not waited for. */
  const kill = () => end("SIGKILL");
  return { ready, stop, kill, pid: child.pid ?? 0 };
};

/** What a process took so far. Only Linux tells it; elsewhere these are not numbers. */
export const readUsage = (pid: number) => {
  const readField = (file: string, pattern: RegExp): number => {
    try {
      return Number(pattern.exec(readFileSync(`/proc/${pid}/${file}`, "utf8"))?.[1]);
    } catch {
      return Number.NaN;
    }
  };
  // The fields after the name of the program, which may contain anything: user and system time are the 12th and 13th.
  const readTicks = (field: number) =>
    readField("stat", new RegExp(`\\) (?:\\S+ ){${field - 1}}(\\d+)`));
  return {
    processorSeconds: (readTicks(12) + readTicks(13)) / TICKS_PER_SECOND,
    peakMegabytes: readField("status", /VmHWM:\s+(\d+) kB/) / 1_024,
    bytesWritten: readField("io", /^write_bytes: (\d+)/m),
  };
};

/** In /proc, on every Linux. */
const TICKS_PER_SECOND = 100;

/** The ledger as a server that is stopped left it. */
export const auditFolder = async (folder: string) => {
  const { world, close } = createApp(readEnvironment({ MAILPROOF_DIR: folder }), () => "", null);
  const result = await audit(world.table, world.now());
  close();
  return result;
};

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { audit } from "@mailproof/core/background/audit";
import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { NODE_OPTIONS } from "../scripts/node-options.ts";

type Ready = { readonly base_url: string; readonly live_key: string; readonly account_id: string };

/** The product in a process of its own, as npm start runs it. */
export const startServer = async (folder: string, env: Readonly<Record<string, string>> = {}) => {
  const child = spawn(process.execPath, [...NODE_OPTIONS, "packages/local/src/server/main.ts"], {
    env: { ...process.env, ...env, MAILPROOF_DIR: folder, PORT: "0" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const file = join(folder, "ready.json");
  while (!existsSync(file)) {
    if (child.exitCode !== null) throw new Error("the server did not start");
    await setTimeout(20);
  }
  const ready = JSON.parse(readFileSync(file, "utf8")) as Ready;
  const stop = async () => {
    if (child.exitCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  };
  return { ready, stop, pid: child.pid ?? 0 };
};

/** Where the system tells it; elsewhere not a number. */
export const readMegabytes = (pid: number): number => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
  } catch {
    return Number.NaN;
  }
};

/** The ledger as a server that is stopped left it. */
export const auditFolder = async (folder: string) => {
  const { world, close } = createApp(readEnvironment({ MAILPROOF_DIR: folder }), () => "", null);
  const result = await audit(world.table, world.now());
  close();
  return result;
};

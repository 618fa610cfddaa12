import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PRELOADED } from "../local/running.ts";

export const CHROMIUM = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => existsSync(path));

// The real server with the lab in a process of its own.

/** The account, and where it is served. */
export type Ready = {
  readonly base_url: string;
  readonly live_key: string;
  readonly test_key: string;
  readonly account_id: string;
};

export type RunningServer = {
  readonly ready: Ready;
  /** Its state. */
  readonly folder: string;
  /** What it has written to its log. */
  readonly log: string;
};

export const OPERATOR_KEY = `mp_operator_${"k".repeat(32)}`;

/** The settings are those of docs/settings.md. */
export const startServer = async (
  settings: Record<string, string> = {},
): Promise<RunningServer & { readonly stop: () => Promise<void> }> => {
  const root = mkdtempSync(join(tmpdir(), "mailproof-"));
  const folder = join(root, "state");
  const log = join(root, "log");
  const written = openSync(log, "a");
  const child = spawn(process.execPath, [...PRELOADED, "packages/local/src/server/main.ts"], {
    env: { PATH: process.env["PATH"] ?? "", MAILPROOF_DIR: folder, PORT: "0", ...settings },
    stdio: ["ignore", "ignore", written],
  });
  closeSync(written);
  const ended = once(child, "exit");
  const file = join(folder, "ready.json");
  while (!existsSync(file)) {
    if (child.exitCode !== null) throw new Error(`it ended: ${readFileSync(log, "utf8")}`);
    await sleep(10);
  }
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
    rmSync(root, { recursive: true, force: true });
  };
  return { ready: JSON.parse(readFileSync(file, "utf8")) as Ready, folder, log, stop };
};

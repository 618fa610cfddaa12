import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { watchLine } from "../log-lines.ts";

type Ready = {
  readonly base_url: string;
  readonly mcp_url: string;
  readonly live_key: string;
  readonly test_key: string;
  readonly account_id: string;
};

export const createFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

export const spawnNode = (file: string, args: readonly string[], env: Record<string, string>) => {
  const child = spawn(process.execPath, ["--import", "./scripts/need-node.mjs", file, ...args], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  // With its test, not with this file: workers share files, and a hook here would belong to the first of them.
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
};

/** A real server in a process of its own, ready to answer. */
export const whenStarted = async (
  folder: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
) => {
  const file = join(folder, "ready.json");
  rmSync(file, { force: true });
  const child = spawnNode("packages/local/src/server/main.ts", args, {
    MAILPROOF_DIR: folder,
    PORT: "0",
    ...env,
  });
  const screen = text(child.stdout);
  const log: string[] = [];
  child.stderr.setEncoding("utf8").on("data", (written: string) => {
    log.push(written);
    watchLine(written);
  });
  while (!existsSync(file)) {
    if (child.exitCode !== null) throw new Error(`it ended: ${log.join("")}`);
    await setTimeout(10);
  }
  const ready = JSON.parse(readFileSync(file, "utf8")) as Ready;
  const stop = async (signal: "SIGTERM" | "SIGKILL") => {
    const ended = once(child, "exit");
    child.kill(signal);
    const [code] = (await ended) as [number | null];
    return { code, screen: await screen };
  };
  /** The lines of JSON that it has written to its log. */
  const readLog = () =>
    log
      .join("")
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ready, stop, readLog, pid: child.pid ?? 0 };
};

/** The command line, to its end. */
export const whenCommanded = (folder: string, ...args: readonly string[]) =>
  whenCommandedWith({ MAILPROOF_DIR: folder }, ...args);

export const whenCommandedWith = async (
  env: Record<string, string>,
  ...args: readonly string[]
) => {
  const child = spawnNode("packages/local/bin/mailproof.mjs", args, env);
  const [out, err] = [text(child.stdout), text(child.stderr)];
  const [code] = (await once(child, "exit")) as [number | null];
  return { code, out: await out, err: await err };
};

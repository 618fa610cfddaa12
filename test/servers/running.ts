import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { commands } from "@mailproof/local/cli/commands";
import { runCommand } from "@mailproof/local/cli/run-command";
import { lockFolder } from "@mailproof/local/storage/folder-lock";
import { afterAll, beforeAll, onTestFinished, vi } from "vitest";
import { watchLine } from "../app/log-lines.ts";
import { endWithTest } from "../runner/eventually.ts";
import { MAILPROOF } from "./package.ts";

type Ready = {
  readonly base_url: string;
  readonly mcp_url: string;
  readonly live_key: string;
  readonly test_key: string;
  readonly account_id: string;
};

const makeFolder = (): string => mkdtempSync(join(tmpdir(), "mailproof-"));

export const createFolder = (): string => {
  const folder = makeFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** Compiled modules, for each program that tests start: a command needs a third of the processor time to load. */
export const COMPILED = { NODE_COMPILE_CACHE: resolve(".cache/compiled") };

/** What a program of this repository is started with. */
export const PRELOADED = [
  "--import=./scripts/need-node.mjs",
  "--import=./test/local/idle-machine.ts",
  "--import=./test/runner/no-internet.setup.ts",
];

type Env = Record<string, string>;

const spawnProgram = (program: readonly string[], env: Env) =>
  spawn(process.execPath, [...PRELOADED, ...program], {
    // Without the keys that the developer who runs the tests has logged in with.
    env: { PATH: process.env["PATH"] ?? "", XDG_CONFIG_HOME: "/nowhere", ...COMPILED, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });

/** A script of this repository. */
export const spawnNode = (file: string, args: readonly string[], env: Env) =>
  endWithTest(spawnProgram([file, ...args], env));

/** The command that users install. */
export const spawnMailproof = (args: readonly string[], env: Env) =>
  endWithTest(spawnProgram([...MAILPROOF, ...args], env));

/** A real server in its own process, ready to answer. */
export const whenStarted = async (
  folder: string,
  args: readonly string[] = [],
  env: Env = {},
  start: readonly string[] = [...MAILPROOF, "start"],
) => {
  const settings = { MAILPROOF_DIR: folder, PORT: "0", REACH_DOMAINS: "", ...env };
  // Of a server that was killed.
  rmSync(toReadyFile(folder), { force: true });
  return whenReady(endWithTest(spawnProgram([...start, ...args], settings)), folder);
};

/** One server for all tests of a file. The settings are asked for when it starts. */
export const serveFile = (
  getSettings: () => Promise<Record<string, string>> = async () => ({}),
) => {
  const server = Promise.withResolvers<Awaited<ReturnType<typeof whenReady>>>();
  const folder = makeFolder();
  beforeAll(async () => {
    const settings = {
      MAILPROOF_DIR: folder,
      PORT: "0",
      REACH_DOMAINS: "",
      ...(await getSettings()),
    };
    const child = spawnProgram([...MAILPROOF, "start"], settings);
    await whenReady(child, folder).then(server.resolve, server.reject);
  });
  afterAll(async () => {
    await (await server.promise).stop("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  return { folder, server: server.promise };
};

/** A server holds its folder's lock to its last moment, however it ends: nothing writes into the folder after that. */
export const isGone = (folder: string): boolean => {
  try {
    lockFolder(folder).release();
    return true;
  } catch {
    return false;
  }
};

const toReadyFile = (folder: string): string => join(folder, "ready.json");

const whenReady = async (child: ReturnType<typeof spawnProgram>, folder: string) => {
  const file = toReadyFile(folder);
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

/** A command in this process, to its end: its own process takes half a second, and only some tests are about it. */
export const whenRun = async (
  env: Readonly<Record<string, string>>,
  ...args: readonly string[]
) => {
  const before = { ...process.env };
  Object.assign(process.env, { XDG_CONFIG_HOME: "/nowhere", ...env });
  const [out, err]: [string[], string[]] = [[], []];
  const captures = [
    vi.spyOn(process.stdout, "write").mockImplementation((text) => out.push(String(text)) > 0),
    vi.spyOn(process.stderr, "write").mockImplementation((text) => err.push(String(text)) > 0),
  ];
  try {
    const code = await runCommand(commands, args);
    return { code, out: out.join(""), err: err.join("") };
  } finally {
    for (const capture of captures) capture.mockRestore();
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  }
};

/** The same, on the state of a folder. */
export const whenRunIn = (folder: string, ...args: readonly string[]) =>
  whenRun({ MAILPROOF_DIR: folder }, ...args);

/** The command line as a process, to its end. */
export const whenCommanded = (folder: string, ...args: readonly string[]) =>
  whenCommandedWith({ MAILPROOF_DIR: folder }, ...args);

export const whenCommandedWith = (env: Env, ...args: readonly string[]) =>
  whenEnded(spawnMailproof(args, env));

/** What a program wrote, and its exit code. */
export const whenEnded = async (child: ReturnType<typeof spawnProgram>) => {
  const [out, err] = [text(child.stdout), text(child.stderr)];
  const [code] = (await once(child, "exit")) as [number | null];
  return { code, out: await out, err: await err };
};

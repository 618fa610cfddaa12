import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { dial } from "../servers/smtp-client.ts";
import { openHooks } from "./hooks.ts";
import { type Artefact, describeJourney, LAB, type Mail } from "./journey.ts";

// A server of one machine that is started as its user starts it, in an empty folder of its own.

type Words = readonly [program: string, ...args: string[]];
type Env = Readonly<Record<string, string>>;

export type Program = {
  readonly start: Words;
  /** The same program with the words of another command after it. */
  readonly command: Words;
  /** Undefined: the empty folder. */
  readonly cwd?: string;
  readonly env: Env;
  /** Where the program is in a root of its own: the path of that root, and its state there. Undefined: it sees this machine. */
  readonly inside?: { readonly root: string; readonly state: string };
};

/** What the server writes for programs beside it. */
type Ready = {
  readonly base_url: string;
  readonly mcp_url: string;
  /** With DEMO=off there is none. */
  readonly live_key?: string;
  readonly mail_port: number;
};

type Started = {
  readonly artefact: Artefact;
  /** The exit code after SIGTERM, or the signal that ended it before. */
  readonly stop: () => Promise<number | string | null>;
  /** Its end by itself. */
  readonly ended: Promise<unknown>;
};

/** The blocks of the lab's mail hosts, where our endpoint for webhooks is, too. */
const LAB_BLOCK = "127.77.0.0/16";

/** Hands a mail over as a mail server does (RFC 5321 §4.1.1), and fails at each refusal. */
const sendMail = async (port: number, { from, to, message }: Mail): Promise<void> => {
  const client = await dial("127.0.0.1", port);
  try {
    expect(await client.reply()).toMatch(/^220 /);
    expect(await client.say(`EHLO out.good.senders.${LAB}`)).toMatch(/^250/);
    expect(await client.say(`MAIL FROM:<${from}>`)).toMatch(/^250 /);
    expect(await client.say(`RCPT TO:<${to}>`)).toMatch(/^250 /);
    expect(await client.say("DATA")).toMatch(/^354 /);
    client.send(`${message}.\r\n`);
    expect(await client.reply(60_000)).toMatch(/^250 /);
  } finally {
    client.close();
  }
};

/** `opened` collects what has to be closed, also when the start fails. */
export const startProgram = async (
  { start: [program, ...args], command, cwd, env: given, inside }: Program,
  opened: (() => unknown)[],
): Promise<Started> => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-journey-"));
  opened.push(() => rmSync(folder, { recursive: true, force: true }));
  const hooks = await openHooks();
  opened.push(hooks.close);
  const state = inside?.state ?? "/state";
  const root = inside?.root ?? folder;
  const trusted = join(root, "trusted.pem");
  writeFileSync(trusted, hooks.certificate);
  const seen = (path: string) => (inside ? path : join(folder, path));
  const env = {
    ...given,
    MAILPROOF_DIR: seen(state),
    PORT: "0",
    REACH_DOMAINS: "",
    ENGINE_THREADS: "1",
    MAIL_DOMAIN: "in.journey.example",
    MAIL_PORT: "0",
    OUTBOUND_ALLOW_PRIVATE: LAB_BLOCK,
    NODE_EXTRA_CA_CERTS: seen("/trusted.pem"),
  };
  const at = cwd ?? folder;
  const child = spawn(program, args, { cwd: at, env, stdio: ["ignore", "ignore", "pipe"] });
  opened.push(() => child.kill("SIGKILL"));
  const ended = once(child, "exit");
  const ready = await whenReady(child, join(root, state, "ready.json"));

  const admin = async (...words: readonly string[]) => {
    const [name, ...before] = command;
    const beside = { ...env, MAILPROOF_DIR: join(root, state), NODE_EXTRA_CA_CERTS: trusted };
    const options = { cwd: at, env: beside, maxBuffer: 10_000_000 };
    const { stdout } = await promisify(execFile)(name, [...before, "admin", ...words], options);
    return JSON.parse(stdout);
  };
  const account = ["accounts", "create", "--name", "journey", "--plan", "scale"];
  const key = ready.live_key ?? (await admin(...account, "--credits", "1000")).live_key;
  const artefact: Artefact = {
    baseUrl: ready.base_url,
    mcpUrl: ready.mcp_url,
    key,
    capabilities: {
      control: true,
      pages: true,
      hooks,
      deliverMail: (mail) => sendMail(ready.mail_port, mail),
      admin,
      backupFolder: join(root, state, "../backups/journey"),
    },
  };
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null)
      return child.exitCode ?? child.signalCode;
    child.kill("SIGTERM");
    await ended;
    return child.exitCode ?? child.signalCode;
  };
  return { artefact, stop, ended };
};

/** Read by nobody until the server ends early: then it is the report. */
const whenReady = async (child: ChildProcess, file: string): Promise<Ready> => {
  let log = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  while (!existsSync(file)) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`It ended with ${child.exitCode ?? child.signalCode}: ${log}`);
    await setTimeout(20);
  }
  return JSON.parse(readFileSync(file, "utf8")) as Ready;
};

/** The journey through the program, what `testStarted` adds, and its end by SIGTERM. */
export const describeProgram = (
  name: string,
  getProgram: () => Program,
  testStarted?: (getServer: () => Artefact) => void,
): void => {
  const opened: (() => unknown)[] = [];
  let started: Started;
  afterAll(async () => {
    for (const close of opened.toReversed()) await close();
  });
  describeJourney(name, async () => {
    started = await startProgram(getProgram(), opened);
    return started.artefact;
  });
  testStarted?.(() => started.artefact);
  test(`SIGTERM to ${name} ends the server with 0`, async () => {
    expect(await started.stop()).toBe(0);
  });
};

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout, setTimeout as sleep } from "node:timers/promises";
import { formatFirstScreen } from "@mailproof/local/server/first-screen";
import { explainFolderFault } from "@mailproof/local/storage/folder-faults";
import { lockFolder } from "@mailproof/local/storage/folder-lock";
import { expect, onTestFinished, test } from "vitest";
import { describeUnless } from "../runner/describe-when.ts";
import { endWithTest, eventually } from "../runner/eventually.ts";
import { MAILPROOF } from "../servers/package.ts";
import {
  createFolder,
  isGone,
  PRELOADED,
  spawnMailproof,
  whenRunIn,
  whenStarted,
} from "../servers/running.ts";

// What a start says when the machine does not let it: a sentence with the setting or the limit to change.

const START = [...PRELOADED, ...MAILPROOF, "start"];

const whenRefused = (folder: string): Promise<string> => {
  const child = spawnMailproof(["start"], { MAILPROOF_DIR: folder, PORT: "0", REACH_DOMAINS: "" });
  return text(child.stderr);
};

test("a server start states the setting when the state folder is a file", async () => {
  const file = join(createFolder(), "state");
  writeFileSync(file, "");

  const sentence = `${file} cannot hold the state: it is not a folder (`;
  expect(await whenRefused(file)).toContain(sentence);
  expect(await whenRefused(file)).toContain("set MAILPROOF_DIR to another folder.\n");
  expect(await whenRefused(join(file, "below"))).toContain("below cannot hold the state: ");
});

test("a server start and a command state the folder of a database that cannot be opened", async () => {
  const folder = createFolder();
  await whenRunIn(folder, "admin", "accounts", "create", "--name", "Acme");
  const database = join(folder, "state.sqlite");
  rmSync(database);
  mkdirSync(database);

  const { code, err } = await whenRunIn(folder, "admin", "accounts", "list");

  expect([code, err]).toEqual([1, expect.stringContaining(`${folder} cannot hold the state: `)]);
  expect(await whenRefused(folder)).toContain(`${folder} cannot hold the state: `);
});

test.each([
  ["EACCES", "this user cannot read and write it"],
  ["EROFS", "it is read-only"],
  ["ENOSPC", "its disk is full"],
])("the error %s explains the fault and contains only the folder", (code, words) => {
  const createError = (path: string) => Object.assign(new Error(`${code}: denied`), { code, path });

  expect(explainFolderFault("/srv/state", createError("/srv/state/lock.sqlite"))).toContain(words);
  expect(explainFolderFault("/srv/state", createError("/srv"))).toContain(words);
  expect(explainFolderFault("/srv/state", createError("/srv/state-2/x"))).toBeUndefined();
  expect(explainFolderFault("/srv/state", createError("/etc/mail.pem"))).toBeUndefined();
});

test("a server start does not mistake an unreadable lock file for another server", () => {
  const folder = createFolder();
  writeFileSync(
    join(folder, "lock.sqlite"),
    "this is not a database, and long enough to be read as one",
  );

  expect(() => lockFolder(folder)).toThrow("file is not a database");
});

test("a server start with too few descriptors prints the limit to raise", async () => {
  const command = `ulimit -n 48; exec "$0" ${START.join(" ")}`;
  const child = spawn("sh", ["-c", command, process.execPath], {
    env: {
      PATH: process.env["PATH"] ?? "",
      MAILPROOF_DIR: createFolder(),
      PORT: "0",
      REACH_DOMAINS: "",
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  endWithTest(child);

  expect(await text(child.stderr)).toContain("raise the limit to 2000 or more (ulimit -n");
});

test("a server without a terminal survives SIGHUP", async () => {
  const folder = createFolder();
  const { ready, pid, stop } = await whenStarted(folder);

  process.kill(pid, "SIGHUP");
  await setTimeout(100);

  expect((await fetch(`${ready.base_url}/health`)).status).toBe(200);
  expect((await stop("SIGTERM")).screen).toContain("SIGHUP changes nothing");
});

const findReasonAgainstTerminal = (): string | null =>
  spawnSync("script", ["--version"]).status === 0 ? null : "there is no script of util-linux";

describeUnless(findReasonAgainstTerminal(), "a server in a terminal", () => {
  test("closing the terminal ends the server as Ctrl-C does", async () => {
    const folder = createFolder();
    // script gives the server a terminal of its own, and closes it when it is ended itself.
    const server = `exec ${process.execPath} ${START.join(" ")}`;
    const child = spawn("script", ["--quiet", "--command", server, "/dev/null"], {
      env: { PATH: process.env["PATH"] ?? "", MAILPROOF_DIR: folder, PORT: "0", REACH_DOMAINS: "" },
      stdio: ["pipe", "ignore", "ignore"],
    });
    endWithTest(child);
    const ready = join(folder, "ready.json");
    while (!existsSync(ready)) await setTimeout(20);

    child.kill("SIGKILL");
    await once(child, "exit");
    while (!isGone(folder)) await setTimeout(20);

    expect(existsSync(ready)).toBe(false);
    expect(existsSync(join(folder, "state.sqlite"))).toBe(true);
  });
});

test("the first screen's commands work in a folder with a quote in its name", () => {
  const directory = join(createFolder(), "it's ours");
  mkdirSync(directory);
  writeFileSync(join(directory, "ready.json"), '{\n  "live_key": "mp_live_1"\n}\n');
  const screen = formatFirstScreen(
    {
      baseUrl: "http://127.0.0.1:1",
      mcpUrl: "http://127.0.0.1:1/mcp",
      version: "0.0.0",
      demo: { account_id: "acc_1", live_key: "mp_live_1" },
      signInUrl: null,
      warnings: [],
    },
    { directory, isTerminal: false },
  );

  const [line] = /export MAILPROOF_API=.*/.exec(screen) ?? [""];
  const printed = execFileSync("sh", ["-c", `${line}; printf %s "$MAILPROOF_KEY"`]);

  expect(printed.toString()).toBe("mp_live_1");
});

const FROM_OUTSIDE = `
  const { DatabaseSync } = require("node:sqlite");
  new DatabaseSync(process.argv[1]).exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
`;

test("a folder stays locked to other servers after its own server locks the folder again", () => {
  const folder = createFolder();
  const lock = lockFolder(folder);
  onTestFinished(lock.release);
  const file = join(folder, "lock.sqlite");

  expect(() => lockFolder(folder)).toThrow("Another Mailproof uses");

  const { status, stderr } = spawnSync(process.execPath, ["-e", FROM_OUTSIDE, file]);
  expect(stderr.toString()).toContain("database is locked");
  expect(status).toBe(1);
});

// The server as README starts it: by npm, with whatever npm puts between itself and the server.

const whenStartedByNpm = async () => {
  const folder = createFolder();
  const { PATH = "", HOME = "" } = process.env;
  const npm = spawn("npm", ["start"], {
    env: { PATH, HOME, MAILPROOF_DIR: folder, PORT: "0", REACH_DOMAINS: "" },
    stdio: ["ignore", "pipe", "ignore"],
    // A group of its own, so that a signal can be sent to all of it, as a terminal does.
    detached: true,
  });
  onTestFinished(async () => {
    if (npm.pid) killGroup(npm.pid);
    while (!isGone(folder)) await sleep(20);
  });
  const screen = text(npm.stdout);
  const file = join(folder, "ready.json");
  while (!existsSync(file)) {
    if (npm.exitCode !== null) throw new Error(`it ended: ${await screen}`);
    await sleep(20);
  }
  const { base_url } = JSON.parse(readFileSync(file, "utf8")) as { base_url: string };
  return { npm, screen, folder, port: Number(new URL(base_url).port) };
};

const killGroup = (pid: number): void => {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All of it has ended.
  }
};

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });

test.each(["SIGTERM", "SIGINT"] as const)(
  "a server started by npm ends before npm after %s",
  async (signal) => {
    const { npm, screen, folder, port } = await whenStartedByNpm();
    expect([await isOpen(port), isGone(folder)]).toEqual([true, false]);

    npm.kill(signal);
    await once(npm, "exit");

    expect([await isOpen(port), isGone(folder)]).toEqual([false, true]);
    expect(await screen).toContain("Finishing what is under way.");
  },
);

test.each(["SIGTERM", "SIGINT"] as const)(
  "a server that receives %s together with npm, as a terminal or systemd sends it, stops cleanly once",
  async (signal) => {
    const { npm, folder } = await whenStartedByNpm();

    process.kill(-(npm.pid ?? 0), signal);
    const [code] = (await once(npm, "exit")) as [number | null];

    expect(code).toBe(0);
    expect([isGone(folder), existsSync(join(folder, "ready.json"))]).toEqual([true, false]);
  },
);

test("a server stops cleanly by itself after kill -9 of its npm", async () => {
  const { npm, folder, port } = await whenStartedByNpm();

  npm.kill("SIGKILL");
  await once(npm, "exit");
  while (!isGone(folder)) await sleep(50);

  expect([await isOpen(port), existsSync(join(folder, "ready.json"))]).toEqual([false, false]);
});

// What callers get from a server that received SIGTERM.

type Question = { readonly route: string; readonly key: string; readonly body?: unknown };

const ask = async (agent: Agent, base: string, { route, key, body }: Question) => {
  const [method = "", path = ""] = route.split(" ");
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const asked = request(base + path, { method, headers, agent }).end(
    body === undefined ? undefined : JSON.stringify(body),
  );
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  const { data, error } = JSON.parse(await text(answer));
  return { status: answer.statusCode, connection: answer.headers.connection, data, error };
};

test("a stop leaves slow verifications pending, and the next process continues them", async () => {
  const folder = createFolder();
  const { ready, stop } = await whenStarted(folder);
  const { base_url: base, live_key: key } = ready;
  const agent = new Agent({ keepAlive: true });
  const asked = Array.from({ length: 20 }, (_, n) => {
    // Longer than the stop waits for anyone.
    const options = { timeout_ms: 30_000 };
    const body = { email: `nobody${n}@slow.lab.mailproof.test`, options };
    return ask(agent, base, { route: "POST /v1/verify", key, body });
  });
  await eventually(async () => {
    const { data } = await ask(agent, base, { route: "GET /v1/account", key });
    expect(data.credits.held).toBe(20);
  });

  const [answers, { code }] = await Promise.all([Promise.all(asked), stop("SIGTERM")]);

  expect(code).toBe(0);
  expect(answers.map(({ data, connection }) => `${data.status} ${connection}`)).toEqual(
    Array.from(answers, () => "pending close"),
  );
  const again = await whenStarted(folder);
  const [job] = answers.map(({ data }) => data.job_id as string);
  const { data } = await ask(new Agent(), again.ready.base_url, {
    route: `GET /v1/jobs/${job}`,
    key,
  });
  expect(data.status).toMatch(/^(pending|processing|completed)$/);
});

test("a stop closes open connections after their responses and refuses new work without a charge", async () => {
  const folder = createFolder();
  const { ready, stop } = await whenStarted(folder);
  const { base_url: base, live_key: key } = ready;
  const agent = new Agent({ keepAlive: true });
  const slow = { email: "nobody@slow.lab.mailproof.test" };
  // More connections than the requests below need.
  const earlier = await Promise.all(
    Array.from({ length: 4 }, () => ask(agent, base, { route: "GET /v1/account", key })),
  );

  const stopped = stop("SIGTERM");
  await eventually(() => expect(existsSync(join(folder, "ready.json"))).toBe(false));
  const [paid, read] = await Promise.all([
    ask(agent, base, { route: "POST /v1/verify", key, body: slow }),
    ask(agent, base, { route: "GET /v1/account", key }),
  ]);

  expect(earlier.map(({ connection }) => connection)).toEqual(earlier.map(() => "keep-alive"));
  expect(paid).toMatchObject({
    status: 503,
    connection: "close",
    error: { money: "nothing_charged" },
  });
  expect(read).toMatchObject({ status: 200, connection: "close" });
  expect((await stopped).code).toBe(0);
});

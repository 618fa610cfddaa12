import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packFiles } from "../../scripts/build/clients.ts";
import { buildExecutable, installTools } from "../../scripts/build/executable.ts";
import { writePackage } from "../../scripts/build/package.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { endWithTest } from "../runner/eventually.ts";

// What people install without this repository: the npm package, and the executable.

const run = promisify(execFile);
const ADDRESS = "ada.lovelace@valid.lab.mailproof.test";

const folder = mkdtempSync(join(tmpdir(), "mailproof-installed-"));
const packageFolder = join(folder, "package");
const CLIENTS = packFiles({ "a-client.tgz": Buffer.from("its bytes") });
beforeAll(() => writePackage(packageFolder, CLIENTS), 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Installed = {
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  /** Its name in messages. */
  readonly called: string;
};
type Ready = { readonly base_url: string; readonly live_key: string };

/** The server in an empty folder of its own. */
const whenServing = async ({ program, env }: Installed) => {
  const cwd = mkdtempSync(join(folder, "empty-"));
  const child = spawn(program, ["start"], {
    cwd,
    env: { ...env, PORT: "0", REACH_DOMAINS: "", ENGINE_THREADS: "1" },
    stdio: "ignore",
  });
  endWithTest(child);
  const file = join(cwd, ".local/ready.json");
  while (!existsSync(file)) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    await setTimeout(20);
  }
  const ready = JSON.parse(readFileSync(file, "utf8")) as Ready;
  const stop = async () => {
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    const [code] = await ended;
    return code as unknown;
  };
  return { cwd, ready, stop };
};

const verify = async ({ base_url, live_key }: Ready) => {
  for (;;) {
    const response = await fetch(`${base_url}/v1/verify`, {
      method: "POST",
      headers: { "X-Api-Key": live_key, "Content-Type": "application/json" },
      body: JSON.stringify({ email: ADDRESS }),
    });
    // A busy machine refuses paid work for a moment.
    if (response.status !== 503) return (await response.json()) as { readonly data: object };
    await setTimeout(500);
  }
};

const itServes = (getInstalled: () => Installed, alsoInside: readonly string[] = []): void => {
  test("it serves, verifies, stops cleanly, and its audit finds nothing wrong", async () => {
    const installed = getInstalled();
    const { cwd, ready, stop } = await whenServing(installed);
    expect(await verify(ready)).toMatchObject({ data: { email: ADDRESS, status: "valid" } });
    const docs = await fetch(`${ready.base_url}/docs`);
    expect([docs.status, await docs.text()]).toEqual([200, expect.stringContaining("Mailproof")]);
    const client = await fetch(`${ready.base_url}/docs/clients/a-client.tgz`);
    expect([client.status, await client.text()]).toEqual([200, "its bytes"]);
    const page = await (await fetch(`${ready.base_url}/app/verify`)).text();
    const [, script = ""] = /src="([^"]+)"/.exec(page) ?? [];
    const { status, headers } = await fetch(new URL(script, ready.base_url));
    expect([status, headers.get("content-encoding")]).toEqual([200, "gzip"]);
    expect(await stop()).toBe(0);
    const { program, env } = installed;
    const { stdout } = await run(program, ["admin", "audit"], { cwd, env });
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, accounts: 1, violations: [] });
  });

  test("its messages name the command as it is called, without npm", async () => {
    const { program, env, called } = getInstalled();
    const { stdout } = await run(program, ["start", "--help"], { env });
    expect(stdout).toContain(`Usage: ${called} start [--fresh]\n`);
    expect(stdout).not.toMatch(/npm|npx/);
  });

  test("it prints the licence of everything inside it", async () => {
    const { program, env } = getInstalled();
    const { stdout } = await run(program, ["licences"], { env, maxBuffer: 10_000_000 });
    for (const name of ["valibot", "dns-packet", "socks", "jose", "zod", "preact", ...alsoInside])
      expect(stdout).toMatch(new RegExp(`-\\n\\n${name}[^\\n]*\\n\\n[\\s\\S]*(?:MIT|ISC)`));
  });
};

describe("the npm package", () => {
  const prefix = join(folder, "prefix");
  const bin = dirname(process.execPath);
  const env = { PATH: `${bin}:${process.env["PATH"] ?? ""}` };
  beforeAll(async () => {
    const pack = ["pack", packageFolder, "--pack-destination", folder, "--json"];
    const { stdout } = await run("npm", pack);
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    const install = ["install", "--global", "--offline", "--prefix", prefix];
    await run("npm", [...install, join(folder, filename)], { env });
  }, 60_000);

  itServes(() => ({ program: join(prefix, "bin/mailproof"), env, called: "mailproof" }));
});

const findReasonAgainstExecutable = (): string | null => {
  if (process.platform !== "linux" || process.arch !== "x64") return "it is for Linux x64 only";
  try {
    installTools();
    return null;
  } catch (error) {
    if (process.env["CI"]) throw error;
    return "npm could not install scripts/build";
  }
};

describeUnless(findReasonAgainstExecutable(), "the executable", () => {
  const program = join(folder, "alone/mailproof");
  beforeAll(() => {
    const built = join(folder, "mailproof-linux-x64");
    buildExecutable(packageFolder, built);
    // Nothing of what it was made from is beside it.
    mkdirSync(dirname(program));
    copyFileSync(built, program);
  }, 120_000);

  // No Node is found, and no npm.
  itServes(
    () => ({ program, env: { PATH: "/nowhere" }, called: program }),
    [`Node ${process.version}`],
  );
});

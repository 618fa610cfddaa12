import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { json } from "node:stream/consumers";
import { expect, test } from "vitest";
import { endWithTest, eventually } from "../runner/eventually.ts";
import { createFolder } from "../servers/running.ts";

// Half of the time of a short command is the loading of its modules. Each command loads its own (docs/design/clients.md).

/** A program that lists its modules when it ends. */
const spawnCounted = (program: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const child = spawn(
    process.execPath,
    ["--import", "./test/local/count-modules.mjs", ...program],
    {
      env: {
        PATH: process.env["PATH"] ?? "",
        XDG_CONFIG_HOME: "/nowhere",
        MODULES_FD: "3",
        ...env,
      },
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    },
  );
  return { child, modules: json(child.stdio[3] as Readable) as Promise<readonly string[]> };
};

/** What opens sockets, files or threads: the engine, the lab, the server. */
const HEAVY =
  /^packages\/(?:lab|net)\/|^packages\/local\/src\/(?:app\.ts|mail-ports\.ts|server\/|storage\/sqlite|engine-threads\/)|^packages\/(?:core\/src\/(?:smtp-pool\/scheduler|verify\/verify|deliverability\/dns-lookups)|mail\/src\/lists\/data)/;

const whenLoaded = async (args: readonly string[]) => {
  const { child, modules } = spawnCounted(["packages/local/bin/mailproof.mjs", ...args]);
  const [code] = (await once(child, "exit")) as [number | null];
  return { code, modules: await modules };
};

// A port that nothing listens on.
const SERVICE = ["--api", "http://127.0.0.1:9", "--key", "mp_live_none"];

test.each([
  ["help", 40, 0],
  ["--version", 40, 0],
  ["version", 45, 0],
  ["nonsense", 40, 2],
  ["verify --help", 130, 0],
  ["check --nonsense", 140, 2],
  ["help admin egress", 50, 0],
  ["admin keys create --mode other", 81, 2],
  [`jobs ${SERVICE.join(" ")}`, 130, 6],
  [`verify ada@example.com ${SERVICE.join(" ")}`, 130, 6],
])(
  "mailproof %s loads at most %i of our modules and no module that verifies or serves",
  async (line, most, code) => {
    const loaded = await whenLoaded(line.split(" "));

    expect(loaded.code).toBe(code);
    expect(loaded.modules.length).toBeGreaterThan(10);
    expect(loaded.modules.filter((file) => HEAVY.test(file))).toEqual([]);
    expect(loaded.modules.length).toBeLessThanOrEqual(most);
  },
);

test("mailproof verify without a service loads the modules that verify", async () => {
  const { modules } = await whenLoaded(["verify", "nobody"]);

  expect(modules.filter((file) => HEAVY.test(file)).length).toBeGreaterThan(50);
});

/** The parts of the server that a setting turns on. */
const OPTIONAL =
  /^packages\/local\/src\/(?:mail-receiver\/|metrics\/(?:counters|metrics-server)\.ts)/;

test("the server loads no module of the metrics or the mail receiver when no setting turns them on", async () => {
  const folder = createFolder();
  const settings = { MAILPROOF_DIR: folder, PORT: "0", REACH_DOMAINS: "" };
  const { child, modules } = spawnCounted(["packages/local/src/server/main.ts"], settings);
  endWithTest(child);
  await eventually(() => expect(existsSync(join(folder, "ready.json"))).toBe(true));
  child.kill("SIGTERM");

  const loaded = await modules;
  expect(loaded.length).toBeGreaterThan(500);
  expect(loaded.filter((file) => OPTIONAL.test(file))).toEqual([]);
});

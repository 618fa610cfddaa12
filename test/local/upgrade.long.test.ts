import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { openAccount } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { lockFolder } from "@mailproof/local/storage/folder-lock";
import { LAYOUTS } from "@mailproof/local/storage/schema";
import { COPIES, removeOldCopies } from "@mailproof/local/storage/upgrade-copies";
import { type UpgradePorts, upgradeFolder } from "@mailproof/local/storage/upgrade-folder";
import { expect, test } from "vitest";
import { createFolder, spawnNode, whenEnded, whenStarted } from "../servers/running.ts";
import { createNextLayouts } from "./next-layouts.ts";

// The state of an older release in the hands of a newer one. Today's state is the older one here, and the newer release is
// made by the test: no release has a step yet.

const NEXT = createNextLayouts();
const NOW = new Date("2026-11-23T12:00:00.000Z");

const open = (folder: string) =>
  createApp(readEnvironment({ MAILPROOF_DIR: folder }), () => "", null);

/** A folder that today's code wrote: an account with credits, and messages that wait. */
const givenState = async () => {
  const folder = createFolder();
  const { world, close } = open(folder);
  await openAccount(world, { name: "Kept", plan: "pro", opening: credits(100) });
  await world.queue.sendMany("chunks", [{ body: "a" }, { body: "b" }, { body: "c" }]);
  close();
  return folder;
};

const read = (file: string, sql: string): unknown[] => {
  const db = new DatabaseSync(file, { readOnly: true });
  const rows = db.prepare(sql).all();
  db.close();
  return rows.map((row) => Object.values(row)[0]);
};

const readVersions = (folder: string) =>
  Object.keys(LAYOUTS).map((name) => read(join(folder, name), "PRAGMA user_version")[0]);

/** How often each row of both files was migrated. */
const readMigrations = (folder: string) => [
  ...new Set(
    read(join(folder, "state.sqlite"), "SELECT COALESCE(item ->> '$.migrated', 0) FROM items"),
  ),
  ...new Set(read(join(folder, "queue.sqlite"), "SELECT receives / 1000 FROM messages")),
];

const listCopies = (folder: string) =>
  existsSync(join(folder, COPIES)) ? readdirSync(join(folder, COPIES)).toSorted() : [];

const copyAt = (folder: string) => join(folder, COPIES, listCopies(folder)[0] ?? "none");

const upgrade = (folder: string, ports: Partial<UpgradePorts> = {}) =>
  upgradeFolder(folder, { layouts: NEXT, now: () => NOW, ...ports });

const [TODAY, AFTER] = [LAYOUTS, NEXT].map((layouts) =>
  Object.values(layouts).map(({ version }) => version),
) as [number[], number[]];

test("a server start leaves state of today's version unchanged", async () => {
  const folder = await givenState();

  const upgraded = await upgradeFolder(folder);

  expect(upgraded).toBeNull();
  expect(readVersions(folder)).toEqual(TODAY);
  expect(listCopies(folder)).toEqual([]);
});

test("a server start copies older state, migrates every row once and leaves the copy unchanged", async () => {
  const folder = await givenState();

  const upgraded = await upgrade(folder);

  expect(upgraded?.copy).toBe(copyAt(folder));
  expect(readVersions(folder)).toEqual(AFTER);
  expect(readMigrations(folder)).toEqual([1, 1]);
  expect(readVersions(copyAt(folder))).toEqual(TODAY);
  expect(readMigrations(copyAt(folder))).toEqual([0, 0]);
  const visible = readdirSync(copyAt(folder)).filter(
    (name) => statSync(join(copyAt(folder), name)).mode & 0o077,
  );
  expect(visible).toEqual([]);
  expect(await upgrade(folder)).toBeNull();
  expect(readMigrations(folder)).toEqual([1, 1]);
});

test.each(["state.sqlite", "queue.sqlite"])(
  "a server start after kill -9 inside a step of %s continues with one copy from before the first step",
  async (file) => {
    const folder = await givenState();
    const child = spawnNode("test/local/upgrade-process.ts", [folder, file], {});
    while (!existsSync(join(folder, "in-the-middle"))) {
      if (child.exitCode !== null) throw new Error("it ended by itself");
      await setTimeout(10);
    }
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    expect(readVersions(folder)).toEqual([file === "queue.sqlite" ? AFTER[0] : TODAY[0], TODAY[1]]);

    await upgrade(folder);

    expect(readVersions(folder)).toEqual(AFTER);
    expect(readMigrations(folder)).toEqual([1, 1]);
    expect(listCopies(folder)).toHaveLength(1);
    expect(readVersions(copyAt(folder))).toEqual(TODAY);
    expect(readMigrations(copyAt(folder))).toEqual([0, 0]);
    expect(JSON.parse(readFileSync(join(folder, "folder.json"), "utf8"))).not.toHaveProperty(
      "upgrade",
    );
  },
);

test("a failed upgrade step leaves the previous version, and a later start continues", async () => {
  const folder = await givenState();
  const layouts = createNextLayouts({
    file: "state.sqlite",
    stop: () => {
      throw new Error("an unforeseen row");
    },
  });

  await expect(upgrade(folder, { layouts })).rejects.toThrow("an unforeseen row");

  expect(readVersions(folder)).toEqual(TODAY);
  expect(readMigrations(folder)).toEqual([0, 0]);
  await upgrade(folder);
  expect(readMigrations(folder)).toEqual([1, 1]);
  expect(listCopies(folder)).toHaveLength(1);
});

test("a server start without disk space for a copy changes nothing and prints the needed space", async () => {
  const folder = await givenState();

  const refused = upgrade(folder, { freeBytes: () => 1_000_000 });

  await expect(refused).rejects.toThrow(/needs \d+ MB of free disk space: 1 MB are free/);
  expect(readVersions(folder)).toEqual(TODAY);
  expect(listCopies(folder)).toEqual([]);
});

test("a server start refuses state of a newer release, and its message explains the way back", async () => {
  const folder = await givenState();
  await upgrade(folder);
  const before = readMigrations(folder);

  const refusal = await upgradeFolder(folder).then(
    () => "it was opened",
    (error: Error) => error.message,
  );

  expect(refusal).toContain("was written by a newer Mailproof (2 > 1). Start that release again");
  expect(refusal).toContain("from before 0.2.0");
  const [, deleted = "", copy = "", to = ""] =
    /delete (\S+), and copy the files of (\S+) to (\S+) /.exec(refusal) ?? [];
  expect(() => open(folder)).toThrow(copy);
  expect(readMigrations(folder)).toEqual(before);
  for (const file of globSync(deleted)) rmSync(file);
  for (const name of readdirSync(copy)) copyFileSync(join(copy, name), join(to, name));
  open(folder).close();
  expect(readMigrations(folder)).toEqual([0, 0]);
});

test("a server start refuses a folder with a missing part without a copy or a migration", async () => {
  const folder = await givenState();
  rmSync(join(folder, "secrets.json"));

  await expect(upgrade(folder)).rejects.toThrow("lacks secrets.json");

  expect(readVersions(folder)).toEqual(TODAY);
  expect(listCopies(folder)).toEqual([]);
});

test("a server start does not migrate damaged state", async () => {
  const folder = await givenState();
  const db = new DatabaseSync(join(folder, "state.sqlite"));
  db.exec("UPDATE items SET item = '{' WHERE rowid = 1");
  db.close();

  await expect(upgrade(folder)).rejects.toThrow("the state cannot be read");

  expect(readVersions(folder)).toEqual(TODAY);
  expect(listCopies(folder).filter((name) => !name.endsWith(".unfinished"))).toEqual([]);
});

test("the upgrade keeps the three newest copies for thirty days and every folder of the operator", () => {
  const folder = createFolder();
  const days = ["01", "05", "20", "21", "22"].map((day) => `2026-11-${day}T10-00-00-000Z`);
  for (const name of [...days, "2026-11-22T09-00-00-000Z.unfinished", "mine"])
    mkdirSync(join(folder, COPIES, name), { recursive: true });

  removeOldCopies(folder, NOW);
  expect(listCopies(folder)).toEqual([...days.slice(2), "mine"]);
  removeOldCopies(folder, new Date("2026-12-20T23:00:00.000Z"));
  expect(listCopies(folder)).toEqual([...days.slice(3), "mine"]);
  removeOldCopies(folder, new Date("2027-03-01T00:00:00.000Z"), days[4]);
  expect(listCopies(folder)).toEqual([days[4], "mine"]);
});

/** The settings of a program of the next release, which runs from the sources: one of them is replaced. */
const OF_NEXT_RELEASE = { NODE_OPTIONS: "--import=./test/local/next-release.ts" };
const SERVER = "packages/local/src/server/main.ts";
const COMMAND = "packages/local/bin/mailproof.mjs";

const whenAudited = (folder: string) =>
  whenEnded(spawnNode(COMMAND, ["admin", "audit"], { MAILPROOF_DIR: folder, ...OF_NEXT_RELEASE }));

test("a server upgrades older state at its start and logs the copy's place", async () => {
  const folder = await givenState();

  const { readLog, stop } = await whenStarted(folder, [], OF_NEXT_RELEASE, [SERVER]);
  await stop("SIGTERM");

  expect(readLog()).toContainEqual(
    expect.objectContaining({
      event: "state_upgraded",
      from: { "state.sqlite": 1, "queue.sqlite": 1 },
      to: { "state.sqlite": 2, "queue.sqlite": 2 },
      copy: copyAt(folder),
    }),
  );
  expect(readVersions(copyAt(folder))).toEqual(TODAY);
  expect(readVersions(folder)).toEqual(AFTER);
});

test("a command upgrades the state, and is refused beside a server", async () => {
  const folder = await givenState();
  const lock = lockFolder(folder);

  const beside = await whenAudited(folder);
  expect(beside.code).not.toBe(0);
  expect(beside.err).toContain("Another Mailproof uses");
  expect(listCopies(folder)).toEqual([]);

  lock.release();
  const alone = await whenAudited(folder);
  expect(JSON.parse(alone.out)).toMatchObject({ ok: true });
  expect(basename(copyAt(folder))).toMatch(/^2/);
});

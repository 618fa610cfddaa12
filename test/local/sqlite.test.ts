import { copyFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { checkpointInThread, createCheckpoints } from "@mailproof/local/storage/checkpoints";
import { createGroupCommit, openSqlite } from "@mailproof/local/storage/sqlite";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { expect, onTestFinished, test, vi } from "vitest";
import { eventually } from "../runner/eventually.ts";
import { createFolder } from "../servers/running.ts";

const now = () => new Date();
const item = (n: number) => ({ put: { pk: "P", sk: String(n) } });

test("the server continues while another process holds the lock, and writes when the lock is free", async () => {
  const file = join(createFolder(), "state.sqlite");
  const table = createSqliteTable(file, now);
  const other = new DatabaseSync(file);
  other.exec("BEGIN IMMEDIATE");

  const written = Promise.all(Array.from({ length: 100 }, (_row, n) => table.write(item(n))));
  for (let turn = 0; turn < 10; turn++) await setTimeout(1);
  expect(await table.get({ pk: "P", sk: "0" })).toBeUndefined();
  other.exec("COMMIT");

  expect((await written).every(({ outcome }) => outcome === "committed")).toBe(true);
  other.close();
  table.close();
});

test("closing the table completes waiting transactions and refuses later ones", async () => {
  const file = join(createFolder(), "state.sqlite");
  const table = createSqliteTable(file, now);
  const waiting = Array.from({ length: 1_200 }, (_row, n) => table.write(item(n)));
  await Promise.resolve();
  table.close();

  const outcomes = await Promise.allSettled(waiting);
  expect(outcomes.filter(({ status }) => status === "rejected")).toEqual([]);
  await expect(table.write(item(0))).rejects.toThrow("the database is closed");

  const again = createSqliteTable(file, now);
  expect((await again.query({ pk: "P", limit: 2_000 })).items).toHaveLength(1_200);
  again.close();
});

test("transactions of one flush see each other's writes, and a failing one fails alone", async () => {
  const file = join(createFolder(), "state.sqlite");
  const table = createSqliteTable(file, now);
  const add = { update: { pk: "P", sk: "sum" }, add: { n: 1 }, orCreate: true } as const;
  const create = { create: { pk: "P", sk: "once" } };
  const tooLarge = { put: { pk: "P", sk: "large", text: "x".repeat(300_000) } };
  const outcomes = await Promise.allSettled([
    ...Array.from({ length: 40 }, () => table.write(add)),
    table.write(create),
    table.transact([create, add]),
    table.transact([tooLarge, add]),
    table.write({ remove: { pk: "P", sk: "once" } }),
    table.transact([{ checkAbsent: { pk: "P", sk: "once" } }, add]),
  ]);

  const results = outcomes
    .slice(40)
    .map((one) => ("value" in one ? one.value.outcome : one.status));
  expect(results).toEqual(["committed", "refused", "rejected", "committed", "committed"]);
  const { items } = await table.query({ pk: "P", limit: 10 });
  expect(items).toEqual([{ pk: "P", sk: "sum", n: 41 }]);
  table.close();
});

test("the next read and transaction see a write of another process", async () => {
  const file = join(createFolder(), "state.sqlite");
  const [ours, theirs] = [createSqliteTable(file, now), createSqliteTable(file, now)];
  const key = { pk: "P", sk: "sum" };
  const add = { update: key, add: { n: 1 }, orCreate: true } as const;
  for (let n = 0; n < 20; n++) {
    await ours.write(add);
    expect(await theirs.get(key)).toMatchObject({ n: 3 * n + 1 });
    await theirs.write(add);
    // In the same turn as a read that was right before.
    const read = ours.get(key);
    await theirs.write(add);
    const checked = await ours.transact([{ check: key, where: { n: 3 * n + 3 } }]);
    expect(checked.outcome).toBe("committed");
    expect(await read).toMatchObject({ n: 3 * n + 2 });
  }

  expect(await ours.get(key)).toMatchObject({ n: 60 });
  ours.close();
  theirs.close();
});

test("many simultaneous commits leave turns of the event loop to other work", async () => {
  const { commit, close } = createGroupCommit(new DatabaseSync(":memory:"));
  const keepBusy = () => {
    for (const untilMs = performance.now() + 2; performance.now() < untilMs; );
  };
  let turns = 0;
  const count = (): NodeJS.Immediate =>
    setImmediate(() => {
      turns++;
      count();
    }).unref();
  count();
  await Promise.all(Array.from({ length: 100 }, () => commit(keepBusy)));
  close();
  // 100 times 2 ms, in groups of some 10 ms.
  expect(turns).toBeGreaterThan(10);
});

test("the table refuses a file of a newer release", () => {
  const file = join(createFolder(), "state.sqlite");
  const db = new DatabaseSync(file);
  db.exec("PRAGMA user_version = 99");
  db.close();

  expect(() => createSqliteTable(file, now)).toThrow("written by a newer Mailproof");
});

const createNotes = (file: string): DatabaseSync =>
  openSqlite(file, { version: 1, schema: "CREATE TABLE notes (text TEXT)", steps: [] });

/** A disk whose flushes end when the test says so. */
const createSlowDisk = () => {
  const flushes: (() => void)[] = [];
  const calls: string[] = [];
  return {
    disk: {
      count: () => () => {},
      flush: (then: () => void) => void flushes.push(then),
      afterGroup: (resume: () => void) => resume(),
      now: () => void calls.push("now"),
      close: () => void calls.push("close"),
    },
    flushes,
    calls,
  };
};

test("no caller receives a result before its flush, and the event loop serves reads meanwhile", async () => {
  const db = createNotes(join(createFolder(), "notes.sqlite"));
  const insert = db.prepare("INSERT INTO notes VALUES (?)");
  const { disk, flushes } = createSlowDisk();
  const { commit } = createGroupCommit(db, { disk });
  const results: string[] = [];
  const write = (text: string) =>
    commit(() => insert.run(text)).then(() => void results.push(text));

  const first = [write("a"), write("b")];
  await eventually(() => expect(flushes).toHaveLength(1));
  const later = write("c");
  await setTimeout(1);
  expect(results).toEqual([]);
  expect(flushes).toHaveLength(1);
  expect(db.prepare("SELECT text FROM notes").all()).toHaveLength(2);

  flushes[0]?.();
  await Promise.all(first);
  await setTimeout(1);
  expect(results).toEqual(["a", "b"]);

  flushes[1]?.();
  await later;
  expect(results).toEqual(["a", "b", "c"]);
  db.close();
});

test("a write that may be lost returns before its flush, and the next write waits for that flush", async () => {
  const db = createNotes(join(createFolder(), "notes.sqlite"));
  const insert = db.prepare("INSERT INTO notes VALUES (?)");
  const { disk, flushes } = createSlowDisk();
  const { commit } = createGroupCommit(db, { disk });
  const results: string[] = [];
  const write = (text: string, mayBeLost?: "may be lost") =>
    commit(() => insert.run(text), mayBeLost).then(() => void results.push(text));

  await write("a", "may be lost");
  expect(flushes).toEqual([]);
  const together = [write("b"), write("c", "may be lost")];
  await together[1];
  expect(results).toEqual(["a", "c"]);
  flushes[0]?.();
  await together[0];

  expect(flushes).toHaveLength(1);
  db.close();
});

test("a transaction that cannot begin fails, and the next one begins anew", async () => {
  const db = createNotes(join(createFolder(), "notes.sqlite"));
  const insert = db.prepare("INSERT INTO notes VALUES (?)");
  let begins = 0;
  const begin = () => {
    if (++begins === 1) throw new Error("the file cannot be read");
  };
  const held = { begin, isFull: () => false, write: () => undefined, forget: () => undefined };
  const { commit, close } = createGroupCommit(db, { held });

  await expect(commit(() => insert.run("a"))).rejects.toThrow("the file cannot be read");
  await commit(() => insert.run("b"));

  expect(db.prepare("SELECT text FROM notes").all()).toEqual([{ text: "b" }]);
  close();
});

test("closing flushes pending transactions before their callers get a result", async () => {
  const db = createNotes(join(createFolder(), "notes.sqlite"));
  const insert = db.prepare("INSERT INTO notes VALUES (?)");
  const { disk, calls } = createSlowDisk();
  const { commit, close } = createGroupCommit(db, { disk });
  const written = [commit(() => insert.run("a"))];
  await setTimeout(1);
  written.push(commit(() => insert.run("b")));
  close();
  expect(calls).toEqual(["now", "close"]);
  expect(await Promise.all(written)).toHaveLength(2);
});

test("SQLite itself flushes no commit of a group, and the layout is flushed before the first", () => {
  const db = createNotes(join(createFolder(), "notes.sqlite"));
  const synchronous = () => db.prepare("PRAGMA synchronous").get()?.["synchronous"];
  expect(synchronous()).toBe(2);
  const { close } = createGroupCommit(db);
  expect(synchronous()).toBe(1);
  close();
});

const SECOND_MS = 1_000;
const LONG = 4_000;

/** Checkpoints that end when the test says so, at a time that the test sets. */
const setup = () => {
  const clock = { ms: 0 };
  const started: ((pages: number) => void)[] = [];
  const afterGroup = createCheckpoints(
    "state.sqlite",
    () => new Promise((resolve) => void started.push(resolve)),
    () => clock.ms,
  );
  const runGroup = () => {
    const resume = vi.fn<() => void>();
    afterGroup(resume);
    return resume;
  };
  const end = async (at: number, pages: number) => {
    started[at]?.(pages);
    await Promise.resolve();
  };
  return { clock, started, runGroup, end };
};

test("the checkpointer runs at most once a second, and the writers continue meanwhile", async () => {
  const { clock, started, runGroup, end } = setup();
  expect(runGroup()).toHaveBeenCalledOnce();
  expect(started).toHaveLength(0);

  clock.ms = SECOND_MS;
  expect(runGroup()).toHaveBeenCalledOnce();
  clock.ms = 5 * SECOND_MS;
  expect(runGroup()).toHaveBeenCalledOnce();
  expect(started).toHaveLength(1);

  await end(0, LONG - 1);
  expect(runGroup()).toHaveBeenCalledOnce();
  expect(started).toHaveLength(1);
  clock.ms = 6 * SECOND_MS;
  runGroup();
  expect(started).toHaveLength(2);
});

test("the writers wait for a second checkpoint when the log is long", async () => {
  const { clock, started, runGroup, end } = setup();
  clock.ms = SECOND_MS;
  runGroup();
  await end(0, LONG);

  const resume = runGroup();
  expect(resume).not.toHaveBeenCalled();
  expect(started).toHaveLength(2);

  await end(1, LONG + 3);
  expect(resume).toHaveBeenCalledExactlyOnceWith();
  expect(runGroup()).toHaveBeenCalledOnce();
});

const openNotes = () => {
  const file = join(createFolder(), "notes.sqlite");
  const db = openSqlite(file, { version: 1, schema: "CREATE TABLE notes (text TEXT)", steps: [] });
  return { file, db };
};

const countIn = (db: DatabaseSync) => db.prepare("SELECT count(*) AS n FROM notes").get()?.["n"];

/** What the file holds without its log. */
const countInFile = (file: string) => {
  const copy = join(createFolder(), "copy.sqlite");
  copyFileSync(file, copy);
  const db = new DatabaseSync(copy);
  try {
    return countIn(db);
  } finally {
    db.close();
  }
};

test("the checkpoint thread copies the log into the database, and then the log restarts", async () => {
  const { file, db } = openNotes();
  onTestFinished(() => db.close());
  db.exec("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA wal_autocheckpoint = 0");
  const insert = db.prepare("INSERT INTO notes VALUES (?)");
  for (let n = 0; n < 100; n++) insert.run("x".repeat(4_000));
  const { size } = statSync(`${file}-wal`);
  expect(countInFile(file)).toBe(0);

  expect(await checkpointInThread(file)).toBeGreaterThan(100);
  expect(countInFile(file)).toBe(100);

  insert.run("x".repeat(4_000));
  expect(statSync(`${file}-wal`).size).toBe(size);
});

test("SQLite runs no automatic checkpoint in the server's thread", () => {
  const { db } = openNotes();
  const { close } = createGroupCommit(db);
  onTestFinished(close);

  expect(db.prepare("PRAGMA wal_autocheckpoint").get()).toEqual({ wal_autocheckpoint: 0 });
});

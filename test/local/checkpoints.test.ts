import { copyFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { checkpointInThread, createCheckpoints } from "@mailproof/local/storage/checkpoints";
import { createGroupCommit, openSqlite } from "@mailproof/local/storage/sqlite";
import { expect, onTestFinished, test, vi } from "vitest";
import { createFolder } from "../servers/running.ts";

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

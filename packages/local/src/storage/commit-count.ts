import { closeSync, existsSync, openSync, readFileSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { makePrivate } from "./make-private.ts";
import { REMEDY } from "./state-folder.ts";

// SQLite reads its log up to the last sound frame, and takes what follows for a transaction that was never committed. So the database
// counts its groups of transactions, and a file beside it has the count of the last group that was flushed. That file is
// written after the flush and not flushed itself: after a kill it is equal or behind, and after a power loss too. A database that counts
// less has lost acknowledged writes.

const LAYOUT =
  "CREATE TABLE IF NOT EXISTS commits (n INTEGER NOT NULL); INSERT INTO commits SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM commits)";

export const toCountFile = (file: string): string => `${file}-commits`;

/** Writes the count twice and at a fixed length, so that neither half of a write nor zeros after a power loss look like a count. */
const toText = (count: number): string => `${String(count).padStart(16, "0")}\n`.repeat(2);

/** The least number of groups that the database must contain. */
export const readFlushedCount = (file: string): number => {
  const text = existsSync(toCountFile(file)) ? readFileSync(toCountFile(file), "latin1") : "";
  const count = Number.parseInt(text, 10);
  return text === toText(count) ? count : 0;
};

/** `flushed` must be read before the database, because another process may count meanwhile. */
export const assertNothingLost = (db: DatabaseSync, file: string, flushed: number): void => {
  db.exec(LAYOUT);
  if (readNumber(db.prepare("SELECT n FROM commits")) >= flushed) return;
  const path = resolve(file);
  const what = `${path} lacks what was written to it last; was ${path}-wal deleted or damaged, or an older copy put in its place?`;
  throw new Error(`${what} ${REMEDY}`);
};

const readNumber = (statement: StatementSync): number => Number(statement.get()?.["n"]);

export const createCommitCount = (db: DatabaseSync, file: string) => {
  makePrivate(toCountFile(file));
  const handle = openSync(toCountFile(file), "r+");
  const add = db.prepare("UPDATE commits SET n = n + 1 RETURNING n");
  const changes = db.prepare("SELECT total_changes() AS n");
  let [changed, committed, written] = [readNumber(changes), 0, 0];
  return {
    /** Call at the end of a transaction, and the returned function after its commit. A transaction without changes is not counted. */
    count: (): (() => void) => {
      if (readNumber(changes) === changed) return () => {};
      const next = readNumber(add);
      return () => {
        changed = readNumber(changes);
        committed = next;
      };
    },
    /** Call when all committed transactions are on the disk. */
    flushed: (): void => {
      if (committed === written) return;
      writeSync(handle, toText(committed), 0);
      written = committed;
    },
    close: (): void => closeSync(handle),
  };
};

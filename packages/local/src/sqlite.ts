import { DatabaseSync } from "node:sqlite";

/**
 * A database file of ours. WAL lets the command line read while the server writes.
 * synchronous = FULL: what was answered for is on the disk, also after a power cut.
 * `version` is that of the schema: a newer file is refused, never half understood.
 */
export const openSqlite = (file: string, version: number, schema: string): DatabaseSync => {
  const db = new DatabaseSync(file);
  db.exec("PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  db.exec("PRAGMA cache_size = -65536");
  const found = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
  if (found > version)
    throw new Error(`${file} was written by a newer Mailproof (${found} > ${version}).`);
  db.exec(`BEGIN IMMEDIATE; ${schema}; PRAGMA user_version = ${version}; COMMIT`);
  return db;
};

type Waiting = {
  readonly work: () => unknown;
  readonly done: (result: unknown) => void;
  readonly failed: (error: unknown) => void;
};

export type Commit = <T>(work: () => T) => Promise<T>;

// One flush takes at most this many, so a burst cannot hold the event loop for long.
const GROUP_MAX = 500;

/**
 * Runs each piece of work as a transaction of its own, but lets all that wait at the same moment share one
 * flush to the disk: the flush is what costs. Nobody is answered before it happened. Work that throws must
 * be safe to run again, because then every piece of its group is undone and run alone.
 */
export const groupCommit = (db: DatabaseSync): { commit: Commit; flush: () => void } => {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const end = db.prepare("COMMIT");
  const undo = db.prepare("ROLLBACK");
  let waiting: Waiting[] = [];

  // IMMEDIATE takes the write lock before anything is read: no other process slips in between.
  const atomically = (works: readonly Waiting[]): unknown[] => {
    begin.run();
    try {
      const results = works.map(({ work }) => work());
      end.run();
      return results;
    } catch (error) {
      if (db.isTransaction) undo.run();
      throw error;
    }
  };

  const run = (works: readonly Waiting[]): void => {
    try {
      const results = atomically(works);
      works.forEach(({ done }, position) => done(results[position]));
    } catch (error) {
      if (works.length === 1) works[0]?.failed(error);
      else for (const one of works) run([one]);
    }
  };

  const flush = (): void => {
    const group = waiting.slice(0, GROUP_MAX);
    waiting = waiting.slice(GROUP_MAX);
    if (waiting.length > 0) setImmediate(flush);
    if (group.length > 0) run(group);
  };

  const commit = <T>(work: () => T): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const alone = waiting.length === 0;
      waiting.push({ work, done: (result) => resolve(result as T), failed: reject });
      if (alone) setImmediate(flush);
    });

  return { commit, flush };
};

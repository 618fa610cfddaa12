import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { START } from "../installation.ts";
import { type AfterGroup, checkpointInThread, createCheckpoints } from "./checkpoints.ts";
import { assertNothingLost, createCommitCount, readFlushedCount } from "./commit-count.ts";
import { getErrorCode, isBusy } from "./error-codes.ts";
import { makePrivate } from "./make-private.ts";
import { describeWayBack } from "./upgrade-copies.ts";

const IN_MEMORY = ":memory:";

/**
 * A database file. WAL lets the command line read while the server writes.
 * synchronous = FULL: the layout, and the folder that names the log, are on the disk before anything else is written.
 * Every error of SQLite contains the file's name. The wrapper calls `onDamage` with each error about an unreadable file.
 */
export const openSqlite = (
  file: string,
  layout: SqliteLayout,
  onDamage: OnDamage = () => {},
): DatabaseSync => {
  if (file !== IN_MEMORY) makePrivate(file);
  const nameError = createErrorNamer(file, onDamage);
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file);
    prepareFile(db, file, layout);
  } catch (error) {
    db?.close();
    throw nameError(error);
  }
  return withNamedErrors(db, nameError);
};

export type SqliteLayout = {
  /** A file of a newer version is refused, never half understood. */
  readonly version: number;
  /** The schema of version 1. */
  readonly schema: string;
  /** One step from each version to the next. It runs in a transaction with the version that it leads to. */
  readonly steps: readonly MigrationStep[];
};

export type MigrationStep = (db: DatabaseSync) => void;

const prepareFile = (db: DatabaseSync, file: string, layout: SqliteLayout): void => {
  db.exec("PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  // What is deleted is overwritten with zeros: an erased address is in no free page.
  db.exec("PRAGMA cache_size = -65536; PRAGMA secure_delete = ON");
  const { version, schema, steps } = layout;
  const flushed = readFlushedCount(file);
  db.exec("BEGIN IMMEDIATE");
  const before = readVersion(db);
  if (before > version) throw new Error(describeNewer(file, before, version));
  if (before > 0 && before < version)
    throw new Error(
      `${file} was written by an older Mailproof (${before} < ${version}): ${START} upgrades it.`,
    );
  if (before === 0) {
    db.exec(schema);
    for (const step of steps) step(db);
  }
  assertNothingLost(db, file, flushed);
  db.exec(`PRAGMA user_version = ${version}; COMMIT`);
  // From here on this process waits for locks outside SQLite, so the event loop continues.
  db.exec("PRAGMA busy_timeout = 0");
};

/** 0 for a new file. */
export const readVersion = (db: DatabaseSync): number =>
  Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);

export const describeNewer = (file: string, found: number, newest: number): string =>
  `${file} was written by a newer Mailproof (${found} > ${newest}). Start that release again, or go back to the state from before its upgrade: ${describeWayBack(dirname(file))} A tree from before 0.2.0 wrote such a number, too: nothing reads its state, so begin with an empty folder.`;

export type OnDamage = (error: Error) => void;

/** SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_NOTADB. */
const DAMAGE_CODES: readonly number[] = [10, 11, 26];

/** True when the error means that the file cannot be read. */
export const isDamage = (error: unknown): boolean =>
  DAMAGE_CODES.includes(getErrorCode(error) ?? 0);

export const getMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Returns the error to throw: an error of SQLite gets the file's name, and `onDamage` gets an error about an unreadable file. */
export const createErrorNamer =
  (file: string, onDamage: OnDamage = () => {}) =>
  (error: unknown): unknown => {
    if (getErrorCode(error) === undefined || !(error instanceof Error)) return error;
    if (!error.message.startsWith(file)) error.message = `${file}: ${error.message}`;
    if (isDamage(error)) onDamage(error);
    return error;
  };

type NameError = ReturnType<typeof createErrorNamer>;

const STATEMENT_METHODS = ["run", "get", "all"] as const;

const withNamedErrors = (db: DatabaseSync, nameError: NameError): DatabaseSync => {
  const named =
    <Parameters extends readonly unknown[], T>(act: (...values: Parameters) => T) =>
    (...values: Parameters): T => {
      try {
        return act(...values);
      } catch (error) {
        throw nameError(error);
      }
    };
  const prepare = named(db.prepare.bind(db));
  db.prepare = (sql) => {
    const statement = prepare(sql);
    for (const method of STATEMENT_METHODS) {
      const call = statement[method].bind(statement) as (...values: SQLInputValue[]) => unknown;
      Object.assign(statement, { [method]: named(call) });
    }
    return statement;
  };
  return db;
};

type PendingWork = {
  readonly work: () => unknown;
  readonly done: (result: unknown) => void;
  readonly failed: (error: unknown) => void;
  readonly since: number;
  readonly mayBeLost: boolean;
};

/** With `mayBeLost` the result does not wait for the disk. */
export type Commit = <T>(work: () => T, mayBeLost?: "may be lost") => Promise<T>;

// One flush contains at most this many transactions, and no further transaction after this time: a burst must not block the event loop.
const GROUP_MAX = 500;
const GROUP_MS = 10;

// Another process may hold the write lock for a moment. Waiting for it inside SQLite would block the whole
// server, also its reads, so the transaction is tried again after a pause instead.
const LOCK_RETRY_MS = 5;
const LOCK_WAIT_MS = 5_000;

/**
 * Flushes all commits to the disk, and then calls `then`. `now` does the same before it returns.
 * After a failed flush the state of the disk is unknown, and a later successful flush proves nothing: so the process ends.
 */
export type DiskFlush = {
  /** Call at the end of a transaction, and the returned function after its commit. */
  readonly count: () => () => void;
  readonly flush: (then: () => void) => void;
  readonly afterGroup: AfterGroup;
  readonly now: () => void;
  readonly close: () => void;
};

const NO_DISK: DiskFlush = {
  count: () => () => {},
  flush: (then) => then(),
  afterGroup: (resume) => resume(),
  now: () => {},
  close: () => {},
};

/**
 * SQLite would flush its log within COMMIT and block the event loop for as long as the disk takes. With synchronous =
 * NORMAL it leaves that to us, and still keeps the order between log and file at a checkpoint. Checkpoints are made in a
 * thread, for the same reason.
 */
const createDiskFlush = (db: DatabaseSync): DiskFlush => {
  const file = db.location();
  if (file === null) return NO_DISK;
  db.exec("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0");
  // SQLite deletes the log only after the last connection has closed, and holds no lock on the log that closing would release.
  const log = openSync(`${file}-wal`, "r+");
  const { count, ...counted } = createCommitCount(db, file);
  let isClosed = false;
  return {
    count,
    flush: (then) =>
      fdatasync(log, (error) => {
        if (isClosed) return;
        if (error) throw new Error(`${file}: its log could not be flushed`, { cause: error });
        counted.flushed();
        then();
      }),
    afterGroup: createCheckpoints(file, checkpointInThread),
    now: () => {
      fdatasyncSync(log);
      counted.flushed();
    },
    close: () => {
      isClosed = true;
      counted.close();
      closeSync(log);
    },
  };
};

/** Buffers the items that the transactions of a group read, and writes their changes before the group commits. */
export type Held = {
  readonly begin: () => void;
  readonly isFull: () => boolean;
  readonly write: () => void;
  readonly forget: () => void;
};

const NOTHING_HELD: Held = {
  begin: () => {},
  isFull: () => false,
  write: () => {},
  forget: () => {},
};

/**
 * Runs each piece of work as a transaction of its own, but all that wait at the same moment share one flush to the
 * disk, because the flush is expensive. No caller gets a result before it. Work that throws must be safe to run again:
 * every piece of its group is then rolled back and run alone.
 */
export const createGroupCommit = (
  db: DatabaseSync,
  { disk = createDiskFlush(db), held = NOTHING_HELD }: { disk?: DiskFlush; held?: Held } = {},
): { commit: Commit; close: () => void } => {
  const run = createGroupRunner(db, disk, held);
  let waiting: PendingWork[] = [];
  let unflushed: Told[] = [];
  let isUnderWay = false;
  let closed = false;

  const notify = (): void => {
    const results = unflushed;
    unflushed = [];
    for (const { tell } of results) tell();
  };

  const runGroup = (): void => {
    if (closed) return;
    const { count, locked, results } = run(waiting.slice(0, GROUP_MAX));
    waiting = waiting.slice(count);
    if (locked === undefined) {
      const goOn = (): void => {
        notify();
        disk.afterGroup(runNext);
      };
      unflushed = results.filter(({ mayBeLost }) => !mayBeLost);
      for (const { tell, mayBeLost } of results) if (mayBeLost) tell();
      if (unflushed.length > 0) disk.flush(goOn);
      else goOn();
      return;
    }
    const isTooLate = ({ since }: PendingWork) =>
      !isBusy(locked) || Date.now() - since > LOCK_WAIT_MS;
    for (const one of waiting.filter(isTooLate)) one.failed(locked);
    waiting = waiting.filter((one) => !isTooLate(one));
    runNext(() => setTimeout(runGroup, LOCK_RETRY_MS));
  };

  const runNext = (schedule: () => void = () => setImmediate(runGroup)): void => {
    isUnderWay = waiting.length > 0;
    if (isUnderWay) schedule();
  };

  const commit: Commit = <T>(work: () => T, mayBeLost?: "may be lost") =>
    new Promise<T>((resolve, reject) => {
      if (closed) return reject(new Error("the database is closed"));
      const done = (result: unknown) => resolve(result as T);
      const how = { since: Date.now(), mayBeLost: mayBeLost !== undefined };
      waiting.push({ work, done, failed: reject, ...how });
      if (!isUnderWay) runNext();
    });

  const close = (): void => {
    closed = true;
    while (waiting.length > 0) {
      const { count, locked, results } = run(waiting);
      waiting = waiting.slice(count);
      unflushed.push(...results);
      if (locked !== undefined) for (const { failed } of waiting.splice(0)) failed(locked);
    }
    disk.now();
    notify();
    disk.close();
    db.close();
  };

  return { commit, close };
};

/** Tells one caller the result of its work, and whether it waits for the disk. */
type Told = { readonly tell: () => void; readonly mayBeLost: boolean };

/**
 * `count`: how many of the group ran, from its first on, with their results. `locked`: the error that kept all of it from
 * running.
 */
type GroupRun = {
  readonly count: number;
  readonly results: readonly Told[];
  readonly locked?: unknown;
};

/** Runs the pieces of a group together until its time is over, or each of them alone when one throws. */
const createGroupRunner = (db: DatabaseSync, { count }: Pick<DiskFlush, "count">, held: Held) => {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const end = db.prepare("COMMIT");
  const undo = db.prepare("ROLLBACK");

  const run = (works: readonly PendingWork[]): GroupRun => {
    try {
      // IMMEDIATE takes the write lock before anything is read: no other process slips in between.
      begin.run();
      held.begin();
    } catch (error) {
      if (db.isTransaction) undo.run();
      return { count: 0, results: [], locked: error };
    }
    const startMs = performance.now();
    const group: PendingWork[] = [];
    const results: Told[] = [];
    try {
      for (const one of works) {
        group.push(one);
        const result = one.work();
        results.push({ tell: () => one.done(result), mayBeLost: one.mayBeLost });
        if (performance.now() - startMs > GROUP_MS || held.isFull()) break;
      }
      held.write();
      const onCommitted = count();
      end.run();
      onCommitted();
      return { count: group.length, results };
    } catch (error) {
      held.forget();
      if (db.isTransaction) undo.run();
      const [only] = group;
      const tell = () => only?.failed(error);
      const failed = only && group.length === 1 && [{ tell, mayBeLost: false }];
      return { count: group.length, results: failed || group.flatMap(runAlone) };
    }
  };

  const runAlone = (one: PendingWork): readonly Told[] => {
    const { results, locked } = run([one]);
    return locked === undefined ? results : [{ tell: () => one.failed(locked), mayBeLost: false }];
  };

  return run;
};

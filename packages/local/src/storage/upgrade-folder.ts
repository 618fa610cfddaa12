import { existsSync, statSync } from "node:fs";
import { copyFile, mkdir, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AppWorld } from "@mailproof/core/app-world";
import { flushToDisk } from "./atomic-file.ts";
import { assertReadable, copyDatabases } from "./backup.ts";
import { ignoreMissing } from "./file-blobs.ts";
import { lockFolder } from "./folder-lock.ts";
import { readFreeBytes } from "./free-bytes.ts";
import { type FolderLayouts, LAYOUTS } from "./schema.ts";
import { createErrorNamer, describeNewer, readVersion, type SqliteLayout } from "./sqlite.ts";
import { changeMarker, MARKER, prepareFolder, readMarker } from "./state-folder.ts";
import { COPIES, removeOldCopies, toCopyName, toDraftName } from "./upgrade-copies.ts";

// The state of an earlier release becomes that of this one: a copy first, then step by step, each step in a transaction with
// the version that it leads to. A process that is killed on the way leaves each file at one version, and the next start
// continues there, with the copy from before the first step.

/** Beside the copy, each step writes up to the whole file again, to its write-ahead log. */
const SPACE_FACTOR = 2;
const SPACE_RESERVE_BYTES = 64 * 1024 * 1024;

export type Upgrade = {
  readonly from: Readonly<Record<string, number>>;
  readonly to: Readonly<Record<string, number>>;
  /** The folder with the former state. */
  readonly copy: string;
};

export type UpgradePorts = {
  readonly layouts: FolderLayouts;
  readonly now: () => Date;
  readonly freeBytes: typeof readFreeBytes;
  readonly log: AppWorld["log"];
};

const PORTS: UpgradePorts = {
  layouts: LAYOUTS,
  now: () => new Date(),
  freeBytes: readFreeBytes,
  log: () => {},
};

/** The caller holds the folder's lock: no process of an earlier release may work with it. Null when no file was older. */
export const upgradeFolder = async (
  directory: string,
  ports: Partial<UpgradePorts> = {},
): Promise<Upgrade | null> => {
  const { layouts, now, freeBytes, log } = { ...PORTS, ...ports };
  const { from, older } = findOlder(directory, layouts);
  if (older.length === 0) return null;
  const begun = readMarker(directory)?.upgrade;
  const name = begun ?? toCopyName(now());
  if (begun === undefined) {
    await assertSpace(directory, Object.keys(layouts), freeBytes);
    await copyState(directory, name);
    changeMarker(directory, { upgrade: name });
  }
  const to = Object.fromEntries(older.map(([file, { version }]) => [file, version]));
  const upgrade = { from, to, copy: resolve(directory, COPIES, name) };
  log("state_upgrade_began", upgrade);
  for (const [file, layout] of older) upgradeFile(join(directory, file), layout);
  changeMarker(directory, { upgrade: undefined });
  removeOldCopies(directory, now());
  log("state_upgraded", upgrade);
  return upgrade;
};

/** For a command, which does not hold the lock: the command acquires the lock when a file is older. */
export const upgradeIfOlder = async (directory: string, log: AppWorld["log"]): Promise<void> => {
  if (findOlder(directory, LAYOUTS).older.length === 0) return;
  const lock = lockFolder(directory);
  try {
    await upgradeFolder(directory, { log });
  } finally {
    lock.release();
  }
};

const findOlder = (directory: string, layouts: FolderLayouts) => {
  // This check comes first: it refuses a folder without a part, and opening a database would remove the traces of the lost part.
  prepareFolder(directory);
  const from = readVersions(directory, layouts);
  const older = Object.entries(layouts).filter(
    ([name, { version }]) => (from[name] ?? version) < version,
  );
  return { from, older };
};

/** Reads the versions of the existing files. Refuses a file of a newer release before it changes anything. */
const readVersions = (directory: string, layouts: FolderLayouts): Upgrade["from"] => {
  const versions = Object.entries(layouts).flatMap(([name, { version: newest }]) => {
    const file = join(directory, name);
    if (!existsSync(file) || statSync(file).size === 0) return [];
    const version = withDatabase(file, readVersion);
    if (version > newest) throw new Error(describeNewer(file, version, newest));
    return version === 0 ? [] : [[name, version] as const];
  });
  return Object.fromEntries(versions);
};

const sizeOf = (file: string): number => (existsSync(file) ? statSync(file).size : 0);

const assertSpace = async (
  directory: string,
  names: readonly string[],
  freeBytes: UpgradePorts["freeBytes"],
): Promise<void> => {
  const files = names.flatMap((name) => [name, `${name}-wal`]).map((name) => join(directory, name));
  const needed = files.reduce(
    (sum, file) => sum + SPACE_FACTOR * sizeOf(file),
    SPACE_RESERVE_BYTES,
  );
  const free = freeBytes(directory);
  if (free === null || free >= needed) return;
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 1_000_000)} MB`;
  throw new Error(
    `The state in ${resolve(directory)} has to be upgraded, which needs ${megabytes(needed)} of free disk space: ${megabytes(free)} are free. Nothing was changed. Free the space and start again.`,
  );
};

/** A copy gets its final name when it is complete. */
const copyState = async (directory: string, name: string): Promise<void> => {
  const folder = join(directory, COPIES, name);
  const draft = join(directory, COPIES, toDraftName(name));
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  await ignoreMissing(copyFile(join(directory, MARKER), join(draft, MARKER)));
  await copyDatabases(directory, draft);
  await assertReadable(draft);
  for (const file of [MARKER, ...Object.keys(LAYOUTS)])
    await ignoreMissing(flushToDisk(join(draft, file)));
  await flushToDisk(draft);
  await rename(draft, folder);
  await flushToDisk(dirname(folder));
};

const withDatabase = <T>(file: string, use: (db: DatabaseSync) => T): T => {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file);
    db.exec("PRAGMA busy_timeout = 5000");
    return use(db);
  } catch (error) {
    throw createErrorNamer(file)(error);
  } finally {
    db?.close();
  }
};

/** Each step and its version are committed together, or neither is. */
const upgradeFile = (file: string, { version, steps }: SqliteLayout): void =>
  withDatabase(file, (db) => {
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON");
    for (let at = readVersion(db); at < version; at++) {
      const step = steps[at - 1];
      if (!step) throw new Error(`There is no step from version ${at} of ${file}.`);
      db.exec("BEGIN IMMEDIATE");
      step(db);
      db.exec(`PRAGMA user_version = ${at + 1}; COMMIT`);
    }
  });

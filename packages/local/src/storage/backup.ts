import { cp, mkdir, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { flushToDisk } from "./atomic-file.ts";
import { ignoreMissing } from "./file-blobs.ts";
import { makePrivate } from "./make-private.ts";
import { isDamage } from "./sqlite.ts";
import { findDamage, STATE_PARTS } from "./state-check.ts";
import { MARKER } from "./state-folder.ts";

/** Complete files, copied unchanged. Stored keys and encrypted secrets need `secrets.json`. */
const SMALL_FILES = ["secrets.json", "demo.json", "lists.txt", "lists"];
const DATABASES = ["state.sqlite", "queue.sqlite"];
const LOCK_WAIT_MS = 10_000;

export type BackupResult = { readonly at: Date; readonly files: number };

/** Copies the whole state at one moment, beside a running server, into a folder from which a server can start. */
export const createBackup = async (from: string, to: string): Promise<BackupResult> => {
  // The folder gets its final name when it is complete, so an interrupted backup never looks like a backup.
  const draft = `${to}.unfinished`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  // Copies the marker before the table, so that the marker is not newer than the table.
  await ignoreMissing(cp(join(from, MARKER), join(draft, MARKER)));
  const at = await copyDatabases(from, draft).catch(async (error: unknown) => {
    // The check names the damaged file.
    if (isDamage(error)) await assertReadable(from);
    throw error;
  });
  await assertReadable(draft);
  await mkdir(join(draft, "blobs"), { mode: 0o700 });
  const files = await copyBlobs(join(from, "blobs"), join(draft, "blobs"));
  for (const name of SMALL_FILES)
    await ignoreMissing(cp(join(from, name), join(draft, name), { recursive: true }));
  for (const name of await readdir(draft)) await flushToDisk(join(draft, name));
  await flushToDisk(draft);
  await rename(draft, to);
  await flushToDisk(dirname(to));
  return { at, files };
};

/**
 * Copies both databases as of one moment: while the copies begin, no process writes to either. Then each
 * is read as it was, however long that takes, and the server writes on.
 */
export const copyDatabases = async (from: string, to: string): Promise<Date> => {
  const opened = DATABASES.map((name) => ({ name, reader: openDatabase(from, name) }));
  const writers = DATABASES.map((name) => openDatabase(from, name));
  for (const writer of writers) writer.exec("BEGIN IMMEDIATE");
  const at = new Date();
  for (const { reader } of opened) reader.exec("BEGIN; SELECT count(*) FROM sqlite_schema");
  for (const writer of writers) writer.close();
  for (const { name, reader } of opened) {
    const copy = join(to, name);
    makePrivate(copy);
    await backup(reader, copy);
    reader.close();
  }
  return at;
};

/** Throws if the copy could not be restored. */
export const assertReadable = async (folder: string): Promise<void> => {
  for (const part of STATE_PARTS) {
    const damage = await findDamage(folder, part);
    if (damage !== null)
      throw new Error(
        `No backup was made, keep the one before: the state cannot be read. ${damage}`,
      );
  }
};

const openDatabase = (directory: string, name: string): DatabaseSync => {
  const db = new DatabaseSync(join(directory, name));
  db.exec(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`);
  return db;
};

/**
 * After the table: a file is stored before the table names it, so whatever the copied table names is there. More may
 * exist, unreferenced and deleted by age, so that is copied too.
 */
const copyBlobs = async (from: string, to: string): Promise<number> => {
  const entries = await ignoreMissing(readdir(from, { recursive: true, withFileTypes: true }));
  let copied = 0;
  for (const entry of entries ?? []) {
    const relativePath = join(entry.parentPath, entry.name).slice(from.length + 1);
    if (!entry.isFile() || relativePath.startsWith("unfinished")) continue;
    const target = join(to, relativePath);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    // The sweeper may have deleted the file meanwhile: its retention had ended.
    const copying = cp(join(from, relativePath), target, { preserveTimestamps: true });
    if ((await ignoreMissing(copying.then(() => true))) === undefined) continue;
    await flushToDisk(target);
    copied++;
  }
  return copied;
};

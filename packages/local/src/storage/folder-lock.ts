import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isBusy } from "./error-codes.ts";
import { makePrivate } from "./make-private.ts";

/**
 * One server per folder: a second one would remove uploads in progress, or reset the state that the first one uses. The
 * lock is SQLite's own on an empty database, so the system releases it when a server is killed. Commands may still run
 * beside a server.
 */
export const lockFolder = (directory: string): { readonly release: () => void } => {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, "lock.sqlite");
  makePrivate(file);
  const db = new DatabaseSync(file);
  try {
    // A command that tests whether a server runs reads this file for a moment (running-settings.ts).
    db.exec("PRAGMA busy_timeout = 200; BEGIN EXCLUSIVE");
  } catch (cause) {
    db.close();
    if (!isBusy(cause)) throw cause;
    const what = `Another Mailproof uses ${resolve(directory)}.`;
    throw new Error(`${what} Stop it, or set MAILPROOF_DIR to another folder.`, { cause });
  }
  return { release: () => db.close() };
};

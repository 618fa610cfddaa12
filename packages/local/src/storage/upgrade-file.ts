import { DatabaseSync } from "node:sqlite";
import { createErrorNamer, readVersion, type SqliteLayout } from "./sqlite.ts";

export const withDatabase = <T>(file: string, use: (db: DatabaseSync) => T): T => {
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
export const upgradeFile = (file: string, { version, steps }: SqliteLayout): void =>
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

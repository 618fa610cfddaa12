import { join } from "node:path";
import * as v from "valibot";
import { readJsonFile, writeFileAtomic } from "./atomic-file.ts";

// The time of the folder's last backup. A file beside the state stores the time, because the backup runs in another process than the server.

const Stored = v.object({ at: v.string() });

const toFile = (directory: string): string => join(directory, "last-backup.json");

export const recordBackup = (directory: string, at: Date): void =>
  writeFileAtomic(toFile(directory), { at: at.toISOString() });

/** Undefined before the first backup. */
export const readLastBackup = (directory: string): Date | undefined => {
  const stored = readJsonFile(toFile(directory), Stored);
  return stored && new Date(stored.at);
};

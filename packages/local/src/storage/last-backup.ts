import { join } from "node:path";
import * as v from "valibot";
import { readJsonFile, writeFileAtomic } from "./atomic-file.ts";

// When the folder was last backed up, beside the state: the command that does it is another process than the server.

const Stored = v.object({ at: v.string() });

const toFile = (directory: string): string => join(directory, "last-backup.json");

export const recordBackup = (directory: string, at: Date): void =>
  writeFileAtomic(toFile(directory), { at: at.toISOString() });

/** Undefined: never. */
export const readLastBackup = (directory: string): Date | undefined => {
  const stored = readJsonFile(toFile(directory), Stored);
  return stored && new Date(stored.at);
};

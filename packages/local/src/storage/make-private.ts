import { closeSync, existsSync, openSync } from "node:fs";

/**
 * Readable by this user only, in any folder: SQLite would use the system's default, and gives the files beside this one
 * its permissions.
 */
export const makePrivate = (file: string): void => {
  // An existing file is not touched: closing a file releases all locks that the process has on it.
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
};

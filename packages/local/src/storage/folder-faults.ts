import { resolve, sep } from "node:path";

// The system and SQLite report a folder that cannot hold the state by a code. The operator set MAILPROOF_DIR, so the message
// names the folder and the setting.

const NOT_WRITABLE = "this user cannot read and write it";
const READ_ONLY = "it is read-only";
const NO_FOLDER = "it is not a folder";
const FULL = "its disk is full";

const FAULTS: Readonly<Record<string, string>> = {
  EACCES: NOT_WRITABLE,
  EPERM: NOT_WRITABLE,
  EROFS: READ_ONLY,
  EEXIST: NO_FOLDER,
  ENOTDIR: NO_FOLDER,
  ENOSPC: FULL,
  EDQUOT: FULL,
  // SQLITE_READONLY, SQLITE_FULL, SQLITE_CANTOPEN.
  8: READ_ONLY,
  13: FULL,
  14: `${NOT_WRITABLE}, or ${READ_ONLY}`,
};

type FolderError = NodeJS.ErrnoException & { readonly errcode?: number };

/** The reason why `directory` cannot store the state; undefined for any other error. */
export const explainFolderFault = (directory: string, error: FolderError): string | undefined => {
  const folder = resolve(directory);
  const { code = "", errcode, path } = error;
  const isSqlite = errcode !== undefined;
  if (!isSqlite && !isAbout(folder, path)) return undefined;
  const fault = FAULTS[isSqlite ? errcode & 0xff : code];
  return fault === undefined
    ? undefined
    : `${folder} cannot hold the state: ${fault} (${error.message}). Correct that, or set MAILPROOF_DIR to another folder.`;
};

/** True for the folder, a file in it, or a folder above that prevents its creation. */
const isAbout = (folder: string, path: string | undefined): boolean =>
  path !== undefined &&
  (`${resolve(path)}${sep}`.startsWith(`${folder}${sep}`) ||
    `${folder}${sep}`.startsWith(`${resolve(path)}${sep}`));

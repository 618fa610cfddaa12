// Apart from sqlite.ts, so that a command that only tests whether a server runs does not load the storage.

const SQLITE_BUSY = 5;

/** The primary code of an error of SQLite. Undefined for any other error. */
export const getErrorCode = (error: unknown): number | undefined =>
  error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : undefined;

export const isBusy = (error: unknown): boolean => getErrorCode(error) === SQLITE_BUSY;

import { statfsSync } from "node:fs";

/** Takes microseconds, because the system knows the number. */
export const readFreeBytes = (directory: string): number => {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
};

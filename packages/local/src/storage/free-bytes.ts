import { statfsSync } from "node:fs";

/**
 * Takes microseconds, because the system knows the number. Null when it is unknown: some disks refuse the question, and one
 * without a limit, such as a tmpfs of size 0, reports 0 blocks.
 */
export const readFreeBytes = (directory: string): number | null => {
  try {
    const { blocks, bavail, bsize } = statfsSync(directory);
    return blocks === 0 ? null : bavail * bsize;
  } catch {
    return null;
  }
};

import { randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import * as v from "valibot";

// Reads and writes small files as a whole, also after a power cut.

/** Replaces the file. */
export const writeFileAtomic = (file: string, content: object): void =>
  replaceFile(file, content, renameSync);

/** Creates the file unless it exists. Of two concurrent calls one creates it, and both read the same content. */
export const createFileAtomic = (file: string, content: object): void =>
  replaceFile(file, content, (draft, target) => {
    try {
      linkNewFile(draft, target);
    } finally {
      rmSync(draft, { force: true });
    }
  });

/** Error codes of a file system without hard links, such as exFAT. */
const NO_LINKS: readonly unknown[] = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

/** Gives a finished draft its name, and never the name of another file. Returns whether the name was free. */
export const linkNewFile = (draft: string, file: string): boolean => {
  try {
    linkSync(draft, file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" || (NO_LINKS.includes(code) && existsSync(file))) return false;
    if (!NO_LINKS.includes(code)) throw error;
    renameSync(draft, file);
    return true;
  }
  rmSync(draft, { force: true });
  return true;
};

export const readJsonFile = <T>(
  file: string,
  schema: v.GenericSchema<unknown, T>,
): T | undefined => {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
  try {
    return v.parse(schema, JSON.parse(text));
  } catch (cause) {
    throw new Error(`${file} cannot be read: restore it, or remove it to begin anew.`, { cause });
  }
};

const replaceFile = (
  file: string,
  content: object,
  publish: (draft: string, file: string) => void,
) => {
  const draft = `${file}.${randomUUID()}`;
  const handle = openSync(draft, "wx", 0o600);
  writeSync(handle, `${JSON.stringify(content, null, 2)}\n`);
  fsyncSync(handle);
  closeSync(handle);
  publish(draft, file);
  const folder = openSync(dirname(file), "r");
  fsyncSync(folder);
  closeSync(folder);
};

/** Flushes a file or a folder to the disk, so that its content survives a power cut. */
export const flushToDisk = async (path: string): Promise<void> => {
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

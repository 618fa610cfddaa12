import { randomUUID } from "node:crypto";
import {
  closeSync,
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

// Small files of ours that must be whole: whoever reads one gets all of it, also after a power cut.

/** Replaces the file. */
export const writeWhole = (file: string, content: object): void =>
  become(file, content, renameSync);

/** Makes the file unless it is there: of two that make it at once, one does, and both read the same. */
export const makeWhole = (file: string, content: object): void =>
  become(file, content, (draft, place) => {
    try {
      linkSync(draft, place);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      rmSync(draft);
    }
  });

export const readWhole = <T>(file: string, schema: v.GenericSchema<unknown, T>): T | undefined => {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    return v.parse(schema, JSON.parse(text));
  } catch (cause) {
    throw new Error(`${file} cannot be read: restore it, or remove it to begin anew.`, { cause });
  }
};

const become = (file: string, content: object, place: (draft: string, file: string) => void) => {
  const draft = `${file}.${randomUUID()}`;
  const handle = openSync(draft, "wx", 0o600);
  writeSync(handle, `${JSON.stringify(content, null, 2)}\n`);
  fsyncSync(handle);
  closeSync(handle);
  place(draft, file);
  const folder = openSync(dirname(file), "r");
  fsyncSync(folder);
  closeSync(folder);
};

/** Of a file or a folder: what is in it is on the disk, also after a power cut. */
export const flushed = async (path: string): Promise<void> => {
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

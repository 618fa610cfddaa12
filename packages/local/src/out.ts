import { once } from "node:events";
import { accessSync, constants, createWriteStream, existsSync } from "node:fs";
import { dirname } from "node:path";
import { Misuse } from "./command.ts";

/** Looked at before anything is paid for that would be written there. */
export const assertFree = (file: string | undefined): void => {
  if (file === undefined) return;
  if (existsSync(file)) throw new Misuse(`${file} is there already.`);
  try {
    accessSync(`${dirname(file)}/`, constants.W_OK);
  } catch {
    throw new Misuse(`${file} cannot be written: there is no such folder, or not for you.`);
  }
};

/** A file that is there is never written over: it may be the list itself, or results that were paid for. */
export const openOut = async (file: string | undefined): Promise<NodeJS.WritableStream> => {
  if (file === undefined) return process.stdout;
  const out = createWriteStream(file, { flags: "wx" });
  await once(out, "open").catch((error: NodeJS.ErrnoException) => {
    throw new Misuse(error.code === "EEXIST" ? `${file} is there already.` : error.message);
  });
  return out;
};

/** As fast as the other end reads. */
export const print = async (
  out: NodeJS.WritableStream,
  text: string | Uint8Array,
): Promise<void> => {
  if (text.length > 0 && !out.write(text)) await once(out, "drain");
};

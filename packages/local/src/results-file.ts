import { randomUUID } from "node:crypto";
import { createWriteStream, readdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Misuse } from "./command.ts";
import { alreadyExists, print } from "./out.ts";
import { placeNew } from "./whole-file.ts";

type Pieces = AsyncIterable<string | Uint8Array>;

/** Writes the results to a file, or to standard output. A file gets its name only when all of it is written. */
export const writeResults = async (
  file: string | undefined,
  force: boolean,
  pieces: Pieces,
): Promise<void> => {
  if (file === undefined) {
    for await (const piece of pieces) await print(process.stdout, piece);
    return;
  }
  removeDrafts(file);
  const draft = `${draftsOf(file)}${randomUUID()}`;
  try {
    await writeDraft(draft, pieces);
    if (force) renameSync(draft, targetOf(file));
    else if (!placeNew(draft, file)) throw new Misuse(alreadyExists(file));
  } finally {
    rmSync(draft, { force: true });
  }
};

const draftsOf = (file: string): string => `${file}.mailproof-draft-`;

/** Those of commands that were killed. */
const removeDrafts = (file: string): void => {
  const prefix = basename(draftsOf(file));
  for (const name of readdirSync(dirname(file)))
    if (name.startsWith(prefix)) rmSync(join(dirname(file), name), { force: true });
};

/** Flushed: the state file is removed afterwards, so the results must be on the disk, also after a power cut. */
const writeDraft = (draft: string, pieces: Pieces): Promise<void> =>
  pipeline(pieces, createWriteStream(draft, { flags: "wx", flush: true }));

/** A symbolic link stays one, and the file that it names is replaced. */
const targetOf = (file: string): string => {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
};

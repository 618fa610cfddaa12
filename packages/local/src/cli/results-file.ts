import { randomUUID } from "node:crypto";
import { createWriteStream, readdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { linkNewFile } from "../storage/atomic-file.ts";
import { UsageError } from "./define-command.ts";
import { formatAlreadyExists, writeOutput } from "./output.ts";
import type { Pieces } from "./result-table.ts";

/** Writes the results to a file, or to standard output. A file gets its name only when it is complete. */
export const writeResults = async (
  file: string | undefined,
  force: boolean,
  pieces: Pieces,
): Promise<void> => {
  if (file === undefined) {
    for await (const piece of pieces) await writeOutput(process.stdout, piece);
    return;
  }
  removeDrafts(file);
  const draft = `${getDraftPrefix(file)}${randomUUID()}`;
  try {
    await writeDraft(draft, pieces);
    if (force) renameSync(draft, resolveTarget(file));
    else if (!linkNewFile(draft, file)) throw new UsageError(formatAlreadyExists(file));
  } finally {
    rmSync(draft, { force: true });
  }
};

const getDraftPrefix = (file: string): string => `${file}.mailproof-draft-`;

const removeDrafts = (file: string): void => {
  const prefix = basename(getDraftPrefix(file));
  for (const name of readdirSync(dirname(file)))
    if (name.startsWith(prefix)) rmSync(join(dirname(file), name), { force: true });
};

/** Flushes the draft: the command removes the state file afterwards, so the results must survive a power cut. */
const writeDraft = (draft: string, pieces: Pieces): Promise<void> =>
  pipeline(pieces, createWriteStream(draft, { flags: "wx", flush: true }));

const resolveTarget = (file: string): string => {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
};

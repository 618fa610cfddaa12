import { existsSync, mkdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import * as v from "valibot";
import { START_AFRESH } from "../installation.ts";
import { readJsonFile, writeFileAtomic } from "./atomic-file.ts";
import type { SqliteTable } from "./sqlite-table.ts";

// A used folder that lacks a part of its state is refused: with a new part, the server would know none of its
// customers' keys, and look healthy. A small file beside the parts records that the folder was used.

export const MARKER = "folder.json";

const Marker = v.object({
  /** False: the first start was interrupted, so parts may be missing. */
  complete: v.boolean(),
  /** The lowest generation that the table can have. */
  generation: v.number(),
  /** Whether the demo account was made. */
  demo: v.boolean(),
  /** The copy of the state from before an upgrade that has not ended. */
  upgrade: v.optional(v.string()),
});
type Marker = v.InferOutput<typeof Marker>;

const DATABASES = ["state.sqlite", "queue.sqlite"];
const FILES = ["secrets.json", ...DATABASES];
/** Earlier releases created it with the first blob. */
const BLOBS = "blobs";

const GENERATION = { pk: "FOLDER", sk: "GENERATION" };
/** A generation is counted this often. If only the writes since the last count are lost, this goes unnoticed. */
const EVERY_SECONDS = 60;

export const REMEDY = `Restore the whole folder from a backup (docs/operating.md), or begin anew, without its accounts, keys and credits: ${START_AFRESH}`;

export const readMarker = (directory: string): Marker | undefined =>
  readJsonFile(join(directory, MARKER), Marker);

export const changeMarker = (directory: string, change: Partial<Marker>): void => {
  const marker = readMarker(directory) ?? { complete: false, generation: 0, demo: false };
  writeFileAtomic(join(directory, MARKER), { ...marker, ...change });
};

/** Prepares an empty folder for its first start. Refuses a used folder that lacks a part. */
export const prepareFolder = (directory: string): void => {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const marker = readMarker(directory);
  const missing = FILES.filter((name) => isMissing(join(directory, name)));
  const isNew = marker ? !marker.complete : missing.length === FILES.length;
  if (isNew) {
    changeMarker(directory, { complete: false });
    return;
  }
  missing.push(
    ...DATABASES.filter((name) => isWalMissing(join(directory, name))).map((name) => `${name}-wal`),
  );
  if (marker && !existsSync(join(directory, BLOBS))) missing.push(BLOBS);
  if (missing.length === 0) return;
  const what = `${resolve(directory)} was used before and lacks ${missing.join(" and ")}.`;
  throw new Error(`${what} ${REMEDY}`);
};

/** A killed server leaves both files, and SQLite removes this one first: without the other, commits are lost. */
const isWalMissing = (file: string): boolean =>
  existsSync(`${file}-shm`) && !existsSync(`${file}-wal`);

/** SQLite reads an empty file as a new database. */
const isMissing = (file: string): boolean => !existsSync(file) || statSync(file).size === 0;

/** Every part exists: from now on none may be missing. */
export const completeFolder = (directory: string): void => {
  if (!readMarker(directory)?.complete) changeMarker(directory, { complete: true });
};

/**
 * The table counts its generations, and the folder stores the last count. A table that is behind has lost its latest
 * writes: its -wal file was deleted, or an older copy replaced it.
 */
export const assertLatest = async (directory: string, table: SqliteTable): Promise<void> => {
  const { generation = 0 } = readMarker(directory) ?? {};
  if (Number((await table.get(GENERATION))?.["generation"] ?? 0) >= generation) return;
  const file = resolve(directory, "state.sqlite");
  const what = `${file} lacks what was written to it last; was ${file}-wal deleted, or an older copy put in its place?`;
  throw new Error(`${what} ${REMEDY}`);
};

export const createGenerationSchedule = (directory: string, table: SqliteTable) => ({
  name: "count the generations of the folder",
  everySeconds: EVERY_SECONDS,
  run: async (): Promise<void> => {
    // First the table, so that the folder is never ahead of it.
    const add = { generation: 1 };
    const written = await table.write({ update: GENERATION, add, orCreate: true });
    if (written.outcome === "committed")
      changeMarker(directory, { generation: Number(written.item?.["generation"]) });
  },
});

/** A second demo account would have another million credits. */
export const assertDemoExists = (directory: string): void => {
  if (!readMarker(directory)?.demo || existsSync(join(directory, "demo.json"))) return;
  const what = `${resolve(directory)} was used before and lacks demo.json.`;
  throw new Error(`${what} Restore it from a backup, or set DEMO=off.`);
};

export const markDemo = (directory: string): void => {
  if (!readMarker(directory)?.demo) changeMarker(directory, { demo: true });
};

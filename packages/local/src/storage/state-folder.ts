import { existsSync, mkdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import * as v from "valibot";
import { readJsonFile, writeFileAtomic } from "./atomic-file.ts";
import type { SqliteTable } from "./sqlite-table.ts";

// A folder that was used before and lacks a part of its state is refused: begun anew, the server would know none of its
// customers' keys, and look healthy. How the folder knows that it was used stands in a small file beside the parts.

export const MARKER = "folder.json";

const Marker = v.object({
  /** False: the first start was cut off, so its parts may be missing. */
  complete: v.boolean(),
  /** The generation that the table had at least. */
  generation: v.number(),
  /** Whether the demo account was made. */
  demo: v.boolean(),
});
type Marker = v.InferOutput<typeof Marker>;

const DATABASES = ["state.sqlite", "queue.sqlite"];
const FILES = ["secrets.json", ...DATABASES];
/** Earlier releases made it with the first blob. */
const BLOBS = "blobs";

const GENERATION = { pk: "FOLDER", sk: "GENERATION" };
/** So much of what was written last may be missing before it is noticed. */
const EVERY_SECONDS = 60;

export const REMEDY =
  "Restore the whole folder from a backup (docs/operating.md), or begin anew, without its accounts, keys and credits: npm start -- --fresh";

const readMarker = (directory: string): Marker | undefined =>
  readJsonFile(join(directory, MARKER), Marker);

const changeMarker = (directory: string, change: Partial<Marker>): void => {
  const marker = readMarker(directory) ?? { complete: false, generation: 0, demo: false };
  writeFileAtomic(join(directory, MARKER), { ...marker, ...change });
};

/** Makes an empty folder ready for its first start; refuses one that was used and lacks a part. */
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

/** A server that was killed leaves both, and SQLite removes this one first: without the other, commits are gone. */
const isWalMissing = (file: string): boolean =>
  existsSync(`${file}-shm`) && !existsSync(`${file}-wal`);

/** SQLite takes an empty file for a new database. */
const isMissing = (file: string): boolean => !existsSync(file) || statSync(file).size === 0;

/** Every part is there: from now on none may be missing. */
export const completeFolder = (directory: string): void => {
  if (!readMarker(directory)?.complete) changeMarker(directory, { complete: true });
};

/**
 * The table counts its generations, and the folder knows how far it was. A table that is behind has lost what was
 * written last: its -wal file was deleted, or an older copy was put in its place.
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
    // First the table: the folder is never ahead of it by itself.
    const add = { generation: 1 };
    const written = await table.write({ update: GENERATION, add, orCreate: true });
    if (written.outcome === "committed")
      changeMarker(directory, { generation: Number(written.item?.["generation"]) });
  },
});

/** Made anew, the demo account would have another million credits. */
export const assertDemoExists = (directory: string): void => {
  if (!readMarker(directory)?.demo || existsSync(join(directory, "demo.json"))) return;
  const what = `${resolve(directory)} was used before and lacks demo.json.`;
  throw new Error(`${what} Restore it from a backup, or set DEMO=off.`);
};

export const markDemo = (directory: string): void => {
  if (!readMarker(directory)?.demo) changeMarker(directory, { demo: true });
};

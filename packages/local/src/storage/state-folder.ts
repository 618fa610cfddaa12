import { existsSync, mkdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import * as v from "valibot";
import { START_AFRESH } from "../installation.ts";
import { readJsonFile, writeFileAtomic } from "./atomic-file.ts";

// The server refuses a used folder that lacks a part of its state: with a new part, it would know none of its
// customers' keys, and look healthy. A small file beside the parts records that the folder was used.

export const MARKER = "folder.json";

const Marker = v.object({
  /** False after an interrupted first start: parts may be missing. */
  complete: v.boolean(),
  /** True once the demo account was created. */
  demo: v.boolean(),
  /** The copy of the state that an unfinished upgrade made first. */
  upgrade: v.optional(v.string()),
});
type Marker = v.InferOutput<typeof Marker>;

const PARTS = [MARKER, "secrets.json", "state.sqlite", "queue.sqlite", "blobs"];

export const REMEDY = `Restore the whole folder from a backup, with MAILPROOF_DIR set to a copy of it, or begin anew, without its accounts, keys and credits: ${START_AFRESH}`;

export const readMarker = (directory: string): Marker | undefined =>
  readJsonFile(join(directory, MARKER), Marker);

export const changeMarker = (directory: string, change: Partial<Marker>): void => {
  const marker = readMarker(directory) ?? { complete: false, demo: false };
  writeFileAtomic(join(directory, MARKER), { ...marker, ...change });
};

/** Prepares an empty folder for its first start. Refuses a used folder that lacks a part. */
export const prepareFolder = (directory: string): void => {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const marker = readMarker(directory);
  const missing = PARTS.filter((name) => isMissing(join(directory, name)));
  const isNew = marker ? !marker.complete : missing.length === PARTS.length;
  if (isNew) {
    changeMarker(directory, { complete: false });
    return;
  }
  if (missing.length === 0) return;
  const what = `${resolve(directory)} was used before and lacks ${missing.join(" and ")}.`;
  throw new Error(`${what} ${REMEDY}`);
};

/** SQLite reads an empty file as a new database. */
const isMissing = (part: string): boolean =>
  !existsSync(part) || (statSync(part).isFile() && statSync(part).size === 0);

/** Records that every part exists: from now on none may be missing. */
export const completeFolder = (directory: string): void => {
  if (!readMarker(directory)?.complete) changeMarker(directory, { complete: true });
};

/** A second demo account would get another million credits. */
export const assertDemoExists = (directory: string): void => {
  if (!readMarker(directory)?.demo || existsSync(join(directory, "demo.json"))) return;
  const what = `${resolve(directory)} was used before and lacks demo.json.`;
  throw new Error(`${what} Restore it from a backup, or set DEMO=off.`);
};

export const markDemo = (directory: string): void => {
  if (!readMarker(directory)?.demo) changeMarker(directory, { demo: true });
};

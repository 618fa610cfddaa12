import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DAY_MS } from "@mailproof/core/lib/time";
import { type BackupResult, createBackup } from "./backup.ts";
import { findOld, toBackupName } from "./backup-names.ts";
import { recordBackup } from "./last-backup.ts";
import { listObjects, putObject, removeObject, type S3Bucket } from "./s3-bucket.ts";

// A backup in an S3-compatible store is one object: a gzipped tar of a folder from which a server can start.

const ENDING = ".tar.gz";
/** A draft inside the state's folder, which has space for a copy when it has space for an upgrade. */
const DRAFT = "upload-";

export type S3Folder = { readonly bucket: S3Bucket; readonly prefix: string };

/** `keep`: the number of backups to keep. Absent means all backups. */
export const backUpToS3 = async (
  directory: string,
  { bucket, prefix }: S3Folder,
  keep: number | undefined,
): Promise<BackupResult & { readonly name: string; readonly removed: readonly string[] }> => {
  removeDrafts(directory);
  const draft = mkdtempSync(join(directory, DRAFT));
  const name = toBackupName(new Date(), ENDING);
  try {
    const copy = join(draft, "state");
    const made = await createBackup(directory, copy);
    const file = join(draft, name);
    execFileSync("tar", ["-czf", file, "-C", copy, "."]);
    await putObject(bucket, prefix + name, file);
    recordBackup(directory, made.at);
    const all = keep === undefined ? [] : await listObjects(bucket, prefix);
    const removed = keep === undefined ? [] : findOld(all, keep, ENDING);
    for (const old of removed) await removeObject(bucket, prefix + old);
    return { ...made, name, removed };
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
};

/** Removes the drafts that a kill left. A younger draft may belong to a running backup. */
const removeDrafts = (directory: string): void => {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    if (name.startsWith(DRAFT) && Date.now() - statSync(path).mtimeMs > DAY_MS)
      rmSync(path, { recursive: true, force: true });
  }
};

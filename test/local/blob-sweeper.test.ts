import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PLANS } from "@mailproof/core/money/plans";
import { BLOB_RETENTION_DAYS } from "@mailproof/core/ports/blobs";
import { createBlobSweeper } from "@mailproof/local/server/blob-sweeper";
import { createFileBlobs } from "@mailproof/local/storage/file-blobs";
import { expect, test } from "vitest";
import { streamPieces } from "../app/form.ts";
import { givenWorld } from "../app/given.ts";
import { createFolder } from "../servers/running.ts";

const FILES_MAX = 20;
const DAY_MS = 86_400_000;

/** Files of this moment, and a world in which so many days have gone by. */
const givenBlobs = async (...keys: readonly string[]) => {
  const folder = createFolder();
  const blobs = createFileBlobs(folder, () => "");
  for (const key of keys) await blobs.put(key, streamPieces(key));
  const sweeper = createBlobSweeper(folder, FILES_MAX);
  const whenSwept = (days: number) =>
    sweeper.run({ ...givenWorld().world, now: () => new Date(Date.now() + days * DAY_MS) });
  const left = async () => {
    const found = await Promise.all(keys.map((key) => blobs.head(key)));
    return keys.filter((_, index) => found[index]);
  };
  return { folder, blobs, whenSwept, left };
};

const KEYS = ["uploads/acc_1/a", "exports/job_1/csv", "inputs/job_1", "uploads", "x/uploads/a"];

test.each([
  [0, KEYS],
  [0.9, KEYS],
  [1.1, ["inputs/job_1", "uploads", "x/uploads/a"]],
  [99, ["inputs/job_1", "uploads", "x/uploads/a"]],
  [101, ["uploads", "x/uploads/a"]],
])("the blob sweeper after %s days leaves these files: %j", async (days, keys) => {
  const { whenSwept, left } = await givenBlobs(...KEYS);

  await whenSwept(days);

  expect(await left()).toEqual(keys);
});

test("the blob sweeper keeps a file whose age restarted with a new write", async () => {
  const { folder, blobs, whenSwept, left } = await givenBlobs("uploads/a", "uploads/b");
  const old = new Date(Date.now() - 2 * DAY_MS);
  for (const file of listFiles(folder)) utimesSync(file, old, old);

  await blobs.put("uploads/b", streamPieces("again"));
  await whenSwept(0);

  expect(await left()).toEqual(["uploads/b"]);
});

test("the blob sweeper keeps files that are not blobs, at any age and in any folder", async () => {
  const { folder, whenSwept } = await givenBlobs();
  const otherFiles = [
    "uploads/ab/notes.txt",
    `uploads/ab/${"A".repeat(64)}`,
    `uploads/abc/${"a".repeat(64)}`,
    `uploads/${"a".repeat(64)}`,
    `ab/${"a".repeat(64)}`,
    `unfinished/${"a".repeat(64)}`,
  ].map((name) => join(folder, name));
  for (const file of otherFiles) whenWritten(file);
  mkdirSync(join(folder, "uploads", "ab", "b".repeat(64)));

  await whenSwept(1_000);

  expect(listFiles(folder).toSorted()).toEqual(otherFiles.toSorted());
});

test("the blob sweeper removes many files in several short runs", async () => {
  const { folder, whenSwept } = await givenBlobs();
  for (let n = 0; n < 50; n++) whenWritten(findBlob(folder, "exports", n % 10, n));

  await whenSwept(2);
  const afterOne = listFiles(folder).length;
  await whenSwept(2);
  await whenSwept(2);

  // A run ends with the folder in which it had looked at enough.
  expect(afterOne).toBe(50 - FILES_MAX);
  expect(listFiles(folder)).toEqual([]);
});

test("the blob sweeper reaches an old file behind many files that stay", async () => {
  const { folder, whenSwept } = await givenBlobs();
  for (let n = 0; n < 24; n++) whenWritten(findBlob(folder, "inputs", n % 12, n));
  const last = findBlob(folder, "inputs", 255, 0);
  whenWritten(last);
  const old = new Date(Date.now() - 101 * DAY_MS);
  utimesSync(last, old, old);

  await whenSwept(0);
  const afterOne = existsSync(last);
  await whenSwept(0);

  expect([afterOne, existsSync(last)]).toEqual([true, false]);
  expect(listFiles(folder)).toHaveLength(24);
});

test("the input of a job outlasts the retention of every plan", () => {
  const longest = Math.max(...Object.values(PLANS).map(({ retentionDays }) => retentionDays));

  expect(BLOB_RETENTION_DAYS["inputs/"]).toBeGreaterThan(longest);
});

const findBlob = (folder: string, kind: string, bucket: number, n: number) => {
  const two = bucket.toString(16).padStart(2, "0");
  return join(folder, kind, two, `${two}${String(n).padStart(62, "0")}`);
};

const whenWritten = (file: string) => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "");
};

const listFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

import { once } from "node:events";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { PLANS } from "@mailproof/core/money/plans";
import { BLOB_RETENTION_DAYS, UnreadableBlobError } from "@mailproof/core/ports/blobs";
import { createApiServer } from "@mailproof/local/server/server";
import { createBlobSweeper } from "@mailproof/local/server/sweepers";
import { createBlobLinks } from "@mailproof/local/storage/blob-links";
import { createFileBlobs } from "@mailproof/local/storage/file-blobs";
import { afterEach, expect, test } from "vitest";
import { streamPieces } from "../app/form.ts";
import { givenWorld } from "../app/given.ts";
import { createFolder } from "../servers/running.ts";

const KEY = "jobs/job_1";

const getText = async (folder: string, options: { readonly version: string }) => {
  const found = await createBlobs(folder).get(KEY, options);
  return found && Buffer.concat(await Array.fromAsync(found.content)).toString();
};
const createBlobs = (folder: string) => createFileBlobs(folder, () => "");

test("a blob in a copied folder keeps its pinned version and its bytes", async () => {
  const [folder, copy] = [createFolder(), createFolder()];
  const { version } = await createBlobs(folder).put(KEY, streamPieces("a@b.c\n"));

  cpSync(folder, copy, { recursive: true });

  expect(await createBlobs(copy).head(KEY)).toEqual({ version, bytes: 6 });
  expect(await getText(copy, { version })).toBe("a@b.c\n");
});

test("two puts of equal bytes create two versions", async () => {
  const blobs = createBlobs(createFolder());

  const first = await blobs.put(KEY, streamPieces("a@b.c\n"));
  const second = await blobs.put(KEY, streamPieces("a@b.c\n"));

  expect(second.version).not.toBe(first.version);
});

const PUT = "a@b.c\n".repeat(20_000);

const whenPut = async (text = PUT) => {
  const folder = createFolder();
  const metadata = await createBlobs(folder).put(KEY, streamPieces(text));
  const [file = ""] = globSync(`${folder}/**/*.blob`);
  return { folder, file, ...metadata };
};

const readAll = async (blobs: ReturnType<typeof createFileBlobs>, version?: string) => {
  const found = await blobs.get(KEY, version === undefined ? {} : { version });
  return found && Buffer.concat(await Array.fromAsync(found.content)).toString();
};

test("the blob store never reads a file cut at any place as a shorter one", async () => {
  const { folder, file, version } = await whenPut("a@b.c\nd@e.f\n");
  const bytes = readFileSync(file);
  const outcomes = new Set<string>();
  for (let length = 0; length < bytes.length; length++) {
    writeFileSync(file, bytes.subarray(0, length));
    const blobs = createBlobs(folder);
    for (const read of [() => blobs.head(KEY), () => readAll(blobs), () => readAll(blobs, version)])
      outcomes.add(await read().then(String, (error: Error) => error.name));
  }

  expect([...outcomes]).toEqual(["UnreadableBlobError"]);
});

test("the blob store finds a flipped bit anywhere in a file, including its checksums", async () => {
  const { folder, file } = await whenPut("a@b.c\nd@e.f\n");
  const bytes = readFileSync(file);
  const outcomes = new Set<string>();
  for (let at = 0; at < bytes.length * 8; at++) {
    const damaged = Buffer.from(bytes);
    damaged.writeUInt8(damaged.readUInt8(at >> 3) ^ (1 << (at & 7)), at >> 3);
    writeFileSync(file, damaged);
    outcomes.add(await readAll(createBlobs(folder)).then(String, (error: Error) => error.name));
  }

  expect([...outcomes]).toEqual(["UnreadableBlobError"]);
});

test("the blob store finds swapped parts of a file and bytes behind its end", async () => {
  const { folder, file } = await whenPut();
  const bytes = readFileSync(file);
  const swapped = Buffer.concat([bytes.subarray(65_536), bytes.subarray(0, 65_536)]);
  for (const other of [swapped, Buffer.concat([bytes, Buffer.from("x")])]) {
    writeFileSync(file, other);

    await expect(readAll(createBlobs(folder))).rejects.toThrow(UnreadableBlobError);
  }
  truncateSync(file, 0);
  await expect(createBlobs(folder).head(KEY)).rejects.toThrow(UnreadableBlobError);
});

/** A disk whose files open, and then fail to be read with this error. */
const onDiskWith = (folder: string, code: string) => {
  const failing: typeof open = async (...args) => {
    const handle = await open(...args);
    const read = () => Promise.reject(Object.assign(new Error(`${code}: i/o error`), { code }));
    return Object.assign(handle, { read }) as FileHandle;
  };
  return createFileBlobs(folder, () => "", failing);
};

test.each([
  ["EIO", "UnreadableBlobError"],
  ["EBADMSG", "UnreadableBlobError"],
  ["EACCES", "UnreadableBlobError"],
  ["EMFILE", "Error"],
  ["ENOMEM", "Error"],
])("the blob store on a disk that fails with %s throws %s", async (code, name) => {
  const { folder } = await whenPut();
  const error = await readAll(onDiskWith(folder, code)).catch((cause: Error) => cause);

  expect((error as Error).name).toBe(name);
});

test("the blob store throws an error for a missing folder instead of reporting a missing blob", async () => {
  const { folder } = await whenPut();
  rmSync(folder, { recursive: true });

  await expect(createBlobs(folder).head(KEY)).rejects.toThrow("is gone");
});

const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((one) => one.close()));

/** The real server over real files, with a clock that can be moved. */
const givenStore = async () => {
  const { world, later } = givenWorld();
  let baseUrl = "";
  const links = createBlobLinks({
    secret: "a secret for tests",
    baseUrl: () => baseUrl,
    now: world.now,
  });
  const blobs = createFileBlobs(createFolder(), links.sign);
  const listening = createApiServer({ ...world, blobs }, links.open).listen(0, "127.0.0.1");
  servers.push(listening);
  await once(listening, "listening");
  baseUrl = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  return { blobs, later };
};

const UPLOAD_KEY = "uploads/acc_1/list.csv";
const LIMITS = { expiresInSeconds: 900, bytesMax: 1_000 };
const GET = {
  expiresInSeconds: 900,
  fileName: 'Ann\'s "list" – ü.csv',
  contentType: "text/csv; charset=utf-8",
};
const put = (link: string, body: string | ReadableStream) =>
  fetch(link, {
    method: "PUT",
    body,
    ...(typeof body !== "string" && { duplex: "half" }),
  } as RequestInit);

test("the upload link accepts a bare PUT, and the download link returns the file", async () => {
  const { blobs } = await givenStore();

  expect((await put((await blobs.presignPut(UPLOAD_KEY, LIMITS)).url, "a@b.c\n")).status).toBe(200);
  const read = await fetch((await blobs.presignGet(UPLOAD_KEY, GET)).url);

  expect(await read.text()).toBe("a@b.c\n");
  expect(read.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(read.headers.get("content-disposition")).toBe(
    "attachment; filename=\"Ann_s _list_ _ _.csv\"; filename*=UTF-8''Ann%27s%20%22list%22%20%E2%80%93%20%C3%BC.csv",
  );
});

test.each<[string, (link: string) => string, string]>([
  ["another object's key", (link) => link.replace("list.csv", "other.csv"), "PUT"],
  ["another account's folder", (link) => link.replace("acc_1", "acc_2"), "PUT"],
  ["a higher limit", (link) => link.replace("bytesMax=1000", "bytesMax=9999"), "PUT"],
  ["a later expiry", (link) => link.replace(/until=\d+/, "until=9999999999"), "PUT"],
  ["no expiry", (link) => link.replace(/until=\d+&/, ""), "PUT"],
  ["no signature", (link) => link.replace(/&signature=.*/, ""), "PUT"],
  [
    "a changed signature",
    (link) =>
      link.replace(/signature=./, (start) => (start.endsWith("A") ? "signature=B" : "signature=A")),
    "PUT",
  ],
  ["another method", (link) => link, "GET"],
  ["a method that is never signed", (link) => link, "DELETE"],
])("the blob store refuses a link with %s and writes nothing", async (_, change, method) => {
  const { blobs } = await givenStore();
  const link = change((await blobs.presignPut(UPLOAD_KEY, LIMITS)).url);

  const answer = await fetch(link, { method, ...(method === "PUT" && { body: "x" }) });

  expect(answer.status).toBe(403);
  expect(await blobs.head(UPLOAD_KEY)).toBeUndefined();
  expect(await blobs.head("uploads/acc_2/list.csv")).toBeUndefined();
});

test("the blob store accepts a link until its last second and refuses it a second later", async () => {
  const { blobs, later } = await givenStore();
  const link = (await blobs.presignPut(UPLOAD_KEY, LIMITS)).url;

  later(900_000);
  expect((await put(link, "x")).status).toBe(200);
  later(1_000);
  expect((await put(link, "y")).status).toBe(403);
});

test.each<[string, () => string | ReadableStream]>([
  ["with its size", () => "x".repeat(1_001)],
  ["without its size", () => new Blob(["x".repeat(600), "x".repeat(600)]).stream()],
  ["that is far too large", () => "x".repeat(20_000_000)],
])("an upload over the limit %s answers 413 and leaves nothing behind", async (_, body) => {
  const { blobs } = await givenStore();

  expect((await put((await blobs.presignPut(UPLOAD_KEY, LIMITS)).url, body())).status).toBe(413);
  expect(await blobs.head(UPLOAD_KEY)).toBeUndefined();
});

test("the blob store accepts a file of exactly the limit", async () => {
  const { blobs } = await givenStore();

  expect(
    (await put((await blobs.presignPut(UPLOAD_KEY, LIMITS)).url, "x".repeat(1_000))).status,
  ).toBe(200);
  expect(await blobs.head(UPLOAD_KEY)).toMatchObject({ bytes: 1_000 });
});

test.each<[string, () => string | ReadableStream]>([
  ["that is shorter", () => "x".repeat(9)],
  ["that is longer", () => "x".repeat(11)],
  ["that is shorter, without its size", () => new Blob(["x".repeat(9)]).stream()],
  ["that is longer, without its size", () => new Blob(["x".repeat(11)]).stream()],
])("a link for a file of one size refuses a file %s and stores nothing", async (_, body) => {
  const { blobs } = await givenStore();
  const { url } = await blobs.presignPut(UPLOAD_KEY, { ...LIMITS, bytes: 10 });

  const answer = await put(url, body());

  expect(answer.status).toBe(403);
  expect(await answer.json()).toMatchObject({
    error: { code: "FORBIDDEN", message: expect.stringContaining("exactly 10 bytes") },
  });
  expect(await blobs.head(UPLOAD_KEY)).toBeUndefined();
});

test.each([
  ["without its size", (link: string) => link.replace("&bytes=10", "")],
  ["for another size", (link: string) => link.replace("&bytes=10", "&bytes=11")],
])(
  "the blob store refuses a link for a file of one size after a change to one %s",
  async (_, change) => {
    const { blobs } = await givenStore();
    const { url } = await blobs.presignPut(UPLOAD_KEY, { ...LIMITS, bytes: 10 });

    expect((await put(change(url), "x".repeat(11))).status).toBe(403);
    expect((await put(url, "x".repeat(10))).status).toBe(200);
  },
);

test("a link to a deleted object answers 404", async () => {
  const { blobs } = await givenStore();

  expect((await fetch((await blobs.presignGet(UPLOAD_KEY, GET)).url)).status).toBe(404);
});

test.each([
  ["bytes=0-1", 206, "01", "bytes 0-1/10"],
  ["bytes=7-", 206, "789", "bytes 7-9/10"],
  ["bytes=-3", 206, "789", "bytes 7-9/10"],
  ["bytes=5-99", 206, "56789", "bytes 5-9/10"],
  ["bytes=20-30", 200, "0123456789", null],
  ["bytes=0-1,4-5", 200, "0123456789", null],
  ["pages=1-2", 200, "0123456789", null],
])("a download with the range %s answers %i", async (range, status, text, contentRange) => {
  const { blobs } = await givenStore();
  await put((await blobs.presignPut(UPLOAD_KEY, LIMITS)).url, "0123456789");

  const answer = await fetch((await blobs.presignGet(UPLOAD_KEY, GET)).url, { headers: { range } });

  expect([answer.status, await answer.text(), answer.headers.get("content-range")]).toEqual([
    status,
    text,
    contentRange,
  ]);
});

test("the blob store allows a page of another origin to follow both links", async () => {
  const { blobs } = await givenStore();

  const sent = await put((await blobs.presignPut(UPLOAD_KEY, LIMITS)).url, "x");
  const read = await fetch((await blobs.presignGet(UPLOAD_KEY, GET)).url);

  expect(sent.headers.get("access-control-allow-origin")).toBe("*");
  expect(read.headers.get("access-control-allow-origin")).toBe("*");
});

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

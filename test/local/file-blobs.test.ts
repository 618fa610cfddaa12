import { cpSync, globSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { UnreadableBlobError } from "@mailproof/core/ports/blobs";
import { createFileBlobs } from "@mailproof/local/storage/file-blobs";
import { expect, test } from "vitest";
import { streamPieces } from "../app/form.ts";
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

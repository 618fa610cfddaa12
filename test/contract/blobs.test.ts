import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Blobs, UnreadableBlobError } from "@mailproof/core/ports/blobs";
import { createS3Blobs } from "@mailproof/functions/aws/s3-blobs";
import { createFileBlobs } from "@mailproof/local/storage/file-blobs";
import { afterAll, describe, expect, test } from "vitest";
import { streamPieces } from "../app/form.ts";
import { createEmulatedAws, DYNAMODB } from "../aws/emulators.ts";
import { createBucket } from "../aws/resources.ts";
import { type Adapters, describeAdapters } from "../runner/describe-when.ts";
import { createMemoryBlobs } from "../simulation/memory-blobs.ts";

const folders: string[] = [];
const createFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-blobs-"));
  folders.push(folder);
  return folder;
};
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

// One behaviour for every store of files. What a link is worth is tested in test/local/file-blobs.test.ts and
// test/functions/s3-links.test.ts.
type Open = () => Blobs | Promise<Blobs>;

const openS3: Open = async () => {
  const aws = await createEmulatedAws();
  return createS3Blobs(aws, await createBucket(aws));
};

const KEY = "uploads/acc_1/list.csv";

async function* brokenAfter(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
  throw new Error("the upload broke off");
}

async function* repeatPiece(piece: Uint8Array, count: number): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < count; n++) yield piece;
}

const getText = async (blobs: Blobs, key: string, options?: Parameters<Blobs["get"]>[1]) => {
  const found = await blobs.get(key, options);
  return found && Buffer.concat(await Array.fromAsync(found.content)).toString();
};

const adapters: Adapters<Open> = [
  ["in memory", createMemoryBlobs],
  ["in files", () => createFileBlobs(createFolder(), () => "")],
  ["in s3", openS3, DYNAMODB],
];

describeAdapters("blobs", adapters, (open) => {
  test("a reader receives a blob that was put in chunks as a whole, and the store knows its size", async () => {
    const blobs = await open();

    const metadata = await blobs.put(KEY, streamPieces("a@b.c\n", "d@e.f\n"));

    expect(metadata.bytes).toBe(12);
    expect(await blobs.head(KEY)).toEqual(metadata);
    expect(await getText(blobs, KEY)).toBe("a@b.c\nd@e.f\n");
  });

  test.each([
    ["a middle", { from: 2, to: 4 }, "234"],
    ["one byte", { from: 9, to: 9 }, "9"],
    ["a range past the end, up to the end", { from: 7, to: 99 }, "789"],
  ])("a range reads %s", async (_case, range, text) => {
    const blobs = await open();
    await blobs.put(KEY, streamPieces("01234", "56789"));

    expect(await getText(blobs, KEY, { range })).toBe(text);
  });

  test("reading a range beyond a blob's end throws an error", async () => {
    const blobs = await open();
    await blobs.put(KEY, streamPieces("0123456789"));

    await expect(blobs.get(KEY, { range: { from: 10, to: 20 } })).rejects.toThrow(RangeError);
  });

  test("a reader receives a blob larger than a request as a whole, and the store knows its size and version", async () => {
    const blobs = await open();
    const piece = Buffer.alloc(1_000_003, "0123456789");

    const metadata = await blobs.put(KEY, repeatPiece(piece, 20));

    expect(metadata.bytes).toBe(20_000_060);
    expect(await blobs.head(KEY)).toEqual(metadata);
    const end = { from: 20_000_050, to: 20_000_059 };
    expect(await getText(blobs, KEY, { range: end, version: metadata.version })).toBe("3456789012");
  });

  test("a large put that breaks off leaves the earlier blob", async () => {
    const blobs = await open();
    const first = await blobs.put(KEY, streamPieces("whole"));

    await expect(blobs.put(KEY, brokenAfter("x".repeat(20_000_000)))).rejects.toThrow("broke off");

    expect(await blobs.head(KEY)).toEqual(first);
  });

  test("an empty blob exists, with no bytes", async () => {
    const blobs = await open();
    await blobs.put(KEY, streamPieces());

    expect(await blobs.head(KEY)).toMatchObject({ bytes: 0 });
    expect(await getText(blobs, KEY)).toBe("");
  });

  test.each([
    ["short", [3, 2, 4]],
    ["long", [6_000_000, 6_000_001]],
    ["long and short, in any order", [2, 6_000_000, 3, 4, 5_500_000, 5_600_000, 1]],
    ["one alone", [7]],
  ])("a join puts blobs together in their order: %s", async (_case, sizes) => {
    const blobs = await open();
    const contents = sizes.map((bytes, at) => Buffer.alloc(bytes, `${at}abcdefg`));
    const keys = contents.map((_, at) => `exports/job_1/part-${at}`);
    for (const [at, key] of keys.entries()) await blobs.put(key, streamPieces(contents[at] ?? ""));

    const metadata = await blobs.join(KEY, keys);

    expect(await blobs.head(KEY)).toEqual(metadata);
    expect((await getText(blobs, KEY)) === Buffer.concat(contents).toString()).toBe(true);
    expect(await blobs.head(keys[0] ?? "")).toMatchObject({ bytes: sizes[0] });
  });

  test("joining a blob without one of its parts fails and leaves the earlier blob", async () => {
    const blobs = await open();
    const first = await blobs.put(KEY, streamPieces("whole"));
    await blobs.put("exports/job_1/part-0", streamPieces("x".repeat(6_000_000)));

    await expect(blobs.join(KEY, ["exports/job_1/part-0", "exports/job_1/part-1"])).rejects.toThrow(
      "part-1",
    );

    expect(await blobs.head(KEY)).toEqual(first);
  });

  test("the store returns undefined for a blob before its put and after its removal", async () => {
    const blobs = await open();
    expect(await blobs.get(KEY)).toBeUndefined();
    expect(await blobs.head(KEY)).toBeUndefined();

    await blobs.put(KEY, streamPieces("x"));
    await blobs.remove(KEY);
    await blobs.remove(KEY);

    expect(await blobs.get(KEY)).toBeUndefined();
  });

  test("a reader with a pinned version receives the bytes of that version, or none", async () => {
    const blobs = await open();
    const first = await blobs.put(KEY, streamPieces("first"));
    const second = await blobs.put(KEY, streamPieces("again"));

    expect(second.version).not.toBe(first.version);
    expect(await getText(blobs, KEY, { version: first.version })).toBeUndefined();
    expect(await getText(blobs, KEY, { version: second.version })).toBe("again");
  });

  test("a put does not disturb a reader under way", async () => {
    const blobs = await open();
    await blobs.put(KEY, streamPieces("old".repeat(100_000)));
    const found = await blobs.get(KEY);
    await blobs.put(KEY, streamPieces("new"));

    expect(Buffer.concat(await Array.fromAsync(found?.content ?? streamPieces())).length).toBe(
      300_000,
    );
  });

  test("a put that breaks off leaves the earlier blob", async () => {
    const blobs = await open();
    const first = await blobs.put(KEY, streamPieces("whole"));

    await expect(blobs.put(KEY, brokenAfter("ha"))).rejects.toThrow("broke off");
    await expect(blobs.put("uploads/never", brokenAfter("ha"))).rejects.toThrow("broke off");

    expect(await blobs.head(KEY)).toEqual(first);
    expect(await blobs.head("uploads/never")).toBeUndefined();
  });

  test("keys that differ in case, or of which one is the other's folder, belong to different blobs", async () => {
    const blobs = await open();
    const keys = ["a", "A", "a/b", "a/B"];
    for (const key of keys) await blobs.put(key, streamPieces(key));

    expect(await Promise.all(keys.map((key) => getText(blobs, key)))).toEqual(keys);
  });

  test.each([
    "",
    "/a",
    "a/",
    "a//b",
    "../a",
    "a/../b",
    "a/.b",
    "a b",
    "a?b",
    "a%2fb",
    "a\\b",
    "x".repeat(513),
  ])("the store refuses the key %j", async (key) => {
    const blobs = await open();

    await expect(blobs.put(key, streamPieces("x"))).rejects.toThrow("no blob key");
    await expect(blobs.get(key)).rejects.toThrow("no blob key");
  });
});

// S3 verifies what it stores itself, and an emulator cannot be made to break it.
type Damaged = { readonly blobs: Blobs; readonly damage: (at: number) => void };

const inMemory = (): Damaged => {
  const blobs = createMemoryBlobs();
  return { blobs, damage: (at) => blobs.damage(KEY, at) };
};

const inFiles = (): Damaged => {
  const folder = createFolder();
  const damage = (at: number) => {
    const [file = ""] = globSync(`${folder}/**/*.blob`);
    const bytes = readFileSync(file);
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    writeFileSync(file, bytes);
  };
  return { blobs: createFileBlobs(folder, () => ""), damage };
};

describe.each<[string, () => Damaged]>([
  ["in memory", inMemory],
  ["in files", inFiles],
])("damaged blobs, %s", (_where, open) => {
  const SIZE = 200_000;
  const given = async (at: number) => {
    const { blobs, damage } = open();
    const metadata = await blobs.put(KEY, repeatPiece(Buffer.from("0123456789"), SIZE / 10));
    damage(at);
    return { blobs, ...metadata };
  };

  test.each([0, 1, 65_535, 65_536, 131_071, 150_000, SIZE - 1])(
    "no reader accepts a blob as whole after a change of byte %i",
    async (at) => {
      const { blobs, version } = await given(at);
      const range = { from: Math.max(0, at - 3), to: Math.min(SIZE - 1, at + 3) };

      await expect(getText(blobs, KEY)).rejects.toThrow(UnreadableBlobError);
      await expect(getText(blobs, KEY, { version, range })).rejects.toThrow(UnreadableBlobError);
      await expect(getText(blobs, KEY, { range: { from: at, to: at } })).rejects.toThrow(
        UnreadableBlobError,
      );
    },
  );

  test("a reader receives the undamaged blocks of a damaged blob", async () => {
    const { blobs } = await given(150_000);

    expect(await getText(blobs, KEY, { range: { from: 0, to: 9 } })).toBe("0123456789");
  });

  test("a later put under the same key replaces a damaged blob", async () => {
    const { blobs } = await given(5);
    await blobs.put(KEY, streamPieces("again"));

    expect(await getText(blobs, KEY)).toBe("again");
  });
});

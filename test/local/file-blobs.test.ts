import { createHash } from "node:crypto";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileBlobs } from "@mailproof/local/file-blobs";
import { expect, test } from "vitest";
import { pieces } from "../pieces.ts";
import { newFolder } from "./running.ts";

const KEY = "jobs/job_1";

const textOf = async (folder: string, options: { readonly version: string }) => {
  const found = await blobsOf(folder).get(KEY, options);
  return found && Buffer.concat(await Array.fromAsync(found.content)).toString();
};
const blobsOf = (folder: string) => fileBlobs(folder, () => "");

test("in a copy of the folder a blob has the version that was pinned, and none but its own bytes", async () => {
  const [folder, copy] = [newFolder(), newFolder()];
  const { version } = await blobsOf(folder).put(KEY, pieces("a@b.c\n"));

  cpSync(folder, copy, { recursive: true });

  expect(await blobsOf(copy).head(KEY)).toEqual({ version, bytes: 6 });
  expect(await textOf(copy, { version })).toBe("a@b.c\n");
});

test("two puts of the same bytes have two versions", async () => {
  const blobs = blobsOf(newFolder());

  const first = await blobs.put(KEY, pieces("a@b.c\n"));
  const second = await blobs.put(KEY, pieces("a@b.c\n"));

  expect(second.version).not.toBe(first.version);
});

test.each([
  ["", "empty"],
  ["a@b.c\n", "short"],
  ["a@b.c\n".repeat(1000), "long"],
])("a file from before blobs had a seal is read whole: %#", async (text) => {
  const folder = newFolder();
  const name = createHash("sha256").update(KEY).digest("hex");
  mkdirSync(join(folder, name.slice(0, 2)));
  writeFileSync(join(folder, name.slice(0, 2), name), text);

  const facts = await blobsOf(folder).head(KEY);

  expect(facts?.bytes).toBe(text.length);
  expect(await textOf(folder, { version: facts?.version ?? "" })).toBe(text);
});

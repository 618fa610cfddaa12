import { findUpload } from "@mailproof/core/intake/uploads";
import { acceptFile } from "@mailproof/core/jobs/file";
import type { World } from "@mailproof/core/ports/world";
import { expect, test } from "vitest";
import { createEmails, formatCsv, givenChunked, whenPut } from "../../jobs.ts";
import { readCredits } from "../../ledger.ts";

// Files that are read at the same time, in one process.

const REQUEST = {
  field: "file_key" as const,
  emailColumn: undefined,
  hasHeader: undefined,
  name: null,
  options: { deepVerify: true, includeAi: true },
  callback: null,
};

/** A blob store whose streams of one account's files never end. */
const withEndlessFiles = (world: World, account: string) => {
  const reads: string[] = [];
  const get: World["blobs"]["get"] = async (key, options) => {
    const found = await world.blobs.get(key, options);
    if (!found || !key.includes(account)) return found;
    reads.push(key);
    return { ...found, content: endless() };
  };
  return { world: { ...world, blobs: { ...world.blobs, get } }, reads };
};

async function* endless(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("email\n");
  await new Promise(() => undefined);
}

test("an account whose files are never read to their end delays no file of another account", async () => {
  const ctx = await givenChunked();
  const { world, reads } = withEndlessFiles(ctx.world, "acc_other");
  const other = { account: "acc_other", mode: "test", plan: "pro" } as const;
  const payer = { account: ctx.account, mode: "live", plan: "pro" } as const;
  const otherKey = "uploads/test/acc_other/upl_1.bGlzdC5jc3Y.csv";
  const fileKey = `uploads/live/${ctx.account}/upl_1.bGlzdC5jc3Y.csv`;
  await whenPut(ctx.world, otherKey, formatCsv(createEmails(1)));
  await whenPut(ctx.world, fileKey, formatCsv(createEmails(5)));
  expect(await findUpload(ctx.world, payer, fileKey)).toBeDefined();

  const refused = Array.from({ length: 25 }, () =>
    acceptFile(world, other, { ...REQUEST, fileKey: otherKey }, null).catch(
      (error: unknown) => error,
    ),
  );
  const result = await acceptFile(world, payer, { ...REQUEST, fileKey }, null);

  expect(result).toMatchObject({ kind: "accepted", counts: { unique: 5 } });
  expect(reads).toHaveLength(2);
  expect(await readCredits(ctx)).toMatchObject({ spent: 5 });
  for (const error of await Promise.all(refused))
    expect(error).toMatchObject({ code: "UNAVAILABLE", money: "nothing_charged" });
});

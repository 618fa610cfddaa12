import { acceptFile } from "@mailproof/core/jobs/file";
import { findUpload } from "@mailproof/core/jobs/uploads";
import type { World } from "@mailproof/core/world";
import { expect, test } from "vitest";
import { anns, csvOf, givenChunked, whenPut } from "../../jobs.ts";
import { creditsOf } from "../../ledger.ts";

// Files that are read at the same time, in one process.

const WISH = {
  field: "file_key" as const,
  emailColumn: undefined,
  hasHeader: undefined,
  name: null,
  wants: { deepVerify: true, includeAi: true },
  callback: null,
};

/** A store that never ends the files of one account. */
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

test("an account whose files are never read to the end holds up no file of another account", async () => {
  const house = await givenChunked();
  const { world, reads } = withEndlessFiles(house.world, "acc_other");
  const other = { account: "acc_other", mode: "test", plan: "pro" } as const;
  const payer = { account: house.account, mode: "live", plan: "pro" } as const;
  const otherKey = "uploads/test/acc_other/upl_1.csv";
  const fileKey = `uploads/live/${house.account}/upl_1.csv`;
  await whenPut(house.world, otherKey, csvOf(anns(1)));
  await whenPut(house.world, fileKey, csvOf(anns(5)));
  expect(await findUpload(house.world, payer, fileKey)).toBeDefined();

  const refused = Array.from({ length: 25 }, () =>
    acceptFile(world, other, { ...WISH, fileKey: otherKey }, null).catch((error: unknown) => error),
  );
  const told = await acceptFile(world, payer, { ...WISH, fileKey }, null);

  expect(told).toMatchObject({ how: "accepted", counts: { unique: 5 } });
  expect(reads).toHaveLength(2);
  expect(await creditsOf(house)).toMatchObject({ spent: 5 });
  for (const error of await Promise.all(refused))
    expect(error).toMatchObject({ code: "UNAVAILABLE", money: "nothing_charged" });
});

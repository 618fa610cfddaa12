import { findUpload } from "@mailproof/core/intake/uploads";
import type { FileResult } from "@mailproof/core/lists/dispatch";
import { acceptFile } from "@mailproof/core/lists/file";
import type { World } from "@mailproof/core/ports/world";
import { expect, test } from "vitest";
import { whenQuiet } from "../../app/drain-queues.ts";
import { type Fate, withMessageFates } from "../../app/faulty-worlds.ts";
import { listOutboxEvents, readCredits, thenConsistent } from "../../app/ledger.ts";
import {
  createEmails,
  formatCsv,
  givenChunked,
  type TestContext,
  whenPut,
} from "../../things/jobs.ts";
import { listResultEmails, listStoredChunks, readStoredJob } from "./working-chunks.ts";

const REQUEST = {
  field: "file_key" as const,
  emailColumns: undefined,
  columnField: "email_column" as const,
  skipSettled: undefined,
  hasHeader: undefined,
  name: null,
  options: { deepVerify: true, includeAi: true },
  callback: null,
};

const accept = async (ctx: TestContext, world = ctx.world): Promise<FileResult> => {
  const payer = { account: ctx.account, mode: "live", plan: "pro" } as const;
  const fileKey = `uploads/live/${ctx.account}/upl_1.bGlzdC5jc3Y.csv`;
  await whenPut(ctx.world, fileKey, formatCsv(createEmails(5)));
  return acceptFile(world, payer, { ...REQUEST, fileKey }, null);
};

const FATES: readonly Fate[] = ["sent", "refused", "unknown", "unheard"];
const ADDRESSES = [2, 2, 1];
/** Every outcome of every chunk: 64 combinations for three messages. */
const WAYS = FATES.flatMap((one) =>
  FATES.flatMap((two) => FATES.map((three): [Fate, Fate, Fate] => [one, two, three])),
);

const addressesOf = (way: readonly Fate[], ...fates: readonly Fate[]): number =>
  ADDRESSES.reduce((sum, count, at) => sum + (fates.includes(way[at] ?? "sent") ? count : 0), 0);

test.each(WAYS.filter((way) => addressesOf(way, "refused") < 5))(
  "the settled, held and refunded credits of chunks %s, %s and %s add up to the price",
  async (...way) => {
    const ctx = await givenChunked();
    const refused = addressesOf(way, "refused");
    const unknown = addressesOf(way, "unknown", "unheard");

    const result = await accept(
      ctx,
      withMessageFates(ctx, (chunk) => way[chunk] ?? "sent"),
    );

    expect(result).toMatchObject({ kind: "accepted", price: 10, dispatched: { refused, unknown } });
    expect(await readCredits(ctx)).toMatchObject({
      available: 95 + refused,
      held: unknown,
      spent: 5 - refused - unknown,
      refunded: refused,
    });
    await thenConsistent(ctx);
  },
);

test.each(WAYS.filter((way) => addressesOf(way, "refused") < 5))(
  "every address of chunks %s, %s and %s that the queue takes later is either verified or refunded",
  async (...way) => {
    const ctx = await givenChunked();
    const refused = addressesOf(way, "refused");
    await accept(
      ctx,
      withMessageFates(ctx, (chunk) => way[chunk] ?? "sent"),
    );

    await whenQuiet(ctx);

    const [chunks, job] = [await listStoredChunks(ctx), await readStoredJob(ctx)];
    expect(job).toMatchObject({
      status: "completed",
      processed: 5 - refused,
      refunds: { no_result: refused },
    });
    expect(chunks.map(({ outcome }) => outcome)).toEqual(
      way.map((fate) => (fate === "refused" ? "refunded" : "done")),
    );
    expect(await listResultEmails(ctx)).toHaveLength(5 - refused);
    expect(await readCredits(ctx)).toMatchObject({
      held: 0,
      spent: 5 - refused,
      refunded: refused,
    });
    await thenConsistent(ctx);
  },
);

test.each(WAYS.filter((way) => addressesOf(way, "refused") < 5))(
  "every address of chunks %s, %s and %s that the queue never takes again is either verified or refunded",
  async (...way) => {
    const ctx = await givenChunked();
    await accept(
      ctx,
      withMessageFates(ctx, (chunk) => way[chunk] ?? "sent"),
    );
    const verified = addressesOf(way, "sent", "unheard");

    await whenQuiet({ ...ctx, world: withMessageFates(ctx, () => "refused") });

    const { status, processed, refunds } = await readStoredJob(ctx);
    expect([status, processed, refunds.no_result]).toEqual([
      verified > 0 ? "completed" : "failed",
      verified,
      5 - verified,
    ]);
    expect(await listResultEmails(ctx)).toHaveLength(verified);
    expect(await readCredits(ctx)).toMatchObject({ held: 0, spent: verified });
    expect(listOutboxEvents(ctx)).toHaveLength(1);
    await thenConsistent(ctx);
  },
);

test("a file whose chunks the queue all refuses creates no job, and receives a full refund", async () => {
  const ctx = await givenChunked();

  await expect(
    accept(
      ctx,
      withMessageFates(ctx, () => "refused"),
    ),
  ).rejects.toMatchObject({
    code: "INTERNAL",
    money: "refunded",
  });

  expect(await readCredits(ctx)).toMatchObject({ available: 100, held: 0, refunded: 5 });
  expect(await listStoredChunks(ctx)).toEqual([]);
});

test("the input stores a file's cells in their order, without an email cell that equals the address", async () => {
  const ctx = await givenChunked();
  const fileKey = `uploads/live/${ctx.account}/upl_1.bGlzdC5jc3Y.csv`;
  await whenPut(ctx.world, fileKey, "Name,E-Mail,,City\nAnn,ann@x.com,1,Rome\n");
  const payer = { account: ctx.account, mode: "live", plan: "pro" } as const;

  await acceptFile(ctx.world, payer, { ...REQUEST, fileKey }, null);

  const input = ctx.table.items().find(({ sk }) => sk === "INPUT");
  expect(input).toMatchObject({ columns: ["Name", "column_3", "City"] });
  const body = await ctx.blobs.get("inputs/job_1.jsonl");
  const lines = body && Buffer.concat(await Array.fromAsync(body.content)).toString();
  expect(lines).toBe('[2,"ann@x.com","Ann","","1","Rome"]\n');
});

// Files that are read at the same time, in one process.

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

test("an account whose files never end delays no file of another account", async () => {
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

import type { Blobs } from "@mailproof/core/ports/blobs";
import { describe, expect, test } from "vitest";
import { whenQuiet, whenWorked } from "../app/drain-queues.ts";
import { createDamagedBlobs, type Damage } from "../app/faulty-worlds.ts";
import { listOutboxEvents, readCredits, thenConsistent } from "../app/ledger.ts";
import { send } from "../app/send.ts";
import {
  createEmails,
  createProcessRequest,
  formatCsv,
  formatRows,
  givenChunked,
  givenUpload,
  readJob,
  type TestContext,
  whenBatched,
  whenFiled,
  whenProcessed,
} from "../things/jobs.ts";

// What callers see when a stored list can no longer be read, or no longer as it was stored.

const withBlobs = (ctx: TestContext, blobs: Blobs): TestContext => ({
  ...ctx,
  world: { ...ctx.world, blobs },
});
const whenDamaged = (ctx: TestContext, damage: Damage): TestContext =>
  withBlobs(ctx, createDamagedBlobs(ctx.blobs, damage));

const ofInputs =
  (at: number): Damage =>
  (key) =>
    key.startsWith("inputs/") ? at : undefined;

type Sending = (ctx: TestContext, emails: readonly string[]) => Promise<unknown>;

const asBatch: Sending = ({ world, liveKey }, emails) => whenBatched(world, liveKey, { emails });
const asFile: Sending = (ctx, emails) => whenProcessed(ctx, emails);

describe.each<[string, Sending]>([
  ["a batch", asBatch],
  ["a file", asFile],
])("a damaged list of %s", (_kind, whenSent) => {
  test("a job whose list cannot be read fails after its workers tried, and is refunded", async () => {
    const ctx = whenDamaged(await givenChunked(), (key) => ofInputs(0)(key));
    const [balance] = [100];
    await whenSent(ctx, createEmails(1));

    await whenWorked(ctx);

    const job = await readJob(ctx);
    expect(job).toMatchObject({
      status: "failed",
      error: "None of the addresses could be verified. The charge was refunded.",
      processed_emails: 0,
      credits_refunded: 1,
    });
    expect(await readCredits(ctx)).toMatchObject({ available: balance, held: 0, spent: 0 });
    expect(listOutboxEvents(ctx)).toEqual(["job.failed"]);
    expect(await ctx.queue.countDeadLetters()).toBe(0);
    await thenConsistent(ctx);
  });

  test("a job with a partly damaged list returns the other rows' results and states its refund", async () => {
    const ctx = await givenChunked({ rows: 2 });
    await whenSent(ctx, createEmails(5));
    const partly = whenDamaged(ctx, ofInputs(60));

    await whenWorked(partly);

    const job = await readJob(partly);
    expect(job).toMatchObject({
      status: "completed",
      progress: { total: 5, processed: 3, valid: 3 },
      credits_refunded: 2,
    });
    expect(formatRows(job).map((row) => row.split(" ")[1])).toEqual([
      "ann1@x.com",
      "ann2@x.com",
      "ann5@x.com",
    ]);
    expect(await readCredits(ctx)).toMatchObject({ available: 97, held: 0, spent: 3, refunded: 2 });
    expect(await ctx.queue.countDeadLetters()).toBe(0);
    await thenConsistent(ctx);
  });

  test("a job whose list is damaged between two attempts refunds its deferred rows", async () => {
    const ctx = await givenChunked({ rows: 4 });
    await whenSent(ctx, ["ann1@x.com", "greylisted@x.com"]);
    await whenWorked(ctx);
    const later = whenDamaged(ctx, ofInputs(0));

    await whenQuiet(later);

    const job = await readJob(later);
    expect(job).toMatchObject({ status: "completed", processed_emails: 1, credits_refunded: 1 });
    expect(job.deferred).toBeUndefined();
    expect(await readCredits(ctx)).toMatchObject({ available: 99, held: 0, spent: 1 });
    await thenConsistent(ctx);
  });
});

const download = ({ world, liveKey: key }: TestContext, id: string, query = {}) =>
  send(world, `GET /v1/jobs/${id}/download`, { key, query });

test("an export omits own columns when the list was damaged later, and selection=all answers 404", async () => {
  const ctx = await givenChunked();
  await whenProcessed(ctx, createEmails(3));
  await whenQuiet(ctx);
  const later = whenDamaged(ctx, ofInputs(60));

  const verified = await download(later, "job_1");
  const all = await download(later, "job_1", { selection: "all" });

  expect(verified.statusCode).toBe(200);
  expect(verified.text.match(/ann\d@x\.com/g)).toEqual(createEmails(3));
  expect(all).toMatchObject({ statusCode: 404, error: { code: "NOT_FOUND" } });
});

test("an export with selection=all answers 404 when skipped rows can no longer be read", async () => {
  const ctx = await givenChunked();
  await whenProcessed(ctx, [...createEmails(3), "ann1@x.com", "no address"]);
  await whenQuiet(ctx);
  const fullDownload = await download(ctx, "job_1", { selection: "all" });
  const later = whenDamaged(ctx, (key) => (key.endsWith(".excluded") ? 5 : undefined));

  const all = await download(later, "job_1", { selection: "all" });
  const verified = await download(later, "job_1");

  expect([fullDownload.statusCode, verified.statusCode]).toEqual([200, 200]);
  expect(all).toMatchObject({ statusCode: 404, error: { code: "NOT_FOUND" } });
});

test("a damaged upload is refused before any charge and may be uploaded again", async () => {
  const ctx = await givenChunked();
  const { world, liveKey } = ctx;
  const fileKey = await givenUpload(ctx, liveKey, formatCsv(createEmails(3)));
  const broken = whenDamaged(ctx, (key) => (key.startsWith("uploads/") ? 9 : undefined));

  const refused = await whenFiled(broken.world, liveKey, createProcessRequest(fileKey), "k");
  const again = await whenFiled(world, liveKey, createProcessRequest(fileKey), "k");

  expect(refused).toMatchObject({
    statusCode: 404,
    error: {
      code: "NOT_FOUND",
      money: "nothing_charged",
      message: expect.stringContaining("damaged on our side; upload it again"),
    },
  });
  expect(again.statusCode).toBe(202);
  await thenConsistent(ctx);
});

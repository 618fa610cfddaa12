import { audit } from "@mailproof/core/background/audit";
import { expect, test } from "vitest";
import { whenQuiet, whenReconciled, whenWorked } from "../app/drain-queues.ts";
import {
  createProcessGoneAfter,
  rejectDown,
  runTurn,
  withMessageFates,
} from "../app/faulty-worlds.ts";
import { listMoves, listOutboxEvents, readCredits, thenConsistent } from "../app/ledger.ts";
import { createEmails, formatRows, givenChunked, readJob, whenBatched } from "../things/jobs.ts";

// From the debit on a batch is a job, whatever becomes of its messages and of the process that accepted it.

const MINUTE_MS = 60_000;

test.each(["refused", "unknown", "unheard"] as const)(
  "a batch is accepted when every message's send is %s, and its messages are sent again within minutes",
  async (fate) => {
    const ctx = await givenChunked();
    const response = await whenBatched(
      withMessageFates(ctx, () => fate),
      ctx.liveKey,
      { emails: createEmails(5) },
    );

    ctx.later(MINUTE_MS);
    await whenReconciled(ctx);
    await whenWorked(ctx);

    expect(response).toMatchObject({ statusCode: 202, data: { status: "processing" } });
    expect(await readJob(ctx)).toMatchObject({ status: "completed", processed_emails: 5 });
    expect(listMoves(ctx)).toEqual(["charge 5"]);
    expect(listOutboxEvents(ctx)).toEqual(["job.completed"]);
  },
);

test("an accepted batch continues when its queue fails after the debit", async () => {
  const ctx = await givenChunked();
  const world = { ...ctx.world, queue: { ...ctx.queue, sendMany: rejectDown } };

  const response = await whenBatched(world, ctx.liveKey, { emails: createEmails(5) }, "k");
  await whenQuiet(ctx);

  expect(response).toMatchObject({ statusCode: 202, data: { credits_used: 5 } });
  expect(await readJob(ctx)).toMatchObject({ status: "completed", processed_emails: 5 });
});

test("the reconciler sends a stuck job's messages every hour until it ends, and verifies no chunk twice", async () => {
  const ctx = await givenChunked();
  const { world, liveKey, later, queue } = ctx;
  await whenBatched(
    withMessageFates(ctx, (chunk) => (chunk === 1 ? "refused" : "sent")),
    liveKey,
    {
      emails: createEmails(5),
    },
  );
  await whenWorked(ctx);
  const lossy = { ...ctx, world: withMessageFates(ctx, () => "refused") };
  for (const minutes of [1, 60, 60]) {
    later(minutes * MINUTE_MS);
    await whenReconciled(lossy);
  }
  const stuck = await readJob(ctx);

  later(60 * MINUTE_MS);
  await whenReconciled(ctx);
  const sentAgain = queue.pending();
  await whenWorked(ctx);

  expect([stuck.status, stuck.processed_emails]).toEqual(["processing", 3]);
  expect(sentAgain).toBe(1);
  expect(await readJob(ctx)).toMatchObject({ status: "completed", processed_emails: 5 });
  expect(formatRows(await readJob(ctx))).toHaveLength(5);
  expect(await audit(ctx.table, world.now())).toMatchObject({ ok: true });
});

// An undisturbed batch changes five things: the list is recorded for deletion, stored, paid for, sent, and its next check
// deferred.
const EFFECTS = 5;

test("a batch without a crash changes state as often as there are crash cases", async () => {
  const ctx = await givenChunked();
  const { world, effects } = createProcessGoneAfter(ctx, Number.POSITIVE_INFINITY);

  await whenBatched(world, ctx.liveKey, { emails: createEmails(5) }, "k");

  expect(effects()).toBe(EFFECTS);
});

test.each(Array.from({ length: EFFECTS }, (_row, effects) => effects))(
  "a batch that crashes after %i changes leaves nothing or a job that ends, and its key shows which",
  async (effects) => {
    const ctx = await givenChunked();
    const { world, liveKey } = ctx;
    const body = { emails: createEmails(5) };
    void whenBatched(createProcessGoneAfter(ctx, effects).world, liveKey, body, "k");
    for (let turns = 0; turns < 10; turns++) await runTurn();
    const isPaid = effects > 2;
    expect(await readCredits(ctx)).toMatchObject({ available: isPaid ? 95 : 100 });

    await whenQuiet(ctx);
    const repeat = await whenBatched(world, liveKey, body, "k");
    await whenQuiet(ctx);

    expect(repeat).toMatchObject({ statusCode: 202, data: { credits_used: isPaid ? 0 : 5 } });
    expect(await readJob(ctx, repeat.data.job_id)).toMatchObject({
      status: "completed",
      processed_emails: 5,
    });
    expect(listMoves(ctx)).toEqual(["charge 5"]);
    expect(listOutboxEvents(ctx)).toEqual(["job.completed"]);
    await thenConsistent(ctx);
  },
);

import { readGauges } from "@mailproof/core/background/gauges";
import { reconcile } from "@mailproof/core/background/reconciler";
import { beginOperation } from "@mailproof/core/money/begin-operation";
import { credits } from "@mailproof/core/money/credits";
import { expect, test } from "vitest";
import { whenWorked } from "../../app/drain-queues.ts";
import { given } from "../../app/given.ts";
import { whenProcessed } from "../../things/jobs.ts";

const NOTHING = {
  dueAgeSeconds: 0,
  heldOverAnHour: 0,
  dueMisplaced: 0,
  clockJumpSeconds: 0,
  resourcesExhausted: 0,
  providersInDoubt: 0,
  mailProvidersBlocked: 0,
};
const MINUTE_MS = 60_000;
const LEASE_MS = 5 * MINUTE_MS;

/** A verification that was paid for and abandoned. */
const setupAbandoned = async () => {
  const ctx = await given({ balance: 10 });
  const { world, account } = ctx;
  const payer = { account, mode: "live" as const, plan: "pro" as const };
  const options = { deepVerify: true, includeAi: true, includeEvidence: false };
  await beginOperation(
    world,
    {
      id: world.newId("job"),
      kind: "verify",
      payer,
      reason: "verify",
      idempotencyKey: null,
      leaseMs: LEASE_MS,
    },
    async () => ({
      price: credits(1),
      input: { email: "ann@x.com", ...options, retentionSeconds: 86_400 },
      expectedMs: 10_000,
    }),
  );
  return ctx;
};

test("an app without work reports no gauge above zero", async () => {
  const { world } = await given({ balance: 10 });

  expect(await readGauges(world)).toEqual(NOTHING);
});

test("abandoned work counts as late from its due time on, and its credits count after an hour", async () => {
  const { world, later } = await setupAbandoned();

  later(LEASE_MS);
  const overdue = await readGauges(world);
  later(10 * MINUTE_MS);
  const late = await readGauges(world);
  later(50 * MINUTE_MS);
  const long = await readGauges(world);

  expect(overdue).toMatchObject({ dueAgeSeconds: 0, heldOverAnHour: 0 });
  expect(late).toMatchObject({ dueAgeSeconds: 600, heldOverAnHour: 0 });
  expect(long).toMatchObject({ dueAgeSeconds: 3600, heldOverAnHour: 1 });
});

test("late-work gauges ignore work that the reconciler repairs in time", async () => {
  const ctx = await setupAbandoned();

  ctx.later(LEASE_MS);
  await reconcile.run(ctx.world);
  await whenWorked(ctx);
  ctx.later(120 * MINUTE_MS);

  expect(await readGauges(ctx.world)).toEqual(NOTHING);
});

test("a list that runs for hours does not count as stuck held credits", async () => {
  const ctx = await given({ balance: 10 });
  await whenProcessed(ctx, ["ann@x.com", "joe@x.com"]);

  ctx.later(90 * MINUTE_MS);

  expect((await readGauges(ctx.world)).heldOverAnHour).toBe(0);
});

import { openAccount } from "@mailproof/core/accounts/accounts";
import { audit } from "@mailproof/core/background/audit";
import { credits } from "@mailproof/core/money/credits";
import { expect, test } from "vitest";
import { withDnsLookups } from "../app/dns-lookups.ts";
import { whenReconciled } from "../app/drain-queues.ts";
import {
  createStoppingWorld,
  runTurn,
  withLostReplies,
  withUnreadable,
} from "../app/faulty-worlds.ts";
import { given } from "../app/given.ts";
import { listMoves, listStoredItems, readCredits } from "../app/ledger.ts";
import { whenChecked, whenVerified } from "../app/send.ts";

const DAY_MS = 86_400_000;
/** After this the request that began counts as abandoned. */
const LEASE_MS = 20_000;
const site = { domain: "example.com" };

/** A request whose process stops right after it has taken the money. */
const givenAbandoned = async (idempotencyKey: string | undefined, balance = 10) => {
  const ctx = await given({ balance });
  const { world, goOn } = createStoppingWorld(ctx, 1);
  const first = whenChecked(world, ctx.liveKey, site, idempotencyKey);
  await runTurn();
  return { ...ctx, first, goOn };
};

test("a repeated check answers 200 with the original check and its credits_remaining, and costs nothing", async () => {
  const ctx = await given({ balance: 25 });
  const { world, liveKey } = ctx;
  const first = await whenChecked(world, liveKey, site, "k");
  await whenVerified(world, liveKey, { email: "ann@x.com" });

  const repeat = await whenChecked(world, liveKey, site, "k");

  expect(repeat.statusCode).toBe(200);
  expect(repeat.data).toEqual({
    ...first.data,
    credits_used: 0,
    credits_remaining: 15,
    idempotent_replay: true,
  });
  expect(repeat.data.cached).toBe(false);
});

test("an Idempotency-Key whose request was answered from the cache replays that result for thirty days", async () => {
  const ctx = await given({ balance: 10 });
  const { world, liveKey, later } = ctx;
  const bought = await whenChecked(world, liveKey);
  const cached = await whenChecked(world, liveKey, site, "k");
  later(29 * DAY_MS);

  const repeat = await whenChecked(world, liveKey, site, "k");

  expect(cached.data).toMatchObject({ cached: true, credits_used: 0 });
  expect(cached.data).not.toHaveProperty("idempotent_replay");
  expect(repeat.data).toEqual({ ...cached.data, idempotent_replay: true });
  expect(repeat.data.check_id).toBe(bought.data.check_id);
  expect(listMoves(ctx)).toEqual(["hold 10", "settle 10"]);
});

test("an Idempotency-Key buys a new check after thirty days", async () => {
  const { world, liveKey, later } = await given({ balance: 20 });
  await whenChecked(world, liveKey, site, "k");
  later(30 * DAY_MS);

  expect((await whenChecked(world, liveKey, site, "k")).data).toMatchObject({ credits_used: 10 });
});

test.each([
  ["another domain", { domain: "example.org" }],
  ["another sending address", { ...site, sending_ip: "192.0.2.9" }],
  ["refresh", { ...site, refresh: true }],
])("reusing a check's key with %s answers 409 and charges nothing", async (_, body) => {
  const ctx = await given({ balance: 30 });
  await whenChecked(ctx.world, ctx.liveKey, site, "k");
  const before = listStoredItems(ctx);

  const refused = await whenChecked(ctx.world, ctx.liveKey, body, "k");

  expect(refused).toMatchObject({ statusCode: 409, error: { code: "IDEMPOTENCY_KEY_CONFLICT" } });
  expect(refused.error.message).toMatch(/Nothing was charged\.$/);
  expect(listStoredItems(ctx)).toEqual(before);
});

test("the same key text counts as another key on another route, in another account and in test mode", async () => {
  const { world, liveKey, testKey } = await given({ balance: 30 });
  const bo = await openAccount(world, { name: "Bo", plan: "pro", opening: credits(10) });
  await whenVerified(world, liveKey, { email: "ann@x.com" }, "k");

  const response = [];
  for (const key of [liveKey, bo.liveKey, testKey])
    response.push(await whenChecked(world, key, site, "k"));

  expect(response.map(({ data }) => data.idempotent_replay ?? false)).toEqual([
    false,
    false,
    false,
  ]);
  expect(response.map(({ data }) => data.credits_used)).toEqual([10, 10, 0]);
});

test("a repeated check during the first request checks without a charge, and both return one check", async () => {
  const ctx = await givenAbandoned("k");
  ctx.later(1_500);

  const early = await whenChecked(ctx.world, ctx.liveKey, site, "k");
  ctx.goOn();
  const late = await ctx.first;

  expect(early).toMatchObject({
    statusCode: 200,
    data: { credits_used: 0, idempotent_replay: true },
  });
  expect(late).toMatchObject({ statusCode: 200, data: { credits_used: 10 } });
  expect(late.data.check_id).toBe(early.data.check_id);
  expect(late.data).not.toHaveProperty("idempotent_replay");
  expect(listMoves(ctx)).toEqual(["hold 10", "settle 10"]);
});

test("a repeated check without any DNS reply refunds the charge once, and the first request answers 503", async () => {
  const ctx = await givenAbandoned("k");
  const silent = withDnsLookups(ctx.world, async () => ({ kind: "timeout" }));

  const early = await whenChecked(silent, ctx.liveKey, site, "k");
  ctx.goOn();
  const late = await ctx.first;

  expect(early).toMatchObject({ statusCode: 503, error: { code: "UNAVAILABLE" } });
  expect(late).toMatchObject({ statusCode: 503, error: { code: "UNAVAILABLE" } });
  expect(listMoves(ctx)).toEqual(["hold 10", "release 10"]);
});

test("a repeated check completes a paid check that was never stored, without a charge and at any balance", async () => {
  const ctx = await givenAbandoned("k");
  ctx.later(LEASE_MS);

  const repeat = await whenChecked(ctx.world, ctx.liveKey, site, "k");

  expect(repeat).toMatchObject({
    statusCode: 200,
    data: { score: 100, credits_used: 0, idempotent_replay: true },
  });
  // What the first request's charge left is not known, and the balance is another figure.
  expect(repeat.data).not.toHaveProperty("credits_remaining");
  expect(listMoves(ctx)).toEqual(["hold 10", "settle 10"]);
});

test("a repeated check completes its own paid check before it reads the cache", async () => {
  const ctx = await givenAbandoned("k", 20);
  const other = await whenChecked(ctx.world, ctx.liveKey);
  ctx.later(LEASE_MS);

  const repeat = await whenChecked(ctx.world, ctx.liveKey, site, "k");

  expect(repeat.data).toMatchObject({ cached: false, idempotent_replay: true });
  expect(repeat.data.check_id).not.toBe(other.data.check_id);
  expect(await readCredits(ctx)).toMatchObject({ held: 0, spent: 20 });
});

test("the reconciler refunds an abandoned check without any DNS reply, and frees its key", async () => {
  const ctx = await givenAbandoned("k");
  ctx.later(LEASE_MS);
  const silent = withDnsLookups(ctx.world, async () => ({ kind: "timeout" }));
  await whenReconciled({ world: silent });

  const bought = await whenChecked(ctx.world, ctx.liveKey, site, "k");

  expect(bought.data).toMatchObject({ credits_used: 10 });
  expect(listMoves(ctx)).toEqual(["hold 10", "release 10", "hold 10", "settle 10"]);
});

test("fifty racing requests with one key charge once and return one check", async () => {
  const ctx = await given({ balance: 100 });

  const answers = await Promise.all(
    Array.from({ length: 50 }, () => whenChecked(ctx.world, ctx.liveKey, site, "k")),
  );

  const response = answers.filter(({ statusCode }) => statusCode === 200);
  expect(response).toHaveLength(50);
  expect(listMoves(ctx)).toEqual(["hold 10", "settle 10"]);
  expect(new Set(response.map(({ data }) => data.check_id)).size).toBe(1);
  expect(answers.filter(({ data }) => data?.credits_used === 10)).toHaveLength(1);
});

test("the service never refunds a refunded attempt twice, and its key buys a new check", async () => {
  const ctx = await given({ balance: 20 });
  const { world, liveKey } = ctx;
  const silent = withDnsLookups(world, async () => ({ kind: "timeout" }));
  const failed = await Promise.all([
    whenChecked(silent, liveKey, site, "k"),
    whenChecked(silent, liveKey, site, "k"),
  ]);

  const bought = await whenChecked(world, liveKey, site, "k");

  expect(failed.map(({ statusCode }) => statusCode)).toContain(503);
  expect(bought.data).toMatchObject({ credits_used: 10, credits_remaining: 10 });
  expect(await audit(ctx.table, world.now())).toMatchObject({ ok: true });
  expect(await readCredits(ctx)).toMatchObject({ available: 10, held: 0, spent: 10 });
});

test("a check whose write has no reply reports an unknown outcome, and a repeated check returns its result", async () => {
  const ctx = await given({ balance: 10 });
  const deaf = withLostReplies(ctx, ctx.world, 2, true);
  const unanswered = await whenChecked(deaf, ctx.liveKey, site, "k");

  const repeat = await whenChecked(ctx.world, ctx.liveKey, site, "k");

  expect(unanswered).toMatchObject({ statusCode: 503, error: { code: "UNAVAILABLE" } });
  expect(repeat.data).toMatchObject({ idempotent_replay: true, credits_used: 0 });
  expect(listMoves(ctx)).toEqual(["hold 10", "settle 10"]);
});

test("the response states credits_remaining when the balance read fails after the charge, and on a repeat", async () => {
  const ctx = await given({ balance: 10 });
  // The first read is the debit's own.
  const world = withUnreadable(ctx, "BALANCE#", 1);

  const { data } = await whenChecked(world, ctx.liveKey, site, "k");
  const repeat = await whenChecked(ctx.world, ctx.liveKey, site, "k");

  expect(data).toMatchObject({ credits_used: 10, credits_remaining: 0 });
  expect(repeat.data).toMatchObject({ credits_used: 0, credits_remaining: 0 });
});

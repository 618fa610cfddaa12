import { openAccount } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import { expect, test } from "vitest";
import { whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { createStoppingWorld, runTurn, withBrokenEngine } from "../app/faulty-worlds.ts";
import { given, givenKey } from "../app/given.ts";
import { listMoves, listStoredItems, readCredits, thenConsistent } from "../app/ledger.ts";
import { whenVerified } from "../app/send.ts";
import { asRows } from "../runner/as-rows.ts";

const DAY_MS = 86_400_000;
const ann = { email: "ann@x.com" };

/** A request whose process stops right after it has taken the money. */
const givenAbandoned = async (body: unknown = ann) => {
  const ctx = await given({ balance: 10 });
  const { world, goOn } = createStoppingWorld(ctx, 1);
  const first = whenVerified(world, ctx.liveKey, body, "k");
  await runTurn();
  return { ...ctx, first, goOn };
};

test("a repeated verification returns the same response with idempotent_replay and costs nothing", async () => {
  const ctx = await given({ balance: 10 });
  const first = await whenVerified(ctx.world, ctx.liveKey, ann, "k");
  ctx.later(DAY_MS);

  const repeat = await whenVerified(ctx.world, ctx.liveKey, ann, "k");

  expect(first.data).not.toHaveProperty("idempotent_replay");
  expect(repeat.statusCode).toBe(200);
  expect(repeat.data).toEqual({ ...first.data, credits_used: 0, idempotent_replay: true });
  expect(listMoves(ctx)).toEqual(["hold 1", "settle 1"]);
});

test("a repeated verification succeeds with an empty balance", async () => {
  const { world, liveKey } = await given({ balance: 1 });
  await whenVerified(world, liveKey, ann, "k");

  expect((await whenVerified(world, liveKey, ann, "k")).statusCode).toBe(200);
  expect((await whenVerified(world, liveKey, ann, "another")).statusCode).toBe(402);
});

test("a repeat of a pending verification returns the same job, even after the job's end", async () => {
  const ctx = await given({ balance: 10 });
  const { world, liveKey } = ctx;
  const first = await whenVerified(world, liveKey, { email: "slow@x.com" }, "k");
  await whenWorked(ctx);

  const repeat = await whenVerified(world, liveKey, { email: "slow@x.com" }, "k");

  expect(repeat.data).toEqual({ ...first.data, credits_used: 0, idempotent_replay: true });
  expect(listMoves(ctx)).toEqual(["hold 1", "settle 1"]);
});

test.each([
  ["ai and evidence", { include_ai: true, include_evidence: true }],
  ["neither", { include_ai: false, include_evidence: false }],
])("a replay with %s equals the first response", async (_case, options) => {
  const { world, liveKey } = await given({ balance: 10 });
  const body = { ...ann, options };
  const first = await whenVerified(world, liveKey, body, "k");

  const { data } = await whenVerified(world, liveKey, body, "k");

  expect(data).toEqual({ ...first.data, credits_used: 0, idempotent_replay: true });
});

test("a request that states the defaults in any order equals the request without them", async () => {
  const { world, liveKey } = await given({ balance: 10 });
  const named = {
    options: { timeout_ms: 10_000, include_evidence: false, include_ai: true, deep_verify: true },
    include_activity: false,
    ...ann,
  };
  await whenVerified(world, liveKey, ann, "k");

  expect((await whenVerified(world, liveKey, named, "k")).data.idempotent_replay).toBe(true);
});

test("a request with another timeout_ms counts as the same request", async () => {
  const ctx = await given({ balance: 10 });
  await whenVerified(ctx.world, ctx.liveKey, { ...ann, options: { timeout_ms: 9_000 } }, "k");

  const repeats = [
    await whenVerified(ctx.world, ctx.liveKey, { ...ann, options: { timeout_ms: 100 } }, "k"),
    await whenVerified(ctx.world, ctx.liveKey, ann, "k"),
  ];

  expect(repeats.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
  expect(repeats.map(({ data }) => data.idempotent_replay)).toEqual([true, true]);
  expect(listMoves(ctx)).toEqual(["hold 1", "settle 1"]);
});

test.each([
  ["another address", { email: "bo@x.com" }],
  ["another letter case", { email: "Ann@x.com" }],
  ["another option", { ...ann, options: { include_ai: false } }],
  ["include_activity", { ...ann, include_activity: true }],
])("reusing a verification's key with %s answers 409 and charges nothing", async (_case, body) => {
  const ctx = await given({ balance: 10 });
  await whenVerified(ctx.world, ctx.liveKey, ann, "k");
  const before = listStoredItems(ctx);

  const refused = await whenVerified(ctx.world, ctx.liveKey, body, "k");

  expect(refused).toMatchObject({ statusCode: 409, error: { code: "IDEMPOTENCY_KEY_CONFLICT" } });
  expect(refused.error.message).toMatch(/Nothing was charged\.$/);
  expect(refused.error).not.toHaveProperty("retryable");
  expect(listStoredItems(ctx)).toEqual(before);
});

test.each(asRows`
  one character | k
  255 characters | ${"k".repeat(255)}
  every printable character | ${Array.from({ length: 94 }, (_, n) => String.fromCharCode(33 + n)).join("")}
`)("a verification accepts an Idempotency-Key of %s", async (_case, key) => {
  const { world, liveKey } = await given({ balance: 10 });
  await whenVerified(world, liveKey, ann, key);

  expect((await whenVerified(world, liveKey, ann, key)).data.idempotent_replay).toBe(true);
});

test.each([
  ["zero characters", ""],
  ["256 characters", "k".repeat(256)],
  ["a space", "a b"],
  ["a tab", "a\tb"],
  ["the header sent twice", "a, b"],
  ["a letter beyond ASCII", "clé"],
  ["a control character", "a\u007f"],
])(
  "a verification with an Idempotency-Key of %s answers 400 INVALID_IDEMPOTENCY_KEY and stores nothing",
  async (_case, key) => {
    const ctx = await given({ balance: 10 });
    const before = listStoredItems(ctx);

    const refused = await whenVerified(ctx.world, ctx.liveKey, ann, key);

    expect(refused).toMatchObject({ statusCode: 400, error: { code: "INVALID_IDEMPOTENCY_KEY" } });
    expect(listStoredItems(ctx)).toEqual(before);
  },
);

test("Idempotency-Keys differ by letter case", async () => {
  const ctx = await given({ balance: 10 });
  await whenVerified(ctx.world, ctx.liveKey, ann, "k");
  await whenVerified(ctx.world, ctx.liveKey, ann, "K");

  expect(listMoves(ctx)).toEqual(["hold 1", "settle 1", "charge 0.5"]);
});

test("an Idempotency-Key counts separately in each account and each mode", async () => {
  const { world, account, liveKey, testKey } = await given({ balance: 10 });
  const bo = await openAccount(world, { name: "Bo", plan: "pro", opening: credits(10) });
  await whenVerified(world, liveKey, ann, "k");
  const another = await givenKey(world, account, { scopes: ["verification:write"] });

  const replays = [];
  for (const key of [bo.liveKey, testKey, another])
    replays.push((await whenVerified(world, key, ann, "k")).data.idempotent_replay ?? false);

  expect(replays).toEqual([false, false, true]);
});

test("the service remembers an Idempotency-Key for thirty days and then accepts it as new", async () => {
  const ctx = await given({ balance: 10 });
  const { world, liveKey, later } = ctx;
  await whenVerified(world, liveKey, ann, "k");
  later(30 * DAY_MS - 1_000);
  expect((await whenVerified(world, liveKey, ann, "k")).data.idempotent_replay).toBe(true);
  later(1_000);

  const { data } = await whenVerified(world, liveKey, { email: "bo@x.com" }, "k");

  expect(data).toMatchObject({ email: "bo@x.com", credits_used: 1 });
  expect(listMoves(ctx)).toEqual(["hold 1", "settle 1", "hold 1", "settle 1"]);
});

test("a failure on our side refunds the credit and frees the key, which then buys again", async () => {
  const ctx = await given({ balance: 10 });
  const { world, liveKey } = ctx;
  const failed = await whenVerified(withBrokenEngine(ctx), liveKey, ann, "k");

  const bought = await whenVerified(world, liveKey, ann, "k");
  const replayed = await whenVerified(world, liveKey, ann, "k");

  expect(failed).toMatchObject({ statusCode: 500 });
  expect(failed.error.message).toMatch(/The charge was refunded\.$/);
  expect([bought.data.credits_used, replayed.data.credits_used]).toEqual([1, 0]);
  expect(listMoves(ctx)).toEqual(["hold 1", "release 1", "hold 1", "settle 1"]);
});

test("a repeated verification during the first request answers 409 with Retry-After", async () => {
  const ctx = await givenAbandoned();
  ctx.later(1_500);

  const early = await whenVerified(ctx.world, ctx.liveKey, ann, "k");
  ctx.goOn();
  await ctx.first;
  const late = await whenVerified(ctx.world, ctx.liveKey, ann, "k");

  expect(early).toMatchObject({
    statusCode: 409,
    headers: { "retry-after": "9" },
    error: { code: "REQUEST_IN_PROGRESS", retryable: true },
  });
  expect(late.data).toMatchObject({ status: "valid", idempotent_replay: true });
  expect(listMoves(ctx)).toEqual(["hold 1", "settle 1"]);
});

test("Retry-After covers the rest of the request's own wait and then of its lease", async () => {
  const body = { ...ann, options: { timeout_ms: 7_000 } };
  const ctx = await givenAbandoned(body);
  const waits: number[] = [];
  const repeat = () => whenVerified(ctx.world, ctx.liveKey, body, "k");

  let response = await repeat();
  for (; response.statusCode === 409; response = await repeat()) {
    waits.push(Number(response.headers["retry-after"]));
    ctx.later((waits.at(-1) ?? 0) * 1_000);
  }

  // The wait is 7 s, the lease 22 s: then the repeat takes the request over, for what was paid already.
  expect(waits).toEqual([7, 4, 6, 5]);
  expect(response).toMatchObject({ statusCode: 200, data: { status: "valid" } });
  expect(listMoves(ctx)).toEqual(["hold 1", "settle 1"]);
});

test("a request that resumes after a takeover changes nothing and answers 503", async () => {
  const ctx = await givenAbandoned();
  ctx.later(25_000);
  await whenVerified(ctx.world, ctx.liveKey, ann, "k");
  const before = listStoredItems(ctx);

  ctx.goOn();
  const late = await ctx.first;

  expect(late).toMatchObject({ statusCode: 503, error: { code: "UNAVAILABLE" } });
  expect(late.error.message).toMatch(
    /Retry with the same Idempotency-Key; it will not be charged twice\.$/,
  );
  expect(listStoredItems(ctx)).toEqual(before);
});

test("a request that the reconciler continued is replayed as pending", async () => {
  const ctx = await givenAbandoned();
  ctx.later(25_000);
  await whenReconciled(ctx);

  const repeat = await whenVerified(ctx.world, ctx.liveKey, ann, "k");
  await whenWorked(ctx);

  expect(repeat.data).toMatchObject({ status: "pending", job_id: "job_1", credits_used: 0 });
  expect(listMoves(ctx)).toEqual(["hold 1", "settle 1"]);
});

test("a repeated verification ends an abandoned request at its paid price when the cache has the result", async () => {
  const ctx = await givenAbandoned();
  await whenVerified(ctx.world, ctx.liveKey, ann);
  ctx.later(25_000);

  const answered = await whenVerified(ctx.world, ctx.liveKey, ann, "k");

  expect(answered.statusCode).toBe(200);
  expect(await readCredits(ctx)).toMatchObject({ available: 8, held: 0, spent: 2 });
  await thenConsistent(ctx);
});

test("a refused request leaves its Idempotency-Key free", async () => {
  const { world, liveKey } = await given({ balance: 10 });
  const wrong = await whenVerified(world, liveKey, { email: "ann@x.com", option: {} }, "k");

  const right = await whenVerified(world, liveKey, ann, "k");

  expect([wrong.statusCode, right.statusCode]).toEqual([400, 200]);
  expect(right.data).not.toHaveProperty("idempotent_replay");
});

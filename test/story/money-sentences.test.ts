import { endpoints } from "@mailproof/api/endpoints";
import type { MoneyOutcome } from "@mailproof/core/lib/failure";
import { describe, expect, test } from "vitest";
import { whenQuiet, whenWorked } from "../app/drain-queues.ts";
import {
  getWorld,
  rejectDown,
  withBrokenEngine,
  withSlowEngine,
  withTable,
  withUnreadable,
} from "../app/faulty-worlds.ts";
import { given } from "../app/given.ts";
import { readCredits, thenConsistent } from "../app/ledger.ts";
import { send, whenVerified } from "../app/send.ts";
import type { TestContext } from "../things/jobs.ts";
import {
  BOTH_INTERNAL,
  BOTH_UNAVAILABLE,
  BY_KEY,
  beforeTheLookUp,
  createBothWays,
  createLostReply,
  createTooLarge,
  type Failing,
  listLedgerFailures,
  listRequestFailures,
  type TestRequest,
  WITHOUT_AND_WITH,
  whenOvertaken,
  whenStopped,
} from "./failing.ts";
import { CHECK, CHECK_READ, CHECKS, HISTORY, requestCheck } from "./failing-checks.ts";
import { FIND, requestFind } from "./failing-find.ts";
import { BATCH, FILE, requestBatch, requestFile } from "./failing-jobs.ts";

// Goal: the last sentence of every failure, which says what happened to the money, is true.
// Method: each way to fail is provoked, and the ledger is asked, once whatever was broken works again.

/** After this a request that stopped counts as abandoned. */
const LEASE_MS = 25_000;
const ann = { email: "ann@x.com" };

const verified: TestRequest = (world, { liveKey }, idempotencyKey) =>
  whenVerified(world, liveKey, ann, idempotencyKey);

const either = createBothWays(verified);

const VERIFY: readonly Failing[] = [
  ...listRequestFailures("POST /v1/verify"),
  createTooLarge("POST /v1/verify"),
  ...beforeTheLookUp(verified),
  {
    what: "an unknown field",
    code: "INVALID_REQUEST",
    when: ({ world, liveKey }) => whenVerified(world, liveKey, { ...ann, x: 1 }),
  },
  {
    what: "an Idempotency-Key with a space",
    code: "INVALID_IDEMPOTENCY_KEY",
    when: ({ world, liveKey }) => whenVerified(world, liveKey, ann, "a b"),
  },
  {
    what: "another request's Idempotency-Key",
    code: "IDEMPOTENCY_KEY_CONFLICT",
    given: ({ world, liveKey }) => whenVerified(world, liveKey, { email: "bo@x.com" }, "k"),
    when: ({ world, liveKey }) => whenVerified(world, liveKey, ann, "k"),
  },
  {
    what: "a result that was erased",
    code: "RESULT_DELETED",
    given: async ({ world, liveKey: key }) => {
      await whenVerified(world, key, ann, "k");
      await send(world, "DELETE /v1/data", { key, query: ann });
    },
    when: ({ world, liveKey }) => whenVerified(world, liveKey, ann, "k"),
  },
  {
    what: "a request that is under way",
    code: "REQUEST_IN_PROGRESS",
    given: (ctx) => whenStopped(ctx, verified, "k"),
    when: ({ world, liveKey }) => whenVerified(world, liveKey, ann, "k"),
  },
  {
    what: "too few credits",
    code: "INSUFFICIENT_CREDITS",
    given: async ({ world, liveKey }) => {
      for (let n = 0; n < 10; n++) await whenVerified(world, liveKey, { email: `bo${n}@x.com` });
    },
    when: ({ world, liveKey }) => whenVerified(world, liveKey, ann),
  },
  {
    what: "an abandoned request that cannot be looked up",
    code: "UNAVAILABLE",
    given: (ctx) => whenStopped(ctx, verified, "k"),
    when: (ctx) => whenVerified(withUnreadable(ctx, "OPERATION#"), ctx.liveKey, ann, "k"),
  },
  {
    what: "an Idempotency-Key that cannot be looked up",
    code: "UNAVAILABLE",
    when: (ctx) => whenVerified(withUnreadable(ctx, "CLAIM#"), ctx.liveKey, ann, "k"),
  },
  ...either("results of the day that cannot be read", BOTH_UNAVAILABLE, (ctx) =>
    withUnreadable(ctx, "CACHED#"),
  ),
  ...listLedgerFailures(either),
  ...createLostReply(either)("the payment", BY_KEY, getWorld, 1),
  ...either("something that breaks on our side", BOTH_INTERNAL, withBrokenEngine),
  {
    what: "a failure of ours under a test key",
    code: "INTERNAL",
    when: ({ world, testKey }) => whenVerified(world, testKey, { email: "error@x.com" }),
  },
  ...createLostReply(either)("the refund", BOTH_INTERNAL, withBrokenEngine, 2),
  ...createLostReply(either)("the handing over to a job", BY_KEY, withSlowEngine, 2),
  // Without a key the response is the same: there is nothing to repeat.
  ...createLostReply(either)("the settlement", BY_KEY, getWorld, 2).filter(
    ({ code }) => code !== "INTERNAL",
  ),
  ...WITHOUT_AND_WITH.map(([how, key], at) => ({
    what: `work that another request continued${how}`,
    code: BY_KEY[at] ?? "",
    when: (ctx: TestContext) => whenOvertaken(ctx, verified, LEASE_MS, key),
  })),
  ...either("a queue that breaks", BOTH_INTERNAL, (ctx) => ({
    ...withSlowEngine(ctx),
    queue: { ...ctx.queue, sendMany: rejectDown },
  })),
];

const meaningless = (route: string, field: string): Failing => ({
  what: `a malformed ${field}`,
  code: "INVALID_REQUEST",
  when: ({ world, liveKey: key }) => send(world, route, { key, query: { [field]: "-1" } }),
});

const LIST = "GET /v1/jobs";
const JOBS: readonly Failing[] = [
  ...listRequestFailures(LIST),
  ...["limit", "status", "offset"].map((field) => meaningless(LIST, field)),
  {
    what: "a list that cannot be read",
    code: "INTERNAL",
    when: (ctx) => send(withTable(ctx, { query: rejectDown }), LIST, { key: ctx.liveKey }),
  },
];

const ONE = "GET /v1/jobs/job_1";
const givenJob = async (ctx: TestContext): Promise<void> => {
  await whenVerified(ctx.world, ctx.liveKey, { email: "slow@x.com" });
  await whenWorked(ctx);
};

const failingAtOne: readonly Failing[] = [
  ...listRequestFailures(ONE),
  ...["limit", "next_key"].map((field) => meaningless(ONE, field)),
  {
    what: "an unknown job",
    code: "NOT_FOUND",
    when: ({ world, liveKey: key }) => send(world, "GET /v1/jobs/job_9", { key }),
  },
  {
    what: "a job that cannot be read",
    code: "INTERNAL",
    when: (ctx) => send(withUnreadable(ctx, "JOB#"), ONE, { key: ctx.liveKey }),
  },
  {
    what: "results that cannot be read",
    code: "INTERNAL",
    when: (ctx) => send(withTable(ctx, { query: rejectDown }), ONE, { key: ctx.liveKey }),
  },
];
const JOB = failingAtOne.map((failing) => ({ ...failing, given: givenJob }));

/** The credits that are spent by now, or held. */
const readPaid = async (ctx: TestContext): Promise<number> => {
  const { held, spent } = await readCredits(ctx);
  return held + spent;
};

const thenAsBefore = async (ctx: TestContext, paidBefore: number): Promise<void> => {
  expect(await readPaid(ctx)).toBe(paidBefore);
  await whenQuiet(ctx);
  expect(await readPaid(ctx)).toBe(paidBefore);
};

/** What a route sells: its price, and how many a caller finds after an unknown outcome. */
type Sold = {
  readonly repeat: TestRequest;
  readonly price: number;
  readonly found: (ctx: TestContext) => Promise<number>;
};

type Truth = (
  ctx: TestContext,
  before: { readonly paid: number; readonly refunded: number },
  sold: Sold,
) => Promise<void>;

const asFound: Truth = async (ctx, _before, { found, price }) => {
  await whenQuiet(ctx);
  expect(await readPaid(ctx)).toBe((await found(ctx)) * price);
};

const repeatForOnePrice: Truth = async (ctx, _before, { repeat, price }) => {
  ctx.later(60_000);
  expect(await repeat(ctx.world, ctx, "k")).not.toHaveProperty("error");
  await whenQuiet(ctx);
  expect(await readPaid(ctx)).toBe(price);
};

/** Each sentence, the word for it that programs read, and how the ledger shows that it was true. */
const SENTENCES: Readonly<Record<string, readonly [money: MoneyOutcome, truth: Truth]>> = {
  "Nothing was charged.": [
    "nothing_charged",
    async (ctx, before) => {
      expect((await readCredits(ctx)).refunded).toBe(before.refunded);
      await thenAsBefore(ctx, before.paid);
    },
  ],
  "Nothing more was charged.": [
    "nothing_more",
    async (ctx, before) => {
      expect((await readCredits(ctx)).refunded).toBe(before.refunded);
      await thenAsBefore(ctx, before.paid);
    },
  ],
  "The charge was refunded.": [
    "refunded",
    async (ctx, before, { price }) => {
      expect((await readCredits(ctx)).refunded).toBe(before.refunded + price);
      await thenAsBefore(ctx, before.paid);
    },
  ],
  "Retry with the same Idempotency-Key; it will not be charged twice.": [
    "retry_same_key",
    repeatForOnePrice,
  ],
  "The same search sent again within its two minutes will not be charged twice.": [
    "repeat_search",
    repeatForOnePrice,
  ],
  "Do not assume a refund; check GET /v1/jobs before sending this again.": ["unknown", asFound],
  "Do not assume a refund; check GET /v1/deliverability/checks before sending this again.": [
    "unknown",
    asFound,
  ],
};

/** Before its last sentence a message says nothing about the money: two sentences could contradict each other. */
const MONEY_WORDS = /charg|refund|readPaid|pay again|costs nothing/i;

const jobsFound = async ({ world, liveKey: key }: TestContext): Promise<number> => {
  const { data } = await send(world, LIST, { key });
  return data.jobs.filter(({ status }: { status: string }) => status !== "failed").length;
};

const checksFound = async ({ world, liveKey: key }: TestContext): Promise<number> =>
  (await send(world, HISTORY, { key })).data.total;

const job = (repeat: TestRequest): Sold => ({ repeat, price: 1, found: jobsFound });
/** No search has an unknown outcome, so none is looked for. */
const search: Sold = { repeat: requestFind, price: 5, found: jobsFound };
const check: Sold = { repeat: requestCheck, price: 10, found: checksFound };

describe.each([
  ["POST /v1/verify", VERIFY, job(verified)],
  ["POST /v1/verify/batch", BATCH, job(requestBatch)],
  ["POST /v1/verify/file", FILE, job(requestFile)],
  ["POST /v1/find", FIND, search],
  ["GET /v1/jobs", JOBS, job(verified)],
  ["GET /v1/jobs/{id}", JOB, job(verified)],
  ["POST /v1/deliverability/check", CHECK, check],
  ["GET /v1/deliverability/checks", CHECKS, check],
  ["GET /v1/deliverability/checks/{id}", CHECK_READ, check],
] as const)("%s", (route, failings, sold) => {
  test.each(failings)(
    "the route answers $code with a true sentence about the money for $what",
    async (failing) => {
      const ctx = await given({ balance: 10 });
      await failing.given?.(ctx);
      const before = { paid: await readPaid(ctx), refunded: (await readCredits(ctx)).refunded };

      const { error } = await failing.when(ctx);

      expect(error?.code).toBe(failing.code);
      const covered = Object.keys(SENTENCES).filter((sentence) =>
        error.message.endsWith(` ${sentence}`),
      );
      expect(covered, `${error.message}`).toHaveLength(1);
      const [money, truth] = SENTENCES[covered[0] ?? ""] ?? [];
      expect(error.money).toBe(money);
      expect([money, undefined]).toContain(failing.money);
      expect(error.message.slice(0, -(covered[0] ?? "").length)).not.toMatch(MONEY_WORDS);
      await truth?.(ctx, before, { ...sold, repeat: failing.repeat ?? sold.repeat });
      await thenConsistent(ctx);
    },
  );

  test("the cases provoke each error code that the route declares", () => {
    const declared = endpoints.find((one) => one.route === route)?.errors ?? [];

    expect([...new Set(failings.map(({ code }) => code))].toSorted()).toEqual(declared.toSorted());
  });
});

import { BODY_BYTES_MAX, bodyTooLarge } from "@mailproof/api/http/body";
import type { AppWorld } from "@mailproof/core/app-world";
import type { MoneyOutcome } from "@mailproof/core/lib/failure";
import type { TransactResult } from "@mailproof/core/ports/table";
import { whenReconciled } from "../app/drain-queues.ts";
import {
  createStoppingWorld,
  rejectDown,
  runTurn,
  withLostReplies,
  withTable,
  withUnreadable,
} from "../app/faulty-worlds.ts";
import { givenKey } from "../app/given.ts";
import { send, type TestResponse } from "../app/send.ts";
import type { TestContext } from "../things/jobs.ts";

// Ways to fail, each as what is out of order, what is reported then, and how it comes about.

export type Failing = {
  readonly what: string;
  readonly code: string;
  readonly given?: (ctx: TestContext) => Promise<unknown>;
  readonly when: (ctx: TestContext) => Promise<TestResponse>;
  /** Where only one word for the money will do. */
  readonly money?: MoneyOutcome;
  /** What is sent again, where it is not what the route is sold as. */
  readonly repeat?: TestRequest;
};

const denyRateLimit = async () =>
  ({ allowed: false, by: "key", limit: 1, remaining: 0, resetAt: 1_795_219_260 }) as const;

/** What any route behind a key answers before it does anything. */
export const listRequestFailures = (route: string): readonly Failing[] => [
  { what: "no key", code: "UNAUTHORIZED", when: ({ world }) => send(world, route) },
  {
    what: "a key without the scope",
    code: "FORBIDDEN",
    when: async ({ world, account }) =>
      send(world, route, { key: await givenKey(world, account, { scopes: ["account:read"] }) }),
  },
  {
    what: "a request beyond the limit",
    code: "RATE_LIMITED",
    when: ({ world, liveKey: key }) => send({ ...world, rateLimit: denyRateLimit }, route, { key }),
  },
  {
    what: "a request that cannot be counted",
    code: "UNAVAILABLE",
    when: ({ world, liveKey: key }) => send({ ...world, rateLimit: rejectDown }, route, { key }),
  },
  {
    what: "a key that cannot be looked up",
    code: "UNAVAILABLE",
    when: (ctx) => send(withTable(ctx, { get: rejectDown }), route, { key: ctx.liveKey }),
  },
];

export const createTooLarge = (route: string): Failing => ({
  what: "a body that is too large",
  code: "PAYLOAD_TOO_LARGE",
  when: ({ world, liveKey: key }) =>
    send(world, route, { key, readBody: () => Promise.reject(bodyTooLarge(BODY_BYTES_MAX)) }),
});

/**
 * What refuses a repeat before its Idempotency-Key is looked up. The first request was charged; the answer to the
 * second may not say otherwise, nor let its caller send a third under another key.
 */
export const beforeTheLookUp = (
  ask: TestRequest,
  given: (ctx: TestContext) => Promise<unknown> = async () => undefined,
): readonly Failing[] => {
  const repeat = (
    what: string,
    code: string,
    when: (ctx: TestContext) => Promise<TestResponse>,
    money: MoneyOutcome = "retry_same_key",
  ): Failing => ({
    what: `${what} at a repeat`,
    code,
    given: async (ctx) => {
      await given(ctx);
      await ask(ctx.world, ctx, "k");
    },
    when,
    money,
    repeat: ask,
  });
  const inWorld = (more: (ctx: TestContext) => Partial<AppWorld>) => (ctx: TestContext) =>
    ask({ ...ctx.world, ...more(ctx) }, ctx, "k");
  const withKey = (make: (ctx: TestContext) => Promise<string>) => async (ctx: TestContext) =>
    ask(ctx.world, { ...ctx, liveKey: await make(ctx) }, "k");
  return [
    repeat(
      "pressure",
      "UNAVAILABLE",
      inWorld(() => ({ pressure: () => "event_loop_late" })),
    ),
    repeat(
      "a process that is stopping",
      "UNAVAILABLE",
      inWorld(() => ({ stopping: AbortSignal.abort() })),
    ),
    repeat(
      "a damaged state",
      "UNAVAILABLE",
      inWorld(() => ({ damagedParts: () => new Set(["x"]) })),
    ),
    repeat(
      "a request beyond the limit",
      "RATE_LIMITED",
      inWorld(() => ({ rateLimit: denyRateLimit })),
    ),
    repeat(
      "a request that cannot be counted",
      "UNAVAILABLE",
      inWorld(() => ({ rateLimit: rejectDown })),
    ),
    repeat("a key that cannot be looked up", "UNAVAILABLE", (ctx) =>
      ask(withTable(ctx, { get: rejectDown }), ctx, "k"),
    ),
    repeat(
      "a key that is not in force any more",
      "UNAUTHORIZED",
      withKey(async () => "mp_live_x"),
      "nothing_charged",
    ),
    repeat(
      "a key without the scope",
      "FORBIDDEN",
      withKey(({ world, account }) => givenKey(world, account, { scopes: ["account:read"] })),
    ),
  ];
};

/** A request in this world, by the live key of this app. */
export type TestRequest = (
  world: AppWorld,
  ctx: TestContext,
  idempotencyKey?: string,
) => Promise<TestResponse>;

/** A request that stops right after the debit, and what lets it continue. */
export const whenStopped = async (ctx: TestContext, ask: TestRequest, idempotencyKey?: string) => {
  const { world, goOn } = createStoppingWorld(ctx, 1);
  const pendingResponse = ask(world, ctx, idempotencyKey);
  await runTurn();
  return { pendingResponse, goOn };
};

/** Stopped until its lease is over and the reconciler has gone on with it. */
export const whenOvertaken = async (
  ctx: TestContext,
  ask: TestRequest,
  leaseMs: number,
  idempotencyKey?: string,
): Promise<TestResponse> => {
  const { pendingResponse, goOn } = await whenStopped(ctx, ask, idempotencyKey);
  ctx.later(leaseMs);
  await whenReconciled(ctx);
  goOn();
  return pendingResponse;
};

type Codes = readonly [without: string, withOne: string];

export const BOTH_UNAVAILABLE: Codes = ["UNAVAILABLE", "UNAVAILABLE"];
export const BOTH_INTERNAL: Codes = ["INTERNAL", "INTERNAL"];
export const BY_KEY: Codes = ["INTERNAL", "UNAVAILABLE"];

export const WITHOUT_AND_WITH = [
  ["", undefined],
  [", under an Idempotency-Key", "k"],
] as const;

/** One fault, as it is reported without an Idempotency-Key and with one. */
export const createBothWays =
  (ask: TestRequest, before: Pick<Failing, "given" | "repeat"> = {}) =>
  (
    what: string,
    codes: Codes,
    worldOf: (ctx: TestContext) => AppWorld | Promise<AppWorld>,
  ): readonly Failing[] =>
    WITHOUT_AND_WITH.map(([how, key], at) => ({
      ...before,
      what: what + how,
      code: codes[at] ?? "",
      when: async (ctx) => ask(await worldOf(ctx), ctx, key),
    }));

/** No reply comes from one transaction on, whether it was written or not. */
export const createLostReply =
  (either: ReturnType<typeof createBothWays>) =>
  (what: string, codes: Codes, worldOf: (ctx: TestContext) => AppWorld, from: number) =>
    [true, false].flatMap((written) =>
      either(`no reply to ${what}, which was ${written ? "" : "not "}written`, codes, (ctx) =>
        withLostReplies(ctx, worldOf(ctx), from, written),
      ),
    );

/** What can be wrong with the ledger before anything is written to it. */
export const listLedgerFailures = (either: ReturnType<typeof createBothWays>) => [
  ...either("a balance that cannot be read", BOTH_UNAVAILABLE, (ctx) =>
    withUnreadable(ctx, "BALANCE#"),
  ),
  ...either("a payment that cannot be written", BOTH_UNAVAILABLE, (ctx) =>
    withTable(ctx, { transact: rejectDown }),
  ),
  ...either("a balance that changes at every attempt", BOTH_UNAVAILABLE, (ctx) =>
    withTable(ctx, { transact: refuseMoved }),
  ),
];

/** Always refused, and never by what was there first: as if another had moved the balance each time. */
const refuseMoved = async ([first, second = first]: readonly unknown[]) =>
  ({ outcome: "refused", refusedWrite: second }) as TransactResult;

import { whenReconciled } from "../app/drain-queues.ts";
import {
  createStoppingWorld,
  getWorld,
  runTurn,
  withBrokenEngine,
  withLostReplies,
  withUnreadable,
} from "../app/faulty-worlds.ts";
import { whenFound } from "../app/send.ts";
import type { TestContext } from "../things/jobs.ts";
import {
  BOTH_UNAVAILABLE,
  createBothWays,
  createTooLarge,
  type Failing,
  listLedgerFailures,
  listRequestFailures,
  type TestRequest,
} from "./failing.ts";

const ROUTE = "POST /v1/find";
const ann = { first_name: "Ann", last_name: "Lee", domain: "example.com" };

export const requestFind: TestRequest = (world, { liveKey }) => whenFound(world, liveKey, ann);

/** No search has an Idempotency-Key: what is the same either way is listed once. */
const createEither: ReturnType<typeof createBothWays> = (...failing) =>
  createBothWays(requestFind)(...failing).slice(0, 1);

const givenStopped = async (ctx: TestContext): Promise<void> => {
  void requestFind(createStoppingWorld(ctx, 1).world, ctx);
  await runTurn();
};

const createLostReply = (
  what: string,
  code: string,
  worldOf: (ctx: TestContext) => TestContext["world"],
  from: number,
): readonly Failing[] =>
  [true, false].map((written) => ({
    what: `no reply to ${what}, which was ${written ? "" : "not "}written`,
    code,
    when: (ctx) => requestFind(withLostReplies(ctx, worldOf(ctx), from, written), ctx),
  }));

/** The mail server never answers, and the process is signalled to stop meanwhile. */
const withStopDuringProbe = ({ world }: TestContext): TestContext["world"] => {
  const stopping = new AbortController();
  const probe: TestContext["world"]["engine"]["probe"] = () => {
    stopping.abort();
    return new Promise(() => {});
  };
  return { ...world, stopping: stopping.signal, engine: { ...world.engine, probe } };
};

export const FIND: readonly Failing[] = [
  ...listRequestFailures(ROUTE),
  createTooLarge(ROUTE),
  {
    what: "an unknown field",
    code: "INVALID_REQUEST",
    when: ({ world, liveKey }) => whenFound(world, liveKey, { ...ann, x: 1 }),
  },
  {
    what: "a free mail provider's domain",
    code: "INVALID_REQUEST",
    when: ({ world, liveKey }) => whenFound(world, liveKey, { ...ann, domain: "gmail.com" }),
  },
  {
    what: "too few credits",
    code: "INSUFFICIENT_CREDITS",
    given: async ({ world, liveKey }) => {
      for (const domain of ["a.example", "b.example"])
        await whenFound(world, liveKey, { ...ann, domain });
    },
    when: (ctx) => requestFind(ctx.world, ctx),
  },
  {
    what: "an equal search under way",
    code: "UNAVAILABLE",
    given: givenStopped,
    when: (ctx) => requestFind(ctx.world, ctx),
  },
  {
    what: "an abandoned search that cannot be looked up",
    code: "UNAVAILABLE",
    given: givenStopped,
    when: (ctx) => requestFind(withUnreadable(ctx, "OPERATION#"), ctx),
  },
  ...createEither("an earlier search that cannot be looked up", BOTH_UNAVAILABLE, (ctx) =>
    withUnreadable(ctx, "CLAIM#"),
  ),
  ...listLedgerFailures(createEither),
  ...createLostReply("the payment", "UNAVAILABLE", getWorld, 1),
  {
    what: "a failure on our side",
    code: "INTERNAL",
    when: (ctx) => requestFind(withBrokenEngine(ctx), ctx),
  },
  {
    what: "a failure of ours under a test key",
    code: "INTERNAL",
    when: ({ world, testKey }) => whenFound(world, testKey, { ...ann, first_name: "Error" }),
  },
  {
    what: "a process that is stopping",
    code: "UNAVAILABLE",
    when: (ctx) => requestFind(withStopDuringProbe(ctx), ctx),
  },
  ...createLostReply("the refund", "INTERNAL", withBrokenEngine, 2),
  ...createLostReply("the settlement", "UNAVAILABLE", getWorld, 2),
  {
    what: "a search that was released during the repeat",
    code: "UNAVAILABLE",
    when: async (ctx) => {
      const { world, goOn } = createStoppingWorld(ctx, 1);
      const pendingResponse = requestFind(world, ctx);
      await runTurn();
      ctx.later(40_000);
      await whenReconciled(ctx);
      goOn();
      return pendingResponse;
    },
  },
];

import * as v from "valibot";
import { ownerOf, type Payer } from "../access/payer.ts";
import { PLANS } from "../accounts/plans.ts";
import { Failure } from "../failure.ts";
import { retryAfter, type SingleRetry, sendIfSoon, sendSingle, singleJob } from "../jobs/single.ts";
import type { Keyed } from "../money/claims.ts";
import { type Halves, PRICE } from "../money/credits.ts";
import { inProgress } from "../money/in-progress.ts";
import {
  type Begun,
  begin,
  handOver,
  type Operation,
  type Order,
  payAtOnce,
  release,
  settle,
} from "../money/operations.ts";
import type { Json } from "../table.ts";
import { within } from "../within.ts";
import type { World } from "../world.ts";
import type { VerifyWorld } from "./engine.ts";
import { findKnown, keepKnown } from "./known.ts";
import { Occupied } from "./occupied.ts";
import { type Packed, pack, unpack } from "./packed.ts";
import { engineFor } from "./pretend.ts";
import { isNotAsked, isOurFailure, trimmed, type Verification } from "./result.ts";
import { type Options, verify } from "./verify.ts";

export type Ask = { readonly email: string; readonly options: Options; readonly waitMs: number };

/** What the caller gets for the price. `pending`: the job goes on with it. */
export type Told = {
  readonly price: Halves;
  readonly cached: boolean;
  readonly replayed: boolean;
} & (
  | { readonly result: Verification }
  | { readonly pending: { readonly job: string; readonly createdAt: string } }
);

/** One address, paid for once, whatever breaks meanwhile: held before, settled after, given back if we failed. */
export const verifyOnce = async (
  world: VerifyWorld,
  payer: Payer,
  ask: Ask,
  keyed: Keyed | null,
): Promise<Told> => {
  const order = {
    id: world.newId("job"),
    kind: VERIFY,
    payer,
    reason: "POST /v1/verify",
    keyed,
    leaseMs: ask.waitMs + MARGIN_MS,
  };
  const known = await knownTo(world, order, ask);
  if (known) return tellKnown(world, order, ask, known);
  const { email, options } = ask;
  const input: Input = { email, ...options, keptSeconds: keptSecondsOf(payer) };
  const came = await begin(world, order, async () => ({
    price: PRICE.verify,
    input,
    expectedMs: ask.waitMs,
  }));
  return goOn(world, came, ask);
};

/** An earlier request under this key may have been left half done: then it is ours to finish. */
const goOn = async (world: VerifyWorld, came: Begun, ask: Ask): Promise<Told> => {
  if ("underWay" in came) throw inProgress(came.retryAfterMs);
  return "answered" in came ? replay(came.answered) : work(world, came.begun, ask);
};

/** After the wait is over, what is left to do takes no longer than this, or somebody else does it. */
const MARGIN_MS = 15_000;

const VERIFY = "verify";

const Input = v.object({
  email: v.string(),
  deepVerify: v.boolean(),
  includeAi: v.boolean(),
  includeEvidence: v.boolean(),
  keptSeconds: v.number(),
});
type Input = v.InferOutput<typeof Input>;

const keptSecondsOf = ({ plan }: Payer): number => PLANS[plan].retentionDays * 86_400;

/** Test keys are told the same each time anyway, and what they are told is never of this world. */
const knownTo = async (
  world: World,
  { payer, keyed }: Order,
  { email, options: { deepVerify } }: Ask,
): Promise<Verification | undefined> =>
  payer.mode === "live"
    ? findKnown(world, ownerOf(payer), { email, deepVerify }).catch((cause: unknown) => {
        const what = "The results of this day cannot be read right now.";
        // An earlier request with this key may have been paid for.
        throw new Failure("UNAVAILABLE", keyed ? "retry_same_key" : "nothing_charged", what, {
          cause,
        });
      })
    : undefined;

const tellKnown = async (
  world: VerifyWorld,
  order: Order,
  ask: Ask,
  known: Verification,
): Promise<Told> => {
  const price = PRICE.verifyCached;
  const result = trimmed(known, ask.options);
  const answer: Answer = { price, cached: true, result: pack(result) };
  const came = await payAtOnce(world, order, async () => ({ price, answer }));
  if (!("paid" in came)) return goOn(world, came, ask);
  return { price, cached: true, replayed: false, result };
};

const work = async (world: VerifyWorld, operation: Operation, ask: Ask): Promise<Told> => {
  const { email, options } = ask;
  const { mode } = operation;
  const everything = {
    deepVerify: options.deepVerify,
    includeAi: true,
    includeEvidence: true,
    requester: { account: operation.account, priority: "caller" },
  } as const;
  const asked = verify(engineFor(world, mode), email, everything);
  const came = await within(world, ask.waitMs, asked).catch((cause: unknown) =>
    // A worker has a way to mail servers of its own, and time.
    cause instanceof Occupied ? ("late" as const) : giveBack(world, operation, cause),
  );
  if (came === "late") return goOnAsJob(world, operation);
  if (isOurFailure(came)) return giveBack(world, operation, new Error("the session broke"));
  const retry = retryAfter(world, mode, came);
  if (retry) return goOnAsJob(world, operation, retry);

  const result = trimmed(came, options);
  const held = operation.amount;
  const price = isNotAsked(came) ? (0 as Halves) : held;
  const moved = isNotAsked(came) ? { release: held } : { settle: held };
  const answer: Answer = { price, cached: false, result: pack(result) };
  const kept =
    mode === "live" ? keepKnown(world, operation.account, { email, ...options }, came) : [];
  const ended = await settle(world, operation, { answer, moved, also: kept });
  if (ended === "ended") return { price, cached: false, replayed: false, result };
  // Nobody can ask again without a key. The price is held, and is settled or given back without us: once, either way.
  if (ended === "unknown" && !operation.claim)
    return { price, cached: false, replayed: false, result };
  throw overtaken(operation);
};

const giveBack = async (world: World, operation: Operation, cause: unknown): Promise<never> => {
  const released = (await release(world, operation)) === "ended";
  const what = "The verification broke on our side.";
  if (released && operation.mode === "test")
    throw new Failure("INTERNAL", "nothing_charged", what, { cause });
  if (released) throw new Failure("INTERNAL", "refunded", what, { cause });
  throw new Failure("INTERNAL", operation.claim ? "retry_same_key" : "unknown", what, { cause });
};

const overtaken = ({ claim }: Operation): Failure =>
  claim
    ? new Failure("UNAVAILABLE", "retry_same_key", "It is not known how this request ended.")
    : new Failure("INTERNAL", "unknown", "It is not known how this request ended.");

const goOnAsJob = async (
  world: World,
  operation: Operation,
  retry?: SingleRetry,
): Promise<Told> => {
  if ((await continueAsJob(world, operation, retry)) !== "ended") throw overtaken(operation);
  const pending = { job: operation.id, createdAt: operation.openedAt };
  return { price: operation.amount, cached: false, replayed: false, pending };
};

/**
 * The money stays held and the work goes to a worker: when the wait is over, when a later attempt may find out more,
 * or when the process that began it is gone.
 */
export const continueAsJob = async (world: World, operation: Operation, retry?: SingleRetry) => {
  const { keptSeconds, ...single } = v.parse(Input, operation.input);
  const { id, openedAt, amount } = operation;
  const answer: Answer = {
    price: amount,
    cached: false,
    pending: { job: id, createdAt: openedAt },
  };
  const ended = await handOver(
    world,
    operation,
    singleJob(world, operation, single, { keptSeconds, retry }),
    answer,
  );
  if (ended !== "ended") return ended;
  if (retry) await sendIfSoon(world, operation, 1);
  else await sendSingle(world, operation, 0);
  return ended;
};

/** What a claim remembers, and a repeat is told. */
type Answer = { readonly price: Halves; readonly cached: boolean } & (
  | { readonly result: Packed }
  | { readonly pending: { readonly job: string; readonly createdAt: string } }
);

const replay = (answer: Json): Told => {
  const stored = answer as Answer;
  return "result" in stored
    ? { ...stored, replayed: true, result: unpack(stored.result) }
    : { ...stored, replayed: true };
};

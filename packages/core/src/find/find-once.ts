import { readAddress } from "@mailproof/mail/address-cell";
import * as v from "valibot";
import { hashAddress } from "../accounts/hashes.ts";
import {
  findUsualPattern,
  learnPattern,
  NO_PATTERN_COUNTS,
  readPatternCounts,
} from "../calibration/naming.ts";
import { Failure } from "../lib/failure.ts";
import { fingerprint } from "../lib/fingerprint.ts";
import { withTimeout } from "../lib/timeout.ts";
import {
  type BeginResult,
  beginOperation,
  type OperationInProgress,
  type OperationRequest,
  type StartedOperation,
} from "../money/begin-operation.ts";
import type { Halves } from "../money/credits.ts";
import { release, settle } from "../money/end-operation.ts";
import { type IdempotencyKey, isErasedAnswer } from "../money/idempotency-claims.ts";
import { type Operation, readOperation } from "../money/operation-items.ts";
import { getOwnerId, type Payer } from "../money/payer.ts";
import { PRICES } from "../money/prices.ts";
import { findRemainingCredits } from "../money/remaining-credits.ts";
import type { Item, Json } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { MAX_LEASE_MS } from "../runtime/leases.ts";
import type { WorkKind } from "../runtime/work-kind.ts";
import type { VerifyWorld } from "../verify/engine.ts";
import { selectEngine } from "../verify/sandbox.ts";
import { findOwnCause } from "../verify/unpaid-results.ts";
import { isUsable } from "./candidates.ts";
import {
  type FindOutcome,
  type FindResult,
  findAddress,
  INVALID_NAME,
  type Search,
} from "./find.ts";

export type FindResponse = {
  readonly price: Halves;
  readonly replayed: boolean;
  readonly result: FindResult;
  /** The balance after the charge, also on a repeat; undefined when it is unknown. */
  readonly remaining: Halves | undefined;
};

const FIND = "find";

const FREE = 0 as Halves;

/** Equal searches within the same two minutes of the clock count as one search. */
const BUCKET_MS = 120_000;
/** Results of an account are stored for a day. */
const RETENTION_SECONDS = 86_400;

/** Shorter than the wait of a caller on AWS (infra/topology.ts). Without a reply by then, the result is unknown. */
const WAIT_MS = 20_000;
/** The work after the wait takes less than 15 s; then the reconciler may take over. */
const MARGIN_MS = 15_000;
/** A repeat waits longer than the first request may take, and less than a gateway's timeout. */
const POLL_MAX_MS = 24_000;
const POLL_MS = 500;

/** Runs one search and charges once, whatever crashes: holds before, settles after, releases if we failed. */
export const findOnce = async (
  world: VerifyWorld,
  payer: Payer,
  search: Search,
): Promise<FindResponse> => {
  if (!isUsable(search.person, search.domain)) {
    const remaining = await findRemainingCredits(world.table, payer);
    return { price: FREE, replayed: false, result: INVALID_NAME, remaining };
  }
  const order = {
    id: world.newId("txn"),
    kind: FIND,
    payer,
    reason: "find",
    idempotencyKey: createClaimKey(world, payer, search),
    leaseMs: WAIT_MS + MARGIN_MS,
    statesRemaining: true,
  } as const;
  const outcome = await waitForTurn(world, order);
  if (outcome.kind === "replayed")
    return { price: PRICES.find, replayed: true, ...readAnswer(outcome.answer) };
  const response = await runSearch(world, outcome, search);
  // The crashed search that this request took over was charged already.
  const isRepeat = outcome.operation.id !== order.id && response.price > 0;
  return { ...response, replayed: isRepeat };
};

const StoredAnswer = v.object({
  status: v.string(),
  reason: v.string(),
  email: v.nullable(v.string()),
  confidence: v.number(),
  pattern: v.nullable(v.string()),
  left: v.optional(v.custom<Halves>(Number.isSafeInteger)),
});

const readAnswer = (answer: Json): Pick<FindResponse, "result" | "remaining"> => {
  if (isErasedAnswer(answer)) return { result: ERASED_RESULT, remaining: undefined };
  const { left: remaining, ...result } = v.parse(StoredAnswer, answer);
  return { result: result as FindResult, remaining };
};

/** The found address was erased within the two minutes in which a repeat is free. */
const ERASED_RESULT: FindResult = {
  status: "unknown",
  reason: "erased",
  email: null,
  confidence: 0,
  pattern: null,
};

/** The client sends no Idempotency-Key: the search and its two minutes are the key. */
const createClaimKey = (world: World, payer: Payer, { person, domain }: Search): IdempotencyKey => {
  const names = [person.first, person.last].map((name) => name.normalize("NFC").toLowerCase());
  const searchHash = fingerprint([...names, domain]);
  const bucket = Math.floor(world.now().getTime() / BUCKET_MS);
  return {
    owner: getOwnerId(payer),
    action: "find",
    key: `${bucket} ${searchHash}`,
    fingerprint: searchHash,
    retentionSeconds: RETENTION_SECONDS,
  };
};

/** Waits for a search under way, and takes over a search whose process crashed. */
const waitForTurn = async (
  world: World,
  order: OperationRequest,
): Promise<Exclude<BeginResult, OperationInProgress>> => {
  const start = async () => ({ price: PRICES.find, input: null, expectedMs: WAIT_MS });
  for (let waitedMs = 0; waitedMs < POLL_MAX_MS; waitedMs += POLL_MS) {
    const outcome = await beginOperation(world, order, start).catch(toSearchFailure);
    if (outcome.kind !== "in_progress") return outcome;
    if (world.stopping.aborted) break;
    await world.sleep(POLL_MS, world.stopping);
  }
  throw createUnsureFailure("The same search is still in progress.");
};

const createUnsureFailure = (what: string, cause?: unknown): Failure =>
  new Failure("UNAVAILABLE", "repeat_search", what, { cause });

/** A message about an Idempotency-Key would mean nothing to a client that sent none. */
const toSearchFailure = (cause: unknown): never => {
  if (!(cause instanceof Failure) || cause.money !== "retry_same_key") throw cause;
  throw createUnsureFailure("The state of this search is not known.", cause);
};

const runSearch = async (
  world: VerifyWorld,
  { operation, left }: StartedOperation,
  search: Search,
): Promise<Omit<FindResponse, "replayed">> => {
  const outcome = await searchWithin(world, operation, search).catch((cause: unknown) =>
    refund(world, operation, cause, world.stopping.aborted ? STOPPING_REASON : INTERNAL_REASON),
  );
  const { result, learnedPattern, isWithheld } = outcome;
  const ownCause = findOwnCause({ ...result, ...(isWithheld && { isWithheld }) });
  if (ownCause?.search !== undefined)
    return refund(world, operation, undefined, {
      code: "UNAVAILABLE",
      what: ownCause.search,
      retryAfterMs: ownCause.retryAfterMs,
    });
  if (ownCause) {
    if ((await release(world, operation)) !== "ended")
      throw createUnsureFailure("The outcome of this search is not known.");
    const remaining = await findRemainingCredits(world.table, operation);
    return { price: FREE, result, remaining };
  }
  const answer: Json = { ...result, left };
  const subject =
    result.email === null
      ? undefined
      : hashAddress(world, getOwnerId(operation), readAddress(result.email).canonical);
  if ((await settle(world, operation, { answer, subject })) !== "ended")
    throw createUnsureFailure("The outcome of this search is not known.");
  if (learnedPattern !== null) await learnPattern(world, search.domain, learnedPattern);
  return { price: PRICES.find, result, remaining: left };
};

/** A test key gets the same result each time, independent of facts known about the real domain. */
const searchWithin = async (
  world: VerifyWorld,
  { account, mode }: Operation,
  search: Search,
): Promise<FindOutcome> => {
  const patternCounts =
    mode === "live" ? await readPatternCounts(world.table, search.domain) : NO_PATTERN_COUNTS;
  const requester = { account, priority: "caller" } as const;
  const outcome = await withTimeout(
    world,
    WAIT_MS,
    findAddress(selectEngine(world, mode), search, patternCounts, { requester, waitMs: WAIT_MS }),
    world.stopping,
  );
  if (outcome === "late" && world.stopping.aborted) throw new Error("the process ends");
  if (outcome === "late")
    return {
      result: {
        status: "unknown",
        reason: "timeout",
        email: null,
        confidence: 0,
        pattern: findUsualPattern(patternCounts),
      },
      learnedPattern: null,
    };
  return mode === "live" ? outcome : { ...outcome, learnedPattern: null };
};

type RefundReason = {
  readonly code: "INTERNAL" | "UNAVAILABLE";
  readonly what: string;
  readonly retryAfterMs?: number | undefined;
};

const INTERNAL_REASON: RefundReason = { code: "INTERNAL", what: "The search failed on our side." };
const STOPPING_REASON: RefundReason = {
  code: "UNAVAILABLE",
  what: "This server is about to stop or restart. Repeat the search.",
};

const refund = async (
  world: World,
  operation: Operation,
  cause: unknown,
  { code, what, retryAfterMs }: RefundReason,
): Promise<never> => {
  const released = (await release(world, operation)) === "ended";
  if (!released) throw new Failure(code, "repeat_search", what, { cause, retryAfterMs });
  const money = operation.mode === "test" ? "nothing_charged" : "refunded";
  throw new Failure(code, money, what, { cause, retryAfterMs });
};

/**
 * Ends a search whose process crashed: its caller has disconnected long ago, so the price is released. An expired claim needs
 * no release, and the table would refuse a write that requires it forever.
 */
const repairFind = async (world: World, item: Item): Promise<string> => {
  const operation = readOperation(item);
  const { claim } = operation;
  const isClaimed = claim !== null && (await world.table.get(claim)) !== undefined;
  const ended = await release(world, isClaimed ? operation : { ...operation, claim: null });
  return ended === "ended" ? "released" : "left_to_others";
};

export const findWork: WorkKind = {
  kind: FIND,
  repair: repairFind,
  longestWaitMs: MAX_LEASE_MS,
};

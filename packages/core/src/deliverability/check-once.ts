import * as v from "valibot";
import { Failure, type LookUpOperation } from "../lib/failure.ts";
import { CLOCK_SKEW_MS, DAY_MS } from "../lib/time.ts";
import {
  type BeginResult,
  beginOperation,
  type OperationInProgress,
  type OperationRequest,
  payImmediately,
} from "../money/begin-operation.ts";
import type { Halves } from "../money/credits.ts";
import { isStillOwned, release } from "../money/end-operation.ts";
import { findClaim, type IdempotencyKey } from "../money/idempotency-claims.ts";
import { type Operation, readOperation } from "../money/operation-items.ts";
import { getOwnerId, type Payer } from "../money/payer.ts";
import { PLANS } from "../money/plans.ts";
import { PRICES } from "../money/prices.ts";
import type { PaidOperation } from "../money/reasons.ts";
import { findRemainingCredits } from "../money/remaining-credits.ts";
import type { Item } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { MAX_LEASE_MS } from "../runtime/leases.ts";
import type { WorkKind } from "../runtime/work-kind.ts";
import { BUDGET_MS, type CheckReport, type NoVerdict } from "./analyse-domain.ts";
import { type CheckWorld, runLookups } from "./dns-lookups.ts";
import {
  type Check,
  type CheckSubject,
  findCheck,
  findLatest,
  findReport,
  type StoredReport,
} from "./items.ts";
import { findAdvisedMailbox } from "./reports/reports-address.ts";
import { selectLookups } from "./sandbox.ts";
import { storeCheck } from "./store-check.ts";

// A check begins here. `checkOnce` pays for it as an operation; `analyseDomain` (analyse-domain.ts) asks DNS and grades the
// answers (findings.ts, score.ts), and proposes records that the same analysers have judged (propose-records.ts,
// recommend.ts); store-check.ts settles the operation and stores check, response and events in one transaction. monitors.ts
// repeats checks. The room's other input is mail, from SMTP or from Amazon SES (ses-mail/): inbound-mail.ts accepts it for a
// mail test (mail-tests/), which scores it, or as a report of a receiver (reports/), which is summed. progress/ judges
// checks, tests and reports together: the domain's next step, and whether a stricter DMARC policy is safe.

export type CheckRequest = CheckSubject & { readonly refresh: boolean };

export type CheckOutcome = {
  readonly check: Check;
  readonly report: StoredReport;
  readonly price: Halves;
  readonly cached: boolean;
  readonly replayed: boolean;
  /** The balance after the charge, also in a replayed answer; undefined when it is unknown. */
  readonly remaining: Halves | undefined;
};

export const CHECK = "check";

/** A stored result is returned free of charge for a day. */
const CACHE_MS = DAY_MS;
/** The margin between a check's time limit and its storing; afterwards the reconciler may restart the check. */
const MARGIN_MS = 12_000;
/** When the first request has not stored its check by then, a repeat assumes that the first request crashed. */
const STORING_MS = 1_000;
const POLL_MS = 200;
/** An Idempotency-Key is stored for 30 days, and its check must stay readable as long. */
const RETENTION_DAYS_MIN = 31;

const FREE = 0 as Halves;
const HISTORY: LookUpOperation = "listChecks";

/** Checks one domain and charges once, whatever crashes; without a charge when the last result is less than a day old. */
export const checkOnce = async (
  world: CheckWorld,
  payer: Payer,
  request: CheckRequest,
  {
    idempotencyKey,
    reason,
  }: { readonly idempotencyKey: IdempotencyKey | null; readonly reason: PaidOperation },
): Promise<CheckOutcome> => {
  const id = toOperationId(toUuid(world.randomBytes(16)));
  const leaseMs = BUDGET_MS + MARGIN_MS;
  const order = {
    id,
    kind: CHECK,
    payer,
    reason,
    idempotencyKey,
    leaseMs,
    lookAt: HISTORY,
    statesRemaining: true,
  } as const;
  const cachedCheck = request.refresh ? undefined : await findFreshCheck(world, order, request);
  if (cachedCheck) return returnCached(world, order, cachedCheck);
  const { domain, sendingIp } = request;
  const retentionDays = Math.max(PLANS[payer.plan].retentionDays, RETENTION_DAYS_MIN);
  const input: CheckInput = { domain, sendingIp, retentionDays };
  const outcome = await beginOperation(world, order, async () => ({
    price: PRICES.deliverabilityCheck,
    input,
    expectedMs: BUDGET_MS,
  }));
  return resume(world, order, outcome);
};

/** An operation's id contains its check's id, which has the UUID form of the contract. */
const toOperationId = (check: string): string => `chk_${check}`;
export const toCheckId = ({ id }: Pick<Operation, "id">): string => id.slice("chk_".length);

const CheckInput = v.object({
  domain: v.string(),
  sendingIp: v.nullable(v.string()),
  retentionDays: v.number(),
});
type CheckInput = v.InferOutput<typeof CheckInput>;

/** Finds a check of the last 24 hours. The request charges nothing before this is known. */
const findFreshCheck = async (
  world: World,
  { payer, idempotencyKey }: OperationRequest,
  subject: CheckSubject,
): Promise<string | undefined> => {
  const latest = await findLatest(world.table, getOwnerId(payer), subject).catch(
    (cause: unknown) => {
      const what = "Cached checks cannot be read right now.";
      // An earlier request with this key may have been charged.
      const money = idempotencyKey ? "retry_same_key" : "nothing_charged";
      throw new Failure("UNAVAILABLE", money, what, { cause });
    },
  );
  if (!latest) return undefined;
  const ageMs = world.now().getTime() - Date.parse(latest.checkedAt);
  // A wrong clock wrote a check with a time in the future.
  return -CLOCK_SKEW_MS <= ageMs && ageMs < CACHE_MS ? latest.check : undefined;
};

type StoredAnswer = {
  readonly check: string;
  readonly cached: boolean;
  readonly remaining: Halves | null;
};

const returnCached = async (
  world: CheckWorld,
  order: OperationRequest,
  check: string,
): Promise<CheckOutcome> => {
  const remaining = await findRemainingCredits(world.table, order.payer);
  const answer: StoredAnswer = { check, cached: true, remaining: remaining ?? null };
  const outcome = await payImmediately(world, order, async () => ({ price: FREE, answer }));
  return outcome.kind === "paid"
    ? loadResult(world, answer, { price: FREE, replayed: false })
    : resume(world, order, outcome);
};

/**
 * An earlier request under this key may have crashed after its charge, so a repeat checks again, as the contract requires, with
 * or without the lease. If the first process continues after all, whichever stores its check first ends the operation for both.
 */
const resume = async (
  world: CheckWorld,
  order: OperationRequest,
  outcome: BeginResult,
): Promise<CheckOutcome> => {
  if (outcome.kind === "replayed")
    return loadResult(world, outcome.answer as StoredAnswer, { price: FREE, replayed: true });
  const firstResult =
    outcome.kind === "in_progress" ? await waitForFirst(world, order, outcome) : null;
  if (firstResult) return firstResult;
  const { operation } = outcome;
  const replayed = operation.id !== order.id;
  const price = replayed ? FREE : operation.amount;
  const remaining = outcome.kind === "started" ? outcome.left : undefined;
  try {
    const done = await runCheck(world, operation, remaining);
    return { ...done, price, cached: false, replayed, remaining };
  } catch (cause) {
    const storedResult = await findStoredResult(world, order, operation, { price, replayed }).catch(
      () => null,
    );
    if (storedResult) return storedResult;
    throw cause;
  }
};

/** The repeat waits while the first request may still run, because a second check would send all queries again. */
const waitForFirst = async (
  world: World,
  order: OperationRequest,
  { operation, waitMs }: OperationInProgress,
): Promise<CheckOutcome | null> => {
  const endsAtMs = world.now().getTime() + waitMs - MARGIN_MS + STORING_MS;
  while (world.now().getTime() < endsAtMs) {
    await world.sleep(POLL_MS);
    const isOpen = await isStillOwned(world.table, operation).catch(() => true);
    const how = { price: FREE, replayed: true };
    const storedResult = await findStoredResult(world, order, operation, how).catch(() => null);
    if (storedResult) return storedResult;
    if (!isOpen) throw createUnknownFailure(operation);
  }
  return null;
};

const findStoredResult = async (
  world: World,
  { idempotencyKey }: OperationRequest,
  { id }: Operation,
  how: Pick<CheckOutcome, "price" | "replayed">,
): Promise<CheckOutcome | null> => {
  const claim = idempotencyKey && (await findClaim(world.table, idempotencyKey));
  if (claim?.operation !== id || claim.answer === undefined) return null;
  return loadResult(world, claim.answer as StoredAnswer, how);
};

const loadResult = async (
  world: World,
  { check: id, cached, remaining }: StoredAnswer,
  how: Pick<CheckOutcome, "price" | "replayed">,
): Promise<CheckOutcome> => {
  const stored = await findStoredCheck(world, id).catch((cause: unknown) => {
    const what = "The stored check cannot be read right now.";
    const money = how.replayed ? "retry_same_key" : "nothing_charged";
    throw new Failure("UNAVAILABLE", money, what, { cause });
  });
  if (!stored) throw new Error(`the stored answer names check ${id}, which does not exist`);
  return { ...stored, ...how, cached, remaining: remaining ?? undefined };
};

export type StoredCheck = Pick<CheckOutcome, "check" | "report">;

export const findStoredCheck = async (
  { table }: Pick<World, "table">,
  id: string,
): Promise<StoredCheck | undefined> => {
  const [check, report] = await Promise.all([findCheck(table, id), findReport(table, id)]);
  return check && report && { check, report };
};

const runCheck = async (
  world: CheckWorld,
  operation: Operation,
  remaining?: Halves,
): Promise<StoredCheck> => {
  const analysis = await analyse(world, operation).catch((cause: unknown) =>
    refund(world, operation, { code: "INTERNAL", what: "The check failed on our side.", cause }),
  );
  if (analysis.kind === "no_verdict") return refund(world, operation, explainNoVerdict(analysis));

  const { retentionDays } = v.parse(CheckInput, operation.input);
  const answer: StoredAnswer = {
    check: toCheckId(operation),
    cached: false,
    remaining: remaining ?? null,
  };
  const { ended, ...stored } = await storeCheck(world, operation, analysis, {
    answer,
    retentionDays,
  }).catch((cause: unknown) => {
    throw createUnknownFailure(operation, cause);
  });
  // Without a key the client cannot retry, and the reconciler repeats a check that was not stored.
  if (ended === "ended" || (ended === "unknown" && !operation.claim)) return stored;
  throw createUnknownFailure(operation);
};

const analyse = async (
  world: CheckWorld,
  operation: Operation,
): Promise<CheckReport | NoVerdict> => {
  const { domain, sendingIp } = v.parse(CheckInput, operation.input);
  const subject = { domain, sendingIp };
  const mailbox = await findAdvisedMailbox(world, operation);
  return runLookups(world, selectLookups(world, operation.mode, subject), subject, mailbox);
};

type FailureReason = {
  readonly code: "INTERNAL" | "UNAVAILABLE";
  readonly what: string;
  readonly cause?: unknown;
};

const explainNoVerdict = ({ why }: NoVerdict): FailureReason =>
  why === "unanswered"
    ? { code: "UNAVAILABLE", what: "No DNS query about this domain got an answer." }
    : { code: "UNAVAILABLE", what: "This service cannot reach the DNS right now." };

/** A check without a verdict costs nothing: one transaction releases the charge and the key. */
const refund = async (
  world: World,
  operation: Operation,
  { code, what, cause }: FailureReason,
): Promise<never> => {
  const { claim, mode } = operation;
  const isReleased = (await release(world, operation)) === "ended";
  if (!isReleased)
    throw new Failure(code, claim ? "retry_same_key" : "unknown", what, { cause, lookAt: HISTORY });
  throw new Failure(code, mode === "live" ? "refunded" : "nothing_charged", what, { cause });
};

/** Another process continues the operation, or will: the credits stay held until then. */
const createUnknownFailure = ({ claim }: Operation, cause?: unknown): Failure => {
  const what = "The outcome of this check is not known.";
  return claim
    ? new Failure("UNAVAILABLE", "retry_same_key", what, { cause })
    : new Failure("INTERNAL", "unknown", what, { cause, lookAt: HISTORY });
};

/** The process that started the check crashed. The check is paid, so the reconciler runs it and adds it to the history. */
const repairCheck = async (world: CheckWorld, item: Item): Promise<string> => {
  const operation = readOperation(item);
  const done = await runCheck(world, operation).catch((cause: unknown) => {
    if (cause instanceof Failure) return cause.money;
    throw cause;
  });
  return typeof done === "string" ? done : "checked";
};

export const checkWork: WorkKind<CheckWorld> = {
  kind: CHECK,
  repair: repairCheck,
  longestWaitMs: MAX_LEASE_MS,
};

/** A random UUID (RFC 9562 §5.4), for fields where the contract requires this form. Other ids start with a prefix for their kind. */
export const toUuid = (random: Uint8Array): string => {
  const bytes = Uint8Array.from(random.subarray(0, 16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
};

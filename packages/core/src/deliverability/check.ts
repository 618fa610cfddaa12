import * as v from "valibot";
import { ownerOf, type Payer } from "../access/payer.ts";
import { PLANS } from "../accounts/plans.ts";
import { Failure } from "../failure.ts";
import { CLOCK_SKEW_MS, DAY_MS } from "../moments.ts";
import { findClaim, type Keyed } from "../money/claims.ts";
import { type Halves, PRICE } from "../money/credits.ts";
import {
  type Begun,
  begin,
  isStillOurs,
  type Operation,
  type Order,
  payAtOnce,
  readOperation,
  release,
} from "../money/operations.ts";
import { remainingOf } from "../money/remaining.ts";
import type { Item } from "../table.ts";
import { uuidOf } from "../uuid.ts";
import type { World } from "../world.ts";
import { BUDGET_MS, type NoVerdict, type Report } from "./analyse-domain.ts";
import {
  type Check,
  findCheck,
  findLatest,
  findReport,
  type StoredReport,
  type Subject,
} from "./items.ts";
import { keep } from "./keep.ts";
import { type CheckWorld, lookAt } from "./names.ts";
import { namesFor } from "./pretend.ts";

export type Ask = Subject & { readonly refresh: boolean };

/** What the caller gets, and what this very request was charged for it. */
export type Told = {
  readonly check: Check;
  readonly report: StoredReport;
  readonly price: Halves;
  readonly cached: boolean;
  readonly replayed: boolean;
  /** After the charge; undefined where it could not be read. */
  readonly remaining: Halves | undefined;
};

export const CHECK = "check";

/** How long a result is told again for nothing. */
const FRESH_MS = DAY_MS;
/** After its time a check is stored within this, or somebody else begins it anew. */
const MARGIN_MS = 12_000;
/** Whoever has not stored it within this is taken for gone by a repeat. */
const STORING_MS = 1_000;
const POLL_MS = 200;
/** A key is remembered for 30 days, and what it stands for must be there as long. */
const KEPT_DAYS_LEAST = 31;

const FREE = 0 as Halves;
const HISTORY = "GET /v1/deliverability/checks";

/** One domain, paid for once, whatever breaks meanwhile; for nothing when its result is not a day old. */
export const checkOnce = async (
  world: CheckWorld,
  payer: Payer,
  ask: Ask,
  { keyed, reason }: { readonly keyed: Keyed | null; readonly reason: string },
): Promise<Told> => {
  const id = operationOf(uuidOf(world.randomBytes(16)));
  const leaseMs = BUDGET_MS + MARGIN_MS;
  const order = { id, kind: CHECK, payer, reason, keyed, leaseMs, lookAt: HISTORY };
  const known = ask.refresh ? undefined : await freshCheckOf(world, order, ask);
  if (known) return tellKnown(world, order, known);
  const { domain, sendingIp } = ask;
  const keptDays = Math.max(PLANS[payer.plan].retentionDays, KEPT_DAYS_LEAST);
  const input: Input = { domain, sendingIp, keptDays };
  const came = await begin(world, order, async () => ({
    price: PRICE.deliverabilityCheck,
    input,
    expectedMs: BUDGET_MS,
  }));
  return goOn(world, order, came);
};

/** The check of an operation has its number, in the form that the contract wants. */
const operationOf = (check: string): string => `chk_${check}`;
const checkOf = ({ id }: Operation): string => id.slice("chk_".length);

const Input = v.object({
  domain: v.string(),
  sendingIp: v.nullable(v.string()),
  keptDays: v.number(),
});
type Input = v.InferOutput<typeof Input>;

/** The check of this day, if there is one. Nothing is charged before this is known. */
const freshCheckOf = async (
  world: World,
  { payer, keyed }: Order,
  subject: Subject,
): Promise<string | undefined> => {
  const latest = await findLatest(world.table, ownerOf(payer), subject).catch((cause: unknown) => {
    const what = "The checks of this day cannot be read right now.";
    // An earlier request with this key may have been paid for.
    const money = keyed ? "retry_same_key" : "nothing_charged";
    throw new Failure("UNAVAILABLE", money, what, { cause });
  });
  if (!latest) return undefined;
  const ageMs = world.now().getTime() - Date.parse(latest.checkedAt);
  // A check of a time that has not come yet was written by a wrong clock.
  return -CLOCK_SKEW_MS <= ageMs && ageMs < FRESH_MS ? latest.check : undefined;
};

/** What a claim remembers, and a repeat is told. */
type Answer = {
  readonly check: string;
  readonly cached: boolean;
  readonly remaining: Halves | null;
};

const tellKnown = async (world: CheckWorld, order: Order, check: string): Promise<Told> => {
  const remaining = await remainingOf(world.table, order.payer);
  const answer: Answer = { check, cached: true, remaining: remaining ?? null };
  const came = await payAtOnce(world, order, async () => ({ price: FREE, answer }));
  return "paid" in came
    ? tell(world, answer, { price: FREE, replayed: false })
    : goOn(world, order, came);
};

/**
 * An earlier request under this key may have been left half done. It is paid, so a repeat checks again, as the contract
 * has it, lease or no lease: should the first wake up after all, whoever is first to store ends it for both.
 */
const goOn = async (world: CheckWorld, order: Order, came: Begun): Promise<Told> => {
  if ("answered" in came)
    return tell(world, came.answered as Answer, { price: FREE, replayed: true });
  const known = "underWay" in came ? await afterFirst(world, order, came) : null;
  if (known) return known;
  const operation = "begun" in came ? came.begun : came.underWay;
  const replayed = operation.id !== order.id;
  const price = replayed ? FREE : operation.amount;
  const remaining = await remainingOf(world.table, order.payer);
  try {
    const done = await work(world, operation, remaining);
    return { ...done, price, cached: false, replayed, remaining };
  } catch (cause) {
    const told = await toldMeanwhile(world, order, operation, { price, replayed }).catch(
      () => null,
    );
    if (told) return told;
    throw cause;
  }
};

/** As long as the first may be at it, its end is waited for: to check beside it would ask all its questions again. */
const afterFirst = async (
  world: World,
  order: Order,
  { underWay, waitMs }: Extract<Begun, { readonly underWay: Operation }>,
): Promise<Told | null> => {
  const endsAtMs = world.now().getTime() + waitMs - MARGIN_MS + STORING_MS;
  while (world.now().getTime() < endsAtMs) {
    await world.sleep(POLL_MS);
    // What cannot be read now is looked at again.
    const isOpen = await isStillOurs(world.table, underWay).catch(() => true);
    const how = { price: FREE, replayed: true };
    const told = await toldMeanwhile(world, order, underWay, how).catch(() => null);
    if (told) return told;
    if (!isOpen) throw overtaken(underWay);
  }
  return null;
};

/** What somebody else stored for the same payment meanwhile. */
const toldMeanwhile = async (
  world: World,
  { keyed }: Order,
  { id }: Operation,
  how: Pick<Told, "price" | "replayed">,
): Promise<Told | null> => {
  const claim = keyed && (await findClaim(world.table, keyed));
  if (claim?.operation !== id || claim.answer === undefined) return null;
  return tell(world, claim.answer as Answer, how);
};

const tell = async (
  world: World,
  { check: id, cached, remaining }: Answer,
  how: Pick<Told, "price" | "replayed">,
): Promise<Told> => {
  const stored = await storedCheck(world, id).catch((cause: unknown) => {
    const what = "The check that was stored cannot be read right now.";
    const money = how.replayed ? "retry_same_key" : "nothing_charged";
    throw new Failure("UNAVAILABLE", money, what, { cause });
  });
  if (!stored) throw new Error(`the check ${id} that an answer speaks of is not there`);
  return { ...stored, ...how, cached, remaining: remaining ?? undefined };
};

export type Stored = Pick<Told, "check" | "report">;

export const storedCheck = async (
  { table }: Pick<World, "table">,
  id: string,
): Promise<Stored | undefined> => {
  const [check, report] = await Promise.all([findCheck(table, id), findReport(table, id)]);
  return check && report && { check, report };
};

const work = async (
  world: CheckWorld,
  operation: Operation,
  remaining: Halves | undefined,
): Promise<Stored> => {
  const found = await analyse(world, operation).catch((cause: unknown) =>
    giveBack(world, operation, { code: "INTERNAL", what: "The check broke on our side.", cause }),
  );
  if (found.kind === "no_verdict") return giveBack(world, operation, whyNot(found));

  const { keptDays } = v.parse(Input, operation.input);
  const answer: Answer = {
    check: checkOf(operation),
    cached: false,
    remaining: remaining ?? null,
  };
  const { ended, ...stored } = await keep(world, operation, found, { answer, keptDays }).catch(
    (cause: unknown) => {
      throw overtaken(operation, cause);
    },
  );
  // Without a key nobody can ask again, and what was not stored is checked anew by whoever finds it.
  if (ended === "ended" || (ended === "unknown" && !operation.claim)) return stored;
  throw overtaken(operation);
};

const analyse = (world: CheckWorld, { input, mode }: Operation): Promise<Report | NoVerdict> => {
  const { domain, sendingIp } = v.parse(Input, input);
  const subject = { domain, sendingIp };
  return lookAt(world, namesFor(world, mode, subject), subject);
};

type Why = {
  readonly code: "INTERNAL" | "UNAVAILABLE";
  readonly what: string;
  readonly cause?: unknown;
};

const whyNot = ({ everyLookupTimedOut }: NoVerdict): Why =>
  everyLookupTimedOut
    ? { code: "UNAVAILABLE", what: "Not one question about this domain was answered in time." }
    : {
        code: "INTERNAL",
        what: "Nothing could be found out: its name servers answer with errors.",
      };

/** What told nothing costs nothing: the charge and the key are given back together. */
const giveBack = async (
  world: World,
  operation: Operation,
  { code, what, cause }: Why,
): Promise<never> => {
  const { claim, mode } = operation;
  const isReleased = (await release(world, operation)) === "ended";
  if (!isReleased)
    throw new Failure(code, claim ? "retry_same_key" : "unknown", what, { cause, lookAt: HISTORY });
  throw new Failure(code, mode === "live" ? "refunded" : "nothing_charged", what, { cause });
};

/** Somebody else goes on with it, or will: the money is held until then. */
const overtaken = ({ claim }: Operation, cause?: unknown): Failure => {
  const what = "It is not known how this check ended.";
  return claim
    ? new Failure("UNAVAILABLE", "retry_same_key", what, { cause })
    : new Failure("INTERNAL", "unknown", what, { cause, lookAt: HISTORY });
};

/** Whoever began it is gone: what is paid for is checked, and stands in the history. */
export const repairCheck = async (world: CheckWorld, item: Item): Promise<string> => {
  const operation = readOperation(item);
  const remaining = await remainingOf(world.table, operation);
  const done = await work(world, operation, remaining).catch((cause: unknown) => {
    if (cause instanceof Failure) return cause.money;
    throw cause;
  });
  return typeof done === "string" ? done : "checked";
};

import * as v from "valibot";
import { ownerOf, type Payer } from "../access/payer.ts";
import { Failure } from "../failure.ts";
import { fingerprint } from "../fingerprint.ts";
import type { Keyed } from "../money/claims.ts";
import { type Halves, PRICE } from "../money/credits.ts";
import {
  type Begun,
  begin,
  type Operation,
  type Order,
  readOperation,
  release,
  settle,
} from "../money/operations.ts";
import type { Item, Json } from "../table.ts";
import type { VerifyWorld } from "../verify/engine.ts";
import { engineFor } from "../verify/pretend.ts";
import { HOST_DAILY_LIMIT } from "../verify/result.ts";
import { within } from "../within.ts";
import type { World } from "../world.ts";
import { habitOf, isUsable } from "./candidates.ts";
import { type Found, find, INVALID_NAME, type Search, type Taught } from "./find.ts";
import { learnNaming, NOTHING_KNOWN, namingOf } from "./items.ts";

/** What the caller gets for the price. */
export type Told = { readonly price: Halves; readonly replayed: boolean; readonly found: Found };

export const FIND = "find";

const ROUTE = "POST /v1/find";

/** The same search within the same two minutes of the clock is one search. */
const BUCKET_MS = 120_000;
/** As long as anything else that an account was told about an address. */
const KEPT_SECONDS = 86_400;

/** A gateway hangs up after 29 s; what the server has not said by then is not known. */
const WAIT_MS = 20_000;
/** After the wait is over, what is left to do takes no longer than this, or somebody else does it. */
const MARGIN_MS = 15_000;
/** A repeat waits so long for the one before it: longer than that one may take, and not as long as a gateway. */
const PATIENCE_MS = 24_000;
const LOOK_AGAIN_MS = 500;

/** One search, paid for once, whatever breaks meanwhile: held before, settled after, given back if we failed. */
export const findOnce = async (world: VerifyWorld, payer: Payer, search: Search): Promise<Told> => {
  if (!isUsable(search.person)) return { price: 0 as Halves, replayed: false, found: INVALID_NAME };
  const came = await begun(world, {
    id: world.newId("txn"),
    kind: FIND,
    payer,
    reason: ROUTE,
    keyed: keyedBy(world, payer, search),
    leaseMs: WAIT_MS + MARGIN_MS,
  });
  if ("answered" in came)
    return { price: PRICE.find, replayed: true, found: v.parse(Answer, came.answered) as Found };
  return work(world, came.begun, search);
};

const Answer = v.object({
  status: v.string(),
  reason: v.string(),
  email: v.nullable(v.string()),
  confidence: v.number(),
  pattern: v.nullable(v.string()),
});

/** There is no key for the caller to choose: what is looked for, and when, is the key. */
const keyedBy = (world: World, payer: Payer, { person, domain }: Search): Keyed => {
  const names = [person.first, person.last].map((name) => name.normalize("NFC").toLowerCase());
  const wanted = fingerprint([...names, domain]);
  const bucket = Math.floor(world.now().getTime() / BUCKET_MS);
  return {
    owner: ownerOf(payer),
    route: ROUTE,
    key: `${bucket} ${wanted}`,
    fingerprint: wanted,
    keptSeconds: KEPT_SECONDS,
  };
};

/** Waits for a search that is under way, and goes on with one that nobody works on any more. */
const begun = async (
  world: World,
  order: Order,
): Promise<Exclude<Begun, { underWay: Operation }>> => {
  const start = async () => ({ price: PRICE.find, input: null, expectedMs: WAIT_MS });
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += LOOK_AGAIN_MS) {
    const came = await begin(world, order, start).catch(inWordsOfSearch);
    if (!("underWay" in came)) return came;
    await world.sleep(LOOK_AGAIN_MS);
  }
  throw unsure("The same search is still under way.");
};

const unsure = (what: string, cause?: unknown): Failure =>
  new Failure("UNAVAILABLE", "repeat_search", what, { cause });

/** What is said of an Idempotency-Key means nothing to whoever sent none. */
const inWordsOfSearch = (cause: unknown): never => {
  if (!(cause instanceof Failure) || cause.money !== "retry_same_key") throw cause;
  throw unsure("It is not known how far this search has come.", cause);
};

const work = async (world: VerifyWorld, operation: Operation, search: Search): Promise<Told> => {
  const came = await searched(world, operation, search).catch((cause: unknown) =>
    giveBack(world, operation, cause),
  );
  const { found, taught } = came;
  if (found.reason === "internal")
    return giveBack(world, operation, new Error("the session broke"));
  if (found.reason === HOST_DAILY_LIMIT)
    return giveBack(world, operation, undefined, {
      code: "UNAVAILABLE",
      what: "The domain's mail server has reached its limit for today. Repeat the search tomorrow (UTC).",
    });

  const answer: Json = found;
  if ((await settle(world, operation, { answer })) !== "ended")
    throw unsure("It is not known how this search ended.");
  if (taught !== null) await learnNaming(world, search.domain, taught);
  return { price: PRICE.find, replayed: false, found };
};

/** Test keys are told the same each time: what is known of the real domain has no part in it. */
const searched = async (
  world: VerifyWorld,
  { account, mode }: Operation,
  search: Search,
): Promise<Taught> => {
  const naming = mode === "live" ? await namingOf(world.table, search.domain) : NOTHING_KNOWN;
  const requester = { account, priority: "caller" } as const;
  const came = await within(
    world,
    WAIT_MS,
    find(engineFor(world, mode), search, naming, requester),
  );
  if (came === "late")
    return {
      found: {
        status: "unknown",
        reason: "timeout",
        email: null,
        confidence: 0,
        pattern: habitOf(naming),
      },
      taught: null,
    };
  return mode === "live" ? came : { ...came, taught: null };
};

type GivenBack = { readonly code: "INTERNAL" | "UNAVAILABLE"; readonly what: string };

const BROKE: GivenBack = { code: "INTERNAL", what: "The search broke on our side." };

const giveBack = async (
  world: World,
  operation: Operation,
  cause: unknown,
  { code, what }: GivenBack = BROKE,
): Promise<never> => {
  const released = (await release(world, operation)) === "ended";
  if (!released) throw new Failure("INTERNAL", "repeat_search", what, { cause });
  const money = operation.mode === "test" ? "nothing_charged" : "refunded";
  throw new Failure(code, money, what, { cause });
};

/**
 * A search that nobody finished: its caller has hung up long ago, so the price goes back. A claim that has run out
 * meanwhile needs no freeing, and a write that wants it there would be refused for ever.
 */
export const repairFind = async (world: World, item: Item): Promise<string> => {
  const operation = readOperation(item);
  const { claim } = operation;
  const isClaimed = claim !== null && (await world.table.get(claim)) !== undefined;
  const ended = await release(world, isClaimed ? operation : { ...operation, claim: null });
  return ended === "ended" ? "given_back" : "left_to_others";
};

import { commit } from "../commit.ts";
import { Failure } from "../failure.ts";
import { dayOf } from "../moments.ts";
import type { Write } from "../table.ts";
import type { World } from "../world.ts";
import { addressOf, keyOf } from "../writes.ts";
import { kindOf, momentOf, type Told, type Untimely } from "./events.ts";
import { addressHash, domainHash, eventHash, markOf, shardOf } from "./hashes.ts";
import {
  addToDay,
  claimEvent,
  eventKey,
  findKnown,
  type Known,
  keepKnown,
  SHARDS,
  type Sum,
} from "./items.ts";
import { MARKS_ENOUGH, POOL } from "./pool.ts";
import { type Counted, type DayChange, tally } from "./tally.ts";

/** Who tells, and by which way: ids are told apart by both. */
export type Source = { readonly account: string; readonly way: "api" | "ses" };

export type Recorded = {
  readonly accepted: number;
  readonly duplicates: number;
  readonly ignored: readonly { readonly id: string; readonly reason: Untimely }[];
};

/**
 * Counts events, each id once. When this returns, they are counted for good; when it throws, some may be, and all of
 * them may be told again.
 */
export const recordEvents = async (
  world: World,
  source: Source,
  told: readonly Told[],
): Promise<Recorded> => {
  const { events, ignored } = readEvents(world, source, told);
  // Of those that share an id the first one counts.
  const different = [...new Map(events.toReversed().map((one) => [one.hash, one])).values()];
  const ordered = inOrder(world, different);
  const most = eventsAtOnce(world);
  let accepted = 0;
  for (let at = 0; at < ordered.length; at += most)
    accepted += await count(world, source, ordered.slice(at, at + most));
  return { accepted, duplicates: events.length - accepted, ignored };
};

/**
 * What writes to the same items stands side by side, so that a transaction has little to meet another in. Each request
 * begins at another shard, for else all of them would be at the same one.
 */
const inOrder = (world: World, events: readonly Event[]): readonly Event[] => {
  const first = Math.floor(world.random() * SHARDS);
  const place = ({ domain, shard, canonical }: Event) => {
    const turn = String((shard + first) % SHARDS).padStart(2, "0");
    return `${domain} ${turn} ${canonical}`;
  };
  return events
    .map((event) => ({ event, place: place(event) }))
    .toSorted((a, b) => (a.place < b.place ? -1 : 1))
    .map(({ event }) => event);
};

type Event = Counted & {
  readonly hash: string;
  /** When the source says that it was: a repeat says the same. */
  readonly saidDay: string;
  readonly canonical: string;
  readonly domain: string;
  readonly shard: number;
};

const readEvents = (world: World, { account, way }: Source, all: readonly Told[]) => {
  const now = world.now();
  const events: Event[] = [];
  const ignored: { id: string; reason: Untimely }[] = [];
  for (const told of all) {
    const { id, address } = told;
    const at = momentOf(told, now);
    if (typeof at === "string") ignored.push({ id, reason: at });
    else
      events.push({
        hash: eventHash(world, account, way, id),
        saidDay: dayOf(told.at),
        kind: kindOf(told),
        at,
        canonical: address.canonical,
        domain: address.domain,
        shard: shardOf(world, address.canonical),
      });
  }
  return { events, ignored };
};

const WRITES_MAX = 100;

/** Each event writes its claim and, for every owner, at most an address and two days. */
const eventsAtOnce = (world: World): number =>
  Math.floor(WRITES_MAX / (1 + 3 * ownersOf(world, "").length));

/** In a shared pool it is counted twice: for the account, and for all. */
const ownersOf = ({ settings }: Pick<World, "settings">, account: string): readonly string[] =>
  settings.activityPool === "shared" ? [account, POOL] : [account];

/** How often others may have been faster. */
const TRIES_MAX = 12;
/** After the first time. Each one after it is longer by as much, so that a crowd at one address thins out. */
const PAUSE_MS = 100;

/** All of them that were not counted before, in one transaction, and how many those were. */
const count = async (world: World, source: Source, all: readonly Event[]): Promise<number> => {
  let events = all;
  for (let tries = 0; tries < TRIES_MAX && events.length > 0; tries++) {
    const by = world.newId("txn");
    const claims = events.map(({ hash, saidDay }) => claimEvent(hash, saidDay, by));
    const [first, ...more] = claims as [Write, ...Write[]];
    const result = await commit(world, [first, ...more, ...(await sumsOf(world, source, events))]);
    if (result.outcome === "committed") return events.length;
    if (result.outcome === "ambiguous") throw notKnown();
    if (claims.some((claim) => claim === result.by)) events = await uncounted(world, events);
    else await world.sleep(world.random() * PAUSE_MS * (tries + 1));
  }
  if (events.length > 0) throw notKnown();
  return 0;
};

const uncounted = async (world: World, events: readonly Event[]): Promise<readonly Event[]> => {
  const found = await Promise.all(events.map(({ hash }) => world.table.get(eventKey(hash))));
  return events.filter((_, at) => !found[at]);
};

const sumsOf = async (world: World, { account }: Source, events: readonly Event[]) => {
  const byOwner = await Promise.all(
    ownersOf(world, account).map((owner) => sumsFor(world, owner, account, events)),
  );
  return byOwner.flat();
};

/** The writes by which an owner's records take these events in. */
const sumsFor = async (
  world: World,
  owner: string,
  account: string,
  events: readonly Event[],
): Promise<readonly Write[]> => {
  const marks = owner === POOL ? [markOf(world, account)] : [];
  const today = dayOf(world.now());
  const days = new Map<string, Summed>();
  const ofAddress = Map.groupBy(events, ({ canonical }) => canonical);
  const records = await Promise.all(
    [...ofAddress.values()].map(async (own) => {
      const [{ canonical, shard, domain: name }] = own as [Event, ...Event[]];
      const domain = domainHash(world, owner, name);
      const address = addressHash(world, owner, canonical);
      const before = await findKnown(world.table, address);
      const { known, changes } = tallied(before, own, today);
      for (const change of changes) addTo(days, { domain, shard }, change);
      return keepKnown(address, before, { ...known, marks: marked(known.marks, marks) });
    }),
  );
  const sums = [...days.values()].map(({ domain, shard, day, sums: of }) =>
    addToDay(domain, shard, day, of, marks),
  );
  return [...records, ...sums];
};

const tallied = (before: Known | undefined, events: readonly Counted[], today: string) => {
  const [first, ...more] = events as [Counted, ...Counted[]];
  const start = tally(before, first, today);
  return more.reduce((so, event) => {
    const next = tally(so.known, event, today);
    return { known: next.known, changes: [...so.changes, ...next.changes] };
  }, start);
};

const marked = (before: readonly number[], marks: readonly number[]): number[] =>
  [...new Set([...before, ...marks])].slice(0, MARKS_ENOUGH);

type Place = { readonly domain: string; readonly shard: number };
type Summed = Place & { readonly day: string; readonly sums: Partial<Record<Sum, number>> };

const addTo = (days: Map<string, Summed>, place: Place, { day, sum, by }: DayChange): void => {
  const name = addressOf(keyOf(addToDay(place.domain, place.shard, day, {}, [])));
  const found = days.get(name) ?? { ...place, day, sums: {} };
  days.set(name, { ...found, sums: { ...found.sums, [sum]: (found.sums[sum] ?? 0) + by } });
};

const notKnown = () =>
  new Failure(
    "UNAVAILABLE",
    "nothing_charged",
    "It is not known whether all of the events were counted; send them again, for each counts once.",
  );

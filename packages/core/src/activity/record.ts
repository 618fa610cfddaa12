import { toBounceKind } from "@mailproof/mail/bounce-kind";
import {
  getContributorTag,
  getShard,
  listAddressHashes,
  listDomainHashes,
  listEventHashes,
} from "../accounts/hashes.ts";
import { buildFateWrites, FATE_WRITES_MAX, type FateEvent, toFate } from "../calibration/fates.ts";
import { createUnavailableFailure } from "../lib/failure.ts";
import { toUtcDay } from "../lib/time.ts";
import type { Create, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { getItemKey, toItemId } from "../ports/writes.ts";
import { commit } from "../runtime/commit.ts";
import { getEventTime, type IgnoredReason, type MailEvent, toEventKind } from "./events.ts";
import {
  type AddressRecord,
  addToDay,
  CONTRIBUTORS_MIN,
  claimEvent,
  type DaySum,
  findRecord,
  SHARDS,
  SHARED_POOL,
  storeRecord,
  toEventKey,
} from "./items.ts";
import { type DayChange, type TallyEvent, tallyEvent } from "./tally.ts";

/** The account and channel of an event. The event's id is unique only within both. */
export type ActivitySource = { readonly account: string; readonly channel: "api" | "ses" };

export type RecordResult = {
  readonly accepted: number;
  readonly duplicates: number;
  readonly ignored: readonly { readonly id: string; readonly reason: IgnoredReason }[];
};

/**
 * Counts events, each id once. When this returns, all events are counted; when it throws, some may be counted, and the source
 * may send all again.
 */
export const recordEvents = async (
  world: World,
  source: ActivitySource,
  reported: readonly MailEvent[],
): Promise<RecordResult> => {
  const { events, ignored } = toCountableEvents(world, source, reported);
  // The first of several events with one id counts.
  const distinct = [...new Map(events.toReversed().map((one) => [one.hash, one])).values()];
  const sorted = sortByShard(world, await findUncounted(world, distinct, getEarlierHashes));
  let accepted = 0;
  for (const batch of splitIntoBatches(world, sorted))
    accepted += await countBatch(world, source, batch);
  return { accepted, duplicates: events.length - accepted, ignored };
};

/**
 * Sorts events so that writes to the same items are adjacent and transactions rarely conflict. Each request starts at a random
 * shard; otherwise all requests would write to the same shard.
 */
const sortByShard = (
  world: World,
  events: readonly CountableEvent[],
): readonly CountableEvent[] => {
  const first = Math.floor(world.random() * SHARDS);
  const toSortKey = ({ domain, shard, canonical }: CountableEvent) => {
    const shardOrder = String((shard + first) % SHARDS).padStart(2, "0");
    return `${domain} ${shardOrder} ${canonical}`;
  };
  return events
    .map((event) => ({ event, sortKey: toSortKey(event) }))
    .toSorted((a, b) => (a.sortKey < b.sortKey ? -1 : 1))
    .map(({ event }) => event);
};

type CountableEvent = TallyEvent & {
  readonly hash: string;
  /** Its hash by the activity key before: an event that was counted under it is not counted again. */
  readonly earlierHashes: readonly string[];
  /** The event's day according to the source; a repeated event has the same day. */
  readonly reportedDay: string;
  readonly canonical: string;
  readonly domain: string;
  readonly shard: number;
  /** Undefined when the event is no evidence about the mailbox. */
  readonly fate: FateEvent["fate"] | undefined;
};

const toCountableEvents = (
  world: World,
  { account, channel }: ActivitySource,
  all: readonly MailEvent[],
) => {
  const now = world.now();
  const events: CountableEvent[] = [];
  const ignored: { id: string; reason: IgnoredReason }[] = [];
  for (const event of all) {
    const { id, address } = event;
    const at = getEventTime(event, now);
    if (typeof at === "string") ignored.push({ id, reason: at });
    else {
      const [hash, ...earlierHashes] = listEventHashes(world, account, channel, id);
      events.push({
        hash,
        earlierHashes,
        reportedDay: toUtcDay(event.at),
        kind: toEventKind(event),
        at,
        canonical: address.canonical,
        domain: address.domain,
        shard: getShard(world, address.canonical, SHARDS),
        fate: toFate(event.type, toBounceKind(event.bounce ?? {})),
      });
    }
  }
  return { events, ignored };
};

const WRITES_MAX = 100;

/** Fills each transaction with events. An event writes its claim and, per owner, at most an address and two days. */
const splitIntoBatches = (
  world: World,
  events: readonly CountableEvent[],
): readonly (readonly CountableEvent[])[] => {
  const writes = 1 + 3 * listOwners(world, "").length;
  // The account's first hard bounce also changes the account's item.
  const writesMax = WRITES_MAX - Number(events.some(({ fate }) => fate === "hard"));
  const batches: CountableEvent[][] = [];
  let room = 0;
  for (const event of events) {
    const needed = writes + (event.fate ? FATE_WRITES_MAX : 0);
    if (needed > room) {
      batches.push([]);
      room = writesMax;
    }
    batches.at(-1)?.push(event);
    room -= needed;
  }
  return batches;
};

/** With the shared pool an event counts twice: for the account and for the pool. */
const listOwners = ({ settings }: Pick<World, "settings">, account: string): readonly string[] =>
  settings.activityPool === "shared" ? [account, SHARED_POOL] : [account];

const ATTEMPTS_MAX = 12;
/** The wait after the first conflict. Each further wait is longer by 100 ms, which spreads concurrent writers of one address. */
const BACKOFF_MS = 100;

const countBatch = async (
  world: World,
  source: ActivitySource,
  all: readonly CountableEvent[],
): Promise<number> => {
  let events = all;
  for (let attempt = 0; attempt < ATTEMPTS_MAX && events.length > 0; attempt++) {
    const by = world.newId("txn");
    const claims = events.map(({ hash, reportedDay }) => claimEvent(hash, reportedDay, by));
    const [first, ...more] = claims as [Create, ...Create[]];
    const result = await commit(world, {
      proof: first,
      also: [...more, ...(await buildWrites(world, source, events))],
    });
    if (result.outcome === "committed") return events.length;
    if (result.outcome === "ambiguous") throw createUnknownOutcomeFailure();
    if (claims.some((claim) => claim === result.refusedWrite))
      events = await findUncounted(world, events, ({ hash }) => [hash]);
    else await world.sleep(world.random() * BACKOFF_MS * (attempt + 1));
  }
  if (events.length > 0) throw createUnknownOutcomeFailure();
  return 0;
};

const getEarlierHashes = ({ earlierHashes }: CountableEvent): readonly string[] => earlierHashes;

const findUncounted = async (
  world: World,
  events: readonly CountableEvent[],
  getHashes: (event: CountableEvent) => readonly string[],
): Promise<readonly CountableEvent[]> => {
  const isCounted = async (event: CountableEvent): Promise<boolean> =>
    (await Promise.all(getHashes(event).map((hash) => world.table.get(toEventKey(hash))))).some(
      Boolean,
    );
  const counted = await Promise.all(events.map(isCounted));
  return events.filter((_, at) => !counted[at]);
};

const buildWrites = async (
  world: World,
  { account }: ActivitySource,
  events: readonly CountableEvent[],
) => {
  const byOwner = await Promise.all([
    ...listOwners(world, account).map((owner) => buildOwnerWrites(world, owner, account, events)),
    buildFateWrites(world, account, events.filter(hasFate)),
  ]);
  return byOwner.flat();
};

const hasFate = (event: CountableEvent): event is CountableEvent & FateEvent =>
  event.fate !== undefined;

const buildOwnerWrites = async (
  world: World,
  owner: string,
  account: string,
  events: readonly CountableEvent[],
): Promise<readonly Write[]> => {
  const contributorTags = owner === SHARED_POOL ? [getContributorTag(world, account)] : [];
  const today = toUtcDay(world.now());
  const days = new Map<string, ShardDay>();
  const ofAddress = Map.groupBy(events, ({ canonical }) => canonical);
  const records = await Promise.all(
    [...ofAddress.values()].map(async (own) => {
      const [{ canonical, shard, domain: name }] = own as [CountableEvent, ...CountableEvent[]];
      const [domain] = listDomainHashes(world, owner, name);
      const [address, ...earlier] = listAddressHashes(world, owner, canonical);
      const before = await findRecord(world.table, address);
      const known = before ?? (await findEarlierRecord(world, earlier));
      const { record, changes } = tallyAll(known, own, today);
      for (const change of changes) addChange(days, { domain, shard }, change);
      return storeRecord(address, before, {
        ...record,
        marks: mergeTags(record.marks, contributorTags),
      });
    }),
  );
  const sums = [...days.values()].map(({ domain, shard, day, sums: of }) =>
    addToDay(domain, shard, day, of, contributorTags),
  );
  return [...records, ...sums];
};

/** The record by the key before, which its first new event continues. Its tags are dropped: they name the accounts otherwise. */
const findEarlierRecord = async (
  { table }: Pick<World, "table">,
  [hash]: readonly string[],
): Promise<AddressRecord | undefined> => {
  const record = hash === undefined ? undefined : await findRecord(table, hash);
  return record && { ...record, marks: [] };
};

const tallyAll = (
  before: AddressRecord | undefined,
  events: readonly TallyEvent[],
  today: string,
) => {
  const [first, ...more] = events as [TallyEvent, ...TallyEvent[]];
  const start = tallyEvent(before, first, today);
  return more.reduce((so, event) => {
    const next = tallyEvent(so.record, event, today);
    return { record: next.record, changes: [...so.changes, ...next.changes] };
  }, start);
};

const mergeTags = (before: readonly number[], tags: readonly number[]): number[] =>
  [...new Set([...before, ...tags])].slice(0, CONTRIBUTORS_MIN);

type DayShard = { readonly domain: string; readonly shard: number };
type ShardDay = DayShard & { readonly day: string; readonly sums: Partial<Record<DaySum, number>> };

const addChange = (
  days: Map<string, ShardDay>,
  shard: DayShard,
  { day, sum, by }: DayChange,
): void => {
  const name = toItemId(getItemKey(addToDay(shard.domain, shard.shard, day, {}, [])));
  const found = days.get(name) ?? { ...shard, day, sums: {} };
  days.set(name, { ...found, sums: { ...found.sums, [sum]: (found.sums[sum] ?? 0) + by } });
};

const createUnknownOutcomeFailure = () =>
  createUnavailableFailure(
    "It is not known whether all events were counted. Send them again; each is counted once.",
  );

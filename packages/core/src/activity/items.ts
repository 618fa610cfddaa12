import * as v from "valibot";
import type { Hashes } from "../accounts/hashes.ts";
import { toEpochSeconds } from "../lib/time.ts";
import {
  type Amounts,
  findItem,
  type Item,
  type Key,
  type Table,
  type Write,
} from "../ports/table.ts";
import { getExpiry } from "./days.ts";
import { RETENTION_DAYS } from "./events.ts";

// Layout. Addresses, domains and events are keyed hashes (hashes.ts), different for each owner, never plain text. The sums of a
// domain's day are sharded by address, so that a day with a million events writes to sixteen partitions, and an address always
// writes to the same one.
//
//   pk                               sk       content
//   ACTIVITY#<address>               ADDRESS  the record of one address; expires with its last event's retention
//   ACTIVITYDAYS#<domain>#<shard>    <day>    sums of one day, and the number of addresses
//   ACTIVITYEVENT#<event>            COUNTED  marks a counted event; expires when the event is too old to be reported again
//   LISTED#<domain>                  STATUS   a domain's blocklist status, for all accounts

/** The owner of the shared pool's records, if the operator enables the pool. No account has this id. */
export const SHARED_POOL = "~pool";

/** With fewer contributing accounts, the pool would reveal the activity of a single account. */
export const CONTRIBUTORS_MIN = 3;

/** A DynamoDB partition accepts 500 transactions a second, so sixteen accept 8,000 events a second for one domain. */
export const SHARDS = 16;

/** Two windows of thirty days and some days more, for the days of domains and of addresses. */
export const DAYS_RETAINED = 90;

const Count = v.number();

const AddressRecord = v.object({
  /** The revision: a write requires the revision that it was computed from. */
  rev: Count,
  since: v.string(),
  lastDay: v.string(),
  lastOpen: v.nullable(v.string()),
  lastClick: v.nullable(v.string()),
  opens: Count,
  clicks: Count,
  /** Opens and clicks by bots. */
  machine: Count,
  delivered: Count,
  bounced: Count,
  complained: Count,
  rejected: Count,
  delayed: Count,
  /** Each tuple counts the events, opens and clicks of one day. */
  days: v.record(v.string(), v.tuple([Count, Count, Count])),
  /** In the shared pool: the contributor tags of reporting accounts, up to the required number. */
  marks: v.pipe(v.array(Count), v.readonly()),
});

export type AddressRecord = Readonly<v.InferOutput<typeof AddressRecord>>;

export const EMPTY_RECORD = {
  rev: 0,
  lastOpen: null,
  lastClick: null,
  opens: 0,
  clicks: 0,
  machine: 0,
  delivered: 0,
  bounced: 0,
  complained: 0,
  rejected: 0,
  delayed: 0,
  days: {},
  marks: [],
} as const;

const toRecordKey = (address: string): Key => ({ pk: `ACTIVITY#${address}`, sk: "ADDRESS" });

/** The record under the first of these hashes that has one. */
export const findRecord = async (
  table: Table,
  ...[address, ...others]: Hashes
): Promise<AddressRecord | undefined> => {
  const item = await table.get(toRecordKey(address));
  if (item) return v.parse(AddressRecord, item);
  const [next, ...last] = others;
  return next === undefined ? undefined : findRecord(table, next, ...last);
};

/** The table refuses the write when another process wrote the record since the read. */
export const storeRecord = (
  address: string,
  before: AddressRecord | undefined,
  record: AddressRecord,
): Write => {
  const key = toRecordKey(address);
  const fields = {
    ...record,
    rev: (before?.rev ?? 0) + 1,
    expires_at: getExpiry(record.lastDay, RETENTION_DAYS),
  };
  return before
    ? { update: key, set: fields, where: { rev: before.rev } }
    : { create: { ...key, ...fields } };
};

export const removeRecord = (address: string, { rev }: AddressRecord): Write => ({
  remove: toRecordKey(address),
  where: { rev },
});

/** An absent sum of a day counts as 0. */
export const DAY_SUMS = [
  "delivered",
  "bounced",
  "complained",
  "engaged",
  "active",
  "people",
] as const;
export type DaySum = (typeof DAY_SUMS)[number];

const Optional = v.optional(Count, 0);
const CONTRIBUTOR_FIELD = /^by_(\d+)$/;

const DaySums = v.pipe(
  v.looseObject({
    sk: v.string(),
    delivered: Optional,
    bounced: Optional,
    complained: Optional,
    engaged: Optional,
    active: Optional,
    people: Optional,
  }),
  v.transform(({ sk: day, ...fields }) => ({
    ...fields,
    day,
    marks: Object.keys(fields).flatMap((name) => CONTRIBUTOR_FIELD.exec(name)?.[1] ?? []),
  })),
);

/**
 * Counts of addresses. `active`: addresses with an event on that day. `people`: addresses without a later event, so that the
 * sum over days counts each address once. `engaged`: addresses that opened or clicked.
 */
export type DaySums = Readonly<Record<DaySum, number>> & {
  readonly day: string;
  readonly marks: readonly string[];
};

export const toDaysPartition = (domain: string, shard: number): string =>
  `ACTIVITYDAYS#${domain}#${shard}`;
export const readDay = (item: Item): DaySums => v.parse(DaySums, item);

export const addToDay = (
  domain: string,
  shard: number,
  day: string,
  sums: Partial<Record<DaySum, number>>,
  contributorTags: readonly number[],
): Write => {
  const byTag = Object.fromEntries(contributorTags.map((tag) => [`by_${tag}`, 1]));
  return {
    update: { pk: toDaysPartition(domain, shard), sk: day },
    set: { expires_at: getExpiry(day, DAYS_RETAINED) },
    add: { ...omitZeroAmounts(sums), ...byTag },
    orCreate: true,
  };
};

const omitZeroAmounts = (sums: Partial<Record<DaySum, number>>): Amounts =>
  Object.fromEntries(Object.entries(sums).filter(([, amount]) => amount !== 0));

export const toEventKey = (event: string): Key => ({ pk: `ACTIVITYEVENT#${event}`, sk: "COUNTED" });

/** `by` identifies the writer after a lost reply. The claim is retained a day longer than the event may be reported again. */
export const claimEvent = (event: string, day: string, by: string): { readonly create: Item } => ({
  create: { ...toEventKey(event), by, expires_at: getExpiry(day, RETENTION_DAYS + 1) },
});

const BlocklistStatus = v.object({ listed: v.nullable(v.boolean()), checkedAt: v.string() });
/** `listed` is null when no list gave a verdict. */
export type BlocklistStatus = Readonly<v.InferOutput<typeof BlocklistStatus>>;

const toStatusKey = (domain: string): Key => ({ pk: `LISTED#${domain}`, sk: "STATUS" });

export const findStoredStatus = (
  table: Table,
  domain: string,
): Promise<BlocklistStatus | undefined> =>
  findItem(table, toStatusKey(domain), (item) => v.parse(BlocklistStatus, item));

export const storeStatus = (
  domain: string,
  status: BlocklistStatus,
  retentionSeconds: number,
): Write => ({
  put: {
    ...toStatusKey(domain),
    ...status,
    expires_at: toEpochSeconds(new Date(status.checkedAt)) + retentionSeconds,
  },
});

import * as v from "valibot";
import type { Hashes } from "../accounts/hashes.ts";
import { DAY_MS, toEpochSeconds } from "../lib/time.ts";
import {
  type Amounts,
  findItem,
  type Item,
  type Key,
  type Table,
  type Write,
} from "../ports/table.ts";

// Layout. The verdicts that accounts received, and the fate of the mail that accounts then sent. Addresses and domains are
// keyed hashes, different for each account, as in activity/items.ts.
//
//   pk                   sk                                    content
//   VERDICT#<address>    VERDICT                               an account's last verdict about an address, the fate of
//                                                              its mail, and the time of its bounce
//   CALIBRATION#<shard>  <yyyy-mm>#<provider>#<status>#<band>  addresses of all accounts by the fate of their mail, in
//                                                              total and by contributor tag
//   ELSEWHERE#<job>      COUNTS                                of a list with another service's verdicts: addresses by the
//                                                              fate of their mail, and how many of them each got right
//   SENTTO#<domain>      COUNTS                                an account's addresses at a domain that may be a
//                                                              catch-all, by the fate of their mail

/** Mail sent more than 30 days after a verification does not test its verdict: people leave, mailboxes fill up. */
export const LINKED_DAYS = 30;
/** A hard bounce counts against an address for 30 days; every sender's own suppression list holds longer. */
export const BOUNCE_DAYS = 30;
/** A year and the current month, so that a month can be compared with the same month of last year. */
const RETAINED_MONTHS_DAYS = 400;

/** The fate of an address's mail. `soft`: at most a soft bounce is known. */
const FATES = ["delivered", "soft", "hard"] as const;
export type Fate = (typeof FATES)[number];

const VerdictItem = v.object({
  /** The revision: a write requires the revision that it was computed from. */
  rev: v.number(),
  /** Absent when the address bounced without a verdict of the last 30 days. */
  verdict: v.optional(
    v.object({
      status: v.string(),
      score: v.number(),
      provider: v.string(),
      mayBeCatchAll: v.boolean(),
      at: v.string(),
      /** The list of the address, and whether it has a good verdict of another service. 0.2.0 has none. */
      elsewhere: v.optional(v.object({ job: v.string(), isGood: v.optional(v.boolean()) })),
    }),
  ),
  fate: v.optional(v.picklist(FATES)),
  bouncedAt: v.optional(v.string()),
  expires_at: v.number(),
});
export type VerdictItem = Readonly<v.InferOutput<typeof VerdictItem>>;
export type GivenVerdict = NonNullable<VerdictItem["verdict"]>;

export const toVerdictKey = (address: string): Key => ({ pk: `VERDICT#${address}`, sk: "VERDICT" });

const findVerdictItem = (table: Table, address: string): Promise<VerdictItem | undefined> =>
  findItem(table, toVerdictKey(address), (item) => v.parse(VerdictItem, item));

/** `known`: the stored item with the facts of the item by the activity key before, which it continues. */
export const findKnownVerdict = async (
  table: Table,
  [address, before]: Hashes,
): Promise<{ stored: VerdictItem | undefined; known: VerdictItem | undefined }> => {
  const [stored, earlier] = await Promise.all([
    findVerdictItem(table, address),
    before === undefined ? undefined : findVerdictItem(table, before),
  ]);
  if (!earlier) return { stored, known: stored };
  const bounces = [stored?.bouncedAt, earlier.bouncedAt].filter((at) => at !== undefined);
  const bouncedAt = bounces.toSorted().at(-1);
  const { verdict, fate } = stored?.verdict ? stored : earlier;
  return {
    stored,
    known: {
      rev: stored?.rev ?? 0,
      expires_at: earlier.expires_at,
      ...(verdict && { verdict }),
      ...(fate && { fate }),
      ...(bouncedAt !== undefined && { bouncedAt }),
    },
  };
};

const inDays = (now: Date, days: number): number =>
  toEpochSeconds(new Date(now.getTime() + days * DAY_MS));

/** A new verdict resets the fate, since earlier mail does not test the verdict. A hard bounce stays. */
export const storeVerdict = (address: string, verdict: GivenVerdict, now: Date): Write => ({
  update: toVerdictKey(address),
  set: { verdict, fate: undefined, expires_at: inDays(now, LINKED_DAYS) },
  add: { rev: 1 },
  orCreate: true,
});

/** The table refuses the write when the item changed since the read. */
export const storeFate = (
  address: string,
  before: VerdictItem | undefined,
  change: Pick<VerdictItem, "fate" | "bouncedAt" | "verdict">,
  now: Date,
): Write => {
  const fields = { ...change, expires_at: inDays(now, Math.max(LINKED_DAYS, BOUNCE_DAYS)) };
  return before
    ? {
        update: toVerdictKey(address),
        set: { ...fields, rev: before.rev + 1 },
        where: { rev: before.rev },
      }
    : { create: { ...toVerdictKey(address), ...fields, rev: 1 } };
};

const BAD: ReadonlySet<string> = new Set(["invalid", "disposable", "spam_trap"]);

/** Whether a status promises a delivery or a bounce. Undefined: neither. */
export const isGoodVerdict = (status: string): boolean | undefined => {
  if (status === "valid") return true;
  return BAD.has(status) ? false : undefined;
};

export const toElsewhereKey = (job: string): Key => ({ pk: `ELSEWHERE#${job}`, sk: "COUNTS" });

/** As long as the list itself may be stored. */
const ELSEWHERE_DAYS = 100;

export const addToElsewhere = (job: string, add: Amounts, now: Date): Write => ({
  update: toElsewhereKey(job),
  add,
  set: { expires_at: inDays(now, ELSEWHERE_DAYS) },
  orCreate: true,
});

export type ElsewhereCounts = Readonly<
  Record<
    "delivered" | "hard",
    { readonly rows: number; readonly ours: number; readonly theirs: number }
  >
>;

export const findElsewhereCounts = async (table: Table, job: string): Promise<ElsewhereCounts> => {
  const item: Partial<Item> = (await table.get(toElsewhereKey(job))) ?? {};
  const read = (fate: Fate) => ({
    rows: Number(item[fate] ?? 0),
    ours: Number(item[`${fate}_ours`] ?? 0),
    theirs: Number(item[`${fate}_theirs`] ?? 0),
  });
  return { delivered: read("delivered"), hard: read("hard") };
};

/** Four partitions allow 2,000 transactions a second. Of the mail to a list, one address in ten counts. */
export const CALIBRATION_SHARDS = 4;

export type CalibrationCell = {
  readonly provider: string;
  readonly month: string;
  readonly status: string;
  /** The lowest score of a band of ten scores. */
  readonly band: number;
};

export const toCell = ({ provider, status, score, at }: GivenVerdict): CalibrationCell => ({
  provider,
  month: at.slice(0, 7),
  status,
  band: Math.min(90, Math.floor(score / 10) * 10),
});

export const toCalibrationPartition = (shard: number): string => `CALIBRATION#${shard}`;

export type FateCounts = Readonly<Record<Fate, number>>;
export const NO_FATES: FateCounts = { delivered: 0, soft: 0, hard: 0 };

export const addToCell = (
  { provider, month, status, band }: CalibrationCell,
  shard: number,
  add: Amounts,
  now: Date,
): Write => ({
  update: {
    pk: toCalibrationPartition(shard),
    sk: [month, provider, status, String(band).padStart(2, "0")].join("#"),
  },
  set: { expires_at: inDays(now, RETAINED_MONTHS_DAYS) },
  add,
  orCreate: true,
});

export type CellCounts = CalibrationCell & {
  readonly counts: FateCounts;
  readonly byTag: ReadonlyMap<string, FateCounts>;
};

const FATE_FIELD = /^(delivered|soft|hard)(?:_(\d+))?$/;

export const toFateField = (fate: Fate, tag?: number): string =>
  tag === undefined ? fate : `${fate}_${tag}`;

export const readCell = (item: Item): CellCounts => {
  const [month = "", provider = "", status = "", band = ""] = item.sk.split("#");
  const byTag = new Map<string, FateCounts>();
  let counts = NO_FATES;
  for (const [name, value] of Object.entries(item)) {
    const [, fate, tag] = FATE_FIELD.exec(name) ?? [];
    if (fate === undefined || typeof value !== "number") continue;
    if (tag === undefined) counts = { ...counts, [fate]: value };
    else byTag.set(tag, { ...(byTag.get(tag) ?? NO_FATES), [fate]: value });
  }
  return { provider, month, status, band: Number(band), counts, byTag };
};

const toSentKey = (domain: string): Key => ({ pk: `SENTTO#${domain}`, sk: "COUNTS" });

const SentTo = v.object({
  delivered: v.optional(v.number(), 0),
  hard: v.optional(v.number(), 0),
});

/** Addresses at a possible catch-all domain, by the fate of the account's mail. */
export type SentTo = Readonly<v.InferOutput<typeof SentTo>>;
export const NOTHING_SENT: SentTo = { delivered: 0, hard: 0 };

export const findSentTo = async (table: Table, domain: string): Promise<SentTo> => {
  const item = v.safeParse(SentTo, await table.get(toSentKey(domain)));
  return item.success ? item.output : NOTHING_SENT;
};

export const addToSent = (domain: string, add: Amounts, now: Date): Write => ({
  update: toSentKey(domain),
  set: { expires_at: inDays(now, RETAINED_MONTHS_DAYS) },
  add,
  orCreate: true,
});

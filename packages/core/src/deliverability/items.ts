import * as v from "valibot";
import { deflated, inflated } from "../deflated.ts";
import { everyItem } from "../every-item.ts";
import { fingerprint } from "../fingerprint.ts";
import { epochSeconds } from "../moments.ts";
import type { Item, Json, Key, Table, Write } from "../table.ts";
import type { Report } from "./analyse-domain.ts";
import { CONFIDENCES } from "./coverage.ts";

// Layout. A check is two items: what the history shows of it, and its report. The latest of a domain and address is
// what a repeat within a day is told, and what the next check is compared with.
//
//   pk                      sk      list_pk         list_sk             what
//   CHECK#<id>              CHECK   CHECKS#<owner>  <checked at>#<id>   of what, and what it came to
//   CHECK#<id>              REPORT                                      report, deflated
//   LATEST#<owner>#<hash>   LATEST                                      check, checkedAt, and what stands

/** What is checked. */
export type Subject = {
  /** In A-labels. */
  readonly domain: string;
  readonly sendingIp: string | null;
};

const Check = v.object({
  id: v.string(),
  owner: v.string(),
  domain: v.string(),
  sendingIp: v.nullable(v.string()),
  score: v.number(),
  grade: v.picklist(["A", "B", "C", "D", "F"]),
  /** The first release did not store it. */
  confidence: v.optional(v.picklist(CONFIDENCES)),
  checkedAt: v.string(),
  expiresAt: v.number(),
});

/** What the history shows of a check. */
export type Check = Readonly<v.InferOutput<typeof Check>>;

/** What a check keeps of what it found: the questions themselves are nobody's business afterwards. */
export type StoredReport = Omit<Report, "asked" | "kind" | "reputation"> & {
  readonly reputation: Omit<Report["reputation"], "outcomes">;
};

const checkKey = (id: string): Key => ({ pk: `CHECK#${id}`, sk: "CHECK" });
const reportKey = (id: string): Key => ({ pk: `CHECK#${id}`, sk: "REPORT" });
const checksOf = (owner: string): string => `CHECKS#${owner}`;

export const writesOfCheck = (check: Check, report: StoredReport): readonly Write[] => [
  {
    create: {
      ...checkKey(check.id),
      list_pk: checksOf(check.owner),
      list_sk: `${check.checkedAt}#${check.id}`,
      expires_at: check.expiresAt,
      ...check,
    },
  },
  {
    create: {
      ...reportKey(check.id),
      expires_at: check.expiresAt,
      report: deflated(report as unknown as Json),
    },
  },
];

export const findCheck = async (table: Table, id: string): Promise<Check | undefined> => {
  const item = await table.get(checkKey(id));
  return item && v.parse(Check, item);
};

export const findReport = async (table: Table, id: string): Promise<StoredReport | undefined> => {
  const item = await table.get(reportKey(id));
  return item && (inflated(v.parse(v.string(), item["report"])) as StoredReport);
};

/** Newest first. */
export async function* checksListed(
  table: Table,
  owner: string,
  pageSize: number,
): AsyncGenerator<Check> {
  const list = { index: "list", pk: checksOf(owner), newestFirst: true, pageSize } as const;
  for await (const item of everyItem(table, list)) yield v.parse(Check, item);
}

const Latest = v.object({
  check: v.string(),
  checkedAt: v.string(),
  /** The lists that last said of it that it is listed, and whether DMARC failed when last it could be told. */
  listedOn: v.array(v.string()),
  isDmarcFailing: v.boolean(),
});

export type Latest = Readonly<v.InferOutput<typeof Latest>>;

/** Longer than any monitor waits, so that what stands is not news again. */
const STANDS_SECONDS = 100 * 86_400;

const latestKey = (owner: string, { domain, sendingIp }: Subject): Key => ({
  pk: `LATEST#${owner}#${fingerprint([domain, sendingIp])}`,
  sk: "LATEST",
});

/** Refused when another check of the same came in between: then `before` is not what was before. */
export const writeOfLatest = (
  owner: string,
  subject: Subject,
  latest: Latest,
  before: Latest | undefined,
): Write => {
  const expires_at = epochSeconds(new Date(latest.checkedAt)) + STANDS_SECONDS;
  const fields = { ...latest, expires_at };
  const key = latestKey(owner, subject);
  return before
    ? { update: key, set: fields, where: { check: before.check } }
    : { create: { ...key, ...fields } };
};

export const findLatest = async (
  table: Table,
  owner: string,
  subject: Subject,
): Promise<Latest | undefined> => {
  const item: Item | undefined = await table.get(latestKey(owner, subject));
  return item && v.parse(Latest, item);
};

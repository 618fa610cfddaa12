import * as v from "valibot";
import { compressJson, decompressJson } from "../lib/compress.ts";
import { fingerprint } from "../lib/fingerprint.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import { toEpochSeconds } from "../lib/time.ts";
import { findItem, type Json, type Key, type Table, type Write } from "../ports/table.ts";
import type { CheckReport } from "./analyse-domain.ts";
import { CONFIDENCES } from "./coverage.ts";

// Layout. A check is two items: its entry in the history, and its report. The latest check of a domain and address answers a
// repeat within a day, and the next check is compared with it.
//
//   pk                      sk      list_pk         list_sk             content
//   CHECK#<id>              CHECK   CHECKS#<owner>  <checked at>#<id>   the subject and the score
//   CHECK#<id>              REPORT                                      report, compressed
//   LATEST#<owner>#<hash>   LATEST                                      check, checkedAt, and the current alerts

export type CheckSubject = {
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
  confidence: v.picklist(CONFIDENCES),
  checkedAt: v.string(),
  expiresAt: v.number(),
});

export type Check = Readonly<v.InferOutput<typeof Check>>;

/** The stored part of a report: later requests do not need the DNS queries. */
export type StoredReport = Omit<CheckReport, "dnsQueries" | "kind" | "reputation"> & {
  readonly reputation: Omit<CheckReport["reputation"], "outcomes">;
};

const toCheckKey = (id: string): Key => ({ pk: `CHECK#${id}`, sk: "CHECK" });
const toReportKey = (id: string): Key => ({ pk: `CHECK#${id}`, sk: "REPORT" });
const toListKey = (owner: string): string => `CHECKS#${owner}`;

export const createCheckWrites = (check: Check, report: StoredReport): readonly Write[] => [
  {
    create: {
      ...toCheckKey(check.id),
      list_pk: toListKey(check.owner),
      list_sk: `${check.checkedAt}#${check.id}`,
      expires_at: check.expiresAt,
      ...check,
    },
  },
  {
    create: {
      ...toReportKey(check.id),
      expires_at: check.expiresAt,
      report: compressJson(report as unknown as Json),
    },
  },
];

export const findCheck = (table: Table, id: string): Promise<Check | undefined> =>
  findItem(table, toCheckKey(id), (item) => v.parse(Check, item));

export const findReport = (table: Table, id: string): Promise<StoredReport | undefined> =>
  findItem(
    table,
    toReportKey(id),
    (item) => decompressJson(v.parse(v.string(), item["report"])) as StoredReport,
  );

export async function* iterateChecks(
  table: Table,
  owner: string,
  pageSize: number,
): AsyncGenerator<Check> {
  const list = { index: "list", pk: toListKey(owner), newestFirst: true, pageSize } as const;
  for await (const item of paginateQuery(table, list)) yield v.parse(Check, item);
}

const LatestCheck = v.object({
  check: v.string(),
  checkedAt: v.string(),
  /** The lists that last listed the domain, and whether DMARC failed when it could last be decided. */
  listedOn: v.array(v.string()),
  isDmarcFailing: v.boolean(),
});

export type LatestCheck = Readonly<v.InferOutput<typeof LatestCheck>>;

/** Longer than any monitor's interval, so that a continuing alert is not emitted again. */
const LATEST_RETENTION_SECONDS = 100 * 86_400;

const toLatestKey = (owner: string, { domain, sendingIp }: CheckSubject): Key => ({
  pk: `LATEST#${owner}#${fingerprint([domain, sendingIp])}`,
  sk: "LATEST",
});

/** The table refuses the write when another check of the same subject was stored in between: then `before` is outdated. */
export const createLatestWrite = (
  owner: string,
  subject: CheckSubject,
  latest: LatestCheck,
  before: LatestCheck | undefined,
): Write => {
  const expires_at = toEpochSeconds(new Date(latest.checkedAt)) + LATEST_RETENTION_SECONDS;
  const fields = { ...latest, expires_at };
  const key = toLatestKey(owner, subject);
  return before
    ? { update: key, set: fields, where: { check: before.check } }
    : { create: { ...key, ...fields } };
};

export const findLatest = (
  table: Table,
  owner: string,
  subject: CheckSubject,
): Promise<LatestCheck | undefined> =>
  findItem(table, toLatestKey(owner, subject), (item) => v.parse(LatestCheck, item));

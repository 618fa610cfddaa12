import * as v from "valibot";
import { fingerprint } from "../lib/fingerprint.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import { StoredHalves } from "../money/balance.ts";
import { KEY_MODES } from "../money/payer.ts";
import { findItem, type Item, type Key, type Table, type Write } from "../ports/table.ts";
import { scheduleWork } from "../runtime/leases.ts";
import { CONFIDENCES } from "./coverage.ts";
import type { CheckSubject } from "./items.ts";

// Layout. A monitored domain; scheduled for the time of its next check.
//
//   pk                     sk            list_pk           list_sk             content
//   MONITOR#<id>           MONITOR       MONITORS#<owner>  <created at>#<id>   subject, interval, result of the last run
//   MONITORCOUNT#<owner>   MONITORCOUNT                                        monitors: the number of monitors

export const MONITOR = "monitor";

export const INTERVAL_HOURS = { least: 24, most: 30 * 24 } as const;

const PROBLEMS = ["insufficient_credits", "no_verdict", "failed"] as const;
export type MonitorProblem = (typeof PROBLEMS)[number];

const Monitor = v.object({
  id: v.string(),
  owner: v.string(),
  account: v.string(),
  mode: v.picklist(KEY_MODES),
  /** The person who added it, whose limit its checks count against. Absent when a key did, and in 0.2.0. */
  person: v.optional(v.string()),
  /** The limit that the person had then. It counts when the person has left the account. */
  monthlyHalves: v.optional(StoredHalves),
  domain: v.string(),
  sendingIp: v.nullable(v.string()),
  intervalHours: v.number(),
  createdAt: v.string(),
  nextAt: v.string(),
  last: v.nullable(
    v.object({
      check: v.string(),
      score: v.number(),
      grade: v.string(),
      confidence: v.picklist(CONFIDENCES),
      checkedAt: v.string(),
    }),
  ),
  problem: v.nullable(v.picklist(PROBLEMS)),
});

export type Monitor = Readonly<v.InferOutput<typeof Monitor>>;

/** An owner has at most one monitor per domain and address, so both determine the id. */
export const toMonitorId = (owner: string, { domain, sendingIp }: CheckSubject): string =>
  `mon_${fingerprint([owner, domain, sendingIp])}`;

export const toMonitorKey = (id: string): Key => ({ pk: `MONITOR#${id}`, sk: "MONITOR" });
const toListKey = (owner: string): string => `MONITORS#${owner}`;
export const parseMonitor = (item: Item): Monitor => v.parse(Monitor, item);

export const toMonitorItem = (monitor: Monitor, token: string): Item => ({
  ...toMonitorKey(monitor.id),
  list_pk: toListKey(monitor.owner),
  list_sk: `${monitor.createdAt}#${monitor.id}`,
  ...monitor,
  ...scheduleWork(MONITOR, monitor.id, new Date(monitor.nextAt), token),
});

/** Each monitor costs its owner credits every day; this limit stops a script that adds monitors in a loop. */
export const MONITORS_MAX = 100;

export const createMonitorIncrement = (owner: string): Write => ({
  update: toCountKey(owner),
  add: { monitors: 1 },
  bounds: { monitors: { atMost: MONITORS_MAX } },
  orCreate: true,
});

export const createMonitorDecrement = (owner: string): Write => ({
  update: toCountKey(owner),
  add: { monitors: -1 },
});

const toCountKey = (owner: string): Key => ({ pk: `MONITORCOUNT#${owner}`, sk: "MONITORCOUNT" });

export const findMonitor = (table: Table, id: string): Promise<Monitor | undefined> =>
  findItem(table, toMonitorKey(id), parseMonitor);

export const listMonitors = async (table: Table, owner: string): Promise<Monitor[]> => {
  const list = { index: "list", pk: toListKey(owner), newestFirst: true } as const;
  return Array.fromAsync(paginateQuery(table, list), parseMonitor);
};

import * as v from "valibot";
import { KEY_MODES } from "../access/key-form.ts";
import { dueAt } from "../due.ts";
import { everyItem } from "../every-item.ts";
import { fingerprint } from "../fingerprint.ts";
import type { Item, Key, Table, Write } from "../table.ts";
import { CONFIDENCES } from "./coverage.ts";
import type { Subject } from "./items.ts";

// Layout. A domain that is watched; due when it is to be checked next.
//
//   pk                     sk            list_pk           list_sk             what
//   MONITOR#<id>           MONITOR       MONITORS#<owner>  <created at>#<id>   of what, how often, what came last
//   MONITORCOUNT#<owner>   MONITORCOUNT                                        monitors: how many there are

export const MONITOR = "monitor";

/** How often a domain may be checked. */
export const INTERVAL_HOURS = { least: 24, most: 30 * 24 } as const;

/** Why a run came to nothing. */
const PROBLEMS = ["insufficient_credits", "no_verdict", "failed"] as const;
export type Problem = (typeof PROBLEMS)[number];

const Monitor = v.object({
  id: v.string(),
  owner: v.string(),
  account: v.string(),
  mode: v.picklist(KEY_MODES),
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
      /** The first release did not store it. */
      confidence: v.optional(v.picklist(CONFIDENCES)),
      checkedAt: v.string(),
    }),
  ),
  problem: v.nullable(v.picklist(PROBLEMS)),
});

export type Monitor = Readonly<v.InferOutput<typeof Monitor>>;

/** One owner watches one domain and address once, so the id follows from them. */
export const monitorId = (owner: string, { domain, sendingIp }: Subject): string =>
  `mon_${fingerprint([owner, domain, sendingIp])}`;

export const monitorKey = (id: string): Key => ({ pk: `MONITOR#${id}`, sk: "MONITOR" });
const monitorsOf = (owner: string): string => `MONITORS#${owner}`;
export const readMonitor = (item: Item): Monitor => v.parse(Monitor, item);

export const monitorItem = (monitor: Monitor, token: string): Item => ({
  ...monitorKey(monitor.id),
  list_pk: monitorsOf(monitor.owner),
  list_sk: `${monitor.createdAt}#${monitor.id}`,
  ...monitor,
  ...dueAt(MONITOR, monitor.id, new Date(monitor.nextAt), token),
});

/** Each of them costs its owner money day by day; a script that adds them in a loop meets this. */
export const MONITORS_MAX = 100;

export const oneMoreMonitor = (owner: string): Write => ({
  update: countKey(owner),
  add: { monitors: 1 },
  leaving: { monitors: { atMost: MONITORS_MAX } },
  orCreate: true,
});

export const oneMonitorLess = (owner: string): Write => ({
  update: countKey(owner),
  add: { monitors: -1 },
});

const countKey = (owner: string): Key => ({ pk: `MONITORCOUNT#${owner}`, sk: "MONITORCOUNT" });

export const findMonitor = async (table: Table, id: string): Promise<Monitor | undefined> => {
  const item = await table.get(monitorKey(id));
  return item && readMonitor(item);
};

/** Newest first. */
export const listMonitors = async (table: Table, owner: string): Promise<Monitor[]> => {
  const list = { index: "list", pk: monitorsOf(owner), newestFirst: true } as const;
  return Array.fromAsync(everyItem(table, list), readMonitor);
};

import { createBoundedMap } from "@mailproof/mail/lib/bounded-map";
import { getWindowStart } from "../lib/time.ts";
import type { Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { type RequestEntry, toRequestItem } from "./items.ts";

/** Stores an answered request. Never fails, so a full or broken log does not fail the request. */
export type RequestLog = (owner: string, entry: RequestEntry, by: RequestSender) => Promise<void>;

/** Strangers can send any number of visitors' requests, which must not fill the log of the account's own programs. */
export type RequestSender = "account" | "visitor";

const WINDOW_SECONDS = 3_600;
/** The entries per hour and process for each owner: 1,000 each for programs and visitors, successes and failures. */
const ENTRIES_PER_HOUR_MAX = 1_000;
const OWNERS_MAX = 10_000;

export const createEntryLimit = (now: World["now"]) => {
  const counts = createBoundedMap<{ readonly window: number; n: number }>({
    weightMax: OWNERS_MAX,
  });
  return (owner: string, { code }: Pick<RequestEntry, "code">, by: RequestSender): boolean => {
    const window = getWindowStart(now(), WINDOW_SECONDS);
    const name = `${code === null ? "ok" : "failed"} ${by} ${owner}`;
    const found = counts.get(name);
    const count = found?.window === window ? found : { window, n: 0 };
    if (count !== found) counts.set(name, count);
    count.n++;
    return count.n <= ENTRIES_PER_HOUR_MAX;
  };
};

/** Writes each request before its response, for a process that may freeze after each response. */
export const createRequestLog = (table: Table, now: World["now"]): RequestLog => {
  const mayStore = createEntryLimit(now);
  return async (owner, entry, by) => {
    if (!mayStore(owner, entry, by)) return;
    const item = toRequestItem(owner, [entry], now());
    if (item) await table.write({ put: item }).catch(() => undefined);
  };
};

import { createBoundedMap } from "@mailproof/mail/lib/bounded-map";
import { getWindowStart } from "../lib/time.ts";
import type { Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { type RequestEntry, toRequestItem } from "./items.ts";

/** Stores an answered request. It never fails: a request is not worth less because it could not be noted. */
export type RequestLog = (owner: string, entry: RequestEntry, by: RequestSender) => Promise<void>;

/** Strangers send what visitors send, and must not fill the log of the account's own programs. */
export type RequestSender = "account" | "visitor";

const WINDOW_SECONDS = 3_600;
/** Of successful and of failed requests each, for an owner's programs and visitors each, for an hour, in one process. */
const ENTRIES_PER_HOUR_MAX = 1_000;
const OWNERS_MAX = 10_000;

/** Limits what one owner can fill. */
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

/** For a process that may be frozen after each response: each request is one write before its response. */
export const createRequestLog = (table: Table, now: World["now"]): RequestLog => {
  const mayStore = createEntryLimit(now);
  return async (owner, entry, by) => {
    if (!mayStore(owner, entry, by)) return;
    const item = toRequestItem(owner, [entry], now());
    if (item) await table.write({ put: item }).catch(() => undefined);
  };
};

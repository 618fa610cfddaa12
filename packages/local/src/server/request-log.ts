import type { Table } from "@mailproof/core/ports/table";
import type { World } from "@mailproof/core/ports/world";
import { type RequestEntry, toRequestItem } from "@mailproof/core/requests/items";
import { createEntryLimit, type RequestLog } from "@mailproof/core/requests/request-log";

/** A crash loses at most the entries of this time. */
const FLUSH_EVERY_MS = 1_000;
/** An entry takes about 200 bytes. */
const ENTRIES_OF_ITEM_MAX = 500;

type BufferedRequestLog = {
  readonly log: RequestLog;
  /** Stores the entries in memory. */
  readonly flush: () => Promise<void>;
  readonly stop: () => void;
};

/** Each owner with requests costs one write a second, however many requests the owner sends. */
export const createBufferedRequestLog = (table: Table, now: World["now"]): BufferedRequestLog => {
  const mayStore = createEntryLimit(now);
  let buffers = new Map<string, RequestEntry[]>();

  const store = async (owner: string, entries: readonly RequestEntry[]): Promise<void> => {
    const item = toRequestItem(owner, entries, now());
    if (item) await table.write({ put: item }).catch(() => undefined);
  };
  const flush = async (): Promise<void> => {
    const full = buffers;
    buffers = new Map();
    await Promise.all([...full].map(([owner, entries]) => store(owner, entries)));
  };
  const timer = setInterval(() => void flush(), FLUSH_EVERY_MS).unref();

  const log: RequestLog = async (owner, entry, by) => {
    if (!mayStore(owner, entry, by)) return;
    const entries = buffers.get(owner) ?? [];
    buffers.set(owner, entries);
    entries.push(entry);
    if (entries.length < ENTRIES_OF_ITEM_MAX) return;
    buffers.delete(owner);
    void store(owner, entries);
  };
  return { log, flush, stop: () => clearInterval(timer) };
};

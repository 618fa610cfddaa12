import { addMs } from "../lib/time.ts";
import type { Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { type OutboxEvent, queryEvents, readEvent } from "./items.ts";

// The events of an account in the order of their creation, for a reader that polls. Reading changes nothing: each webhook still
// gets its deliveries.
//
// An event has the time of its creation but becomes visible at its commit, so an earlier event may appear after a later one.
// The position therefore stays half a minute behind, and lists the events read since.

const OVERLAP_MS = 30_000;
/** The limit keeps a position short enough for a URL. */
const READ_MAX = 100;
const TAIL_LENGTH = 8;

/** The reader's position: it has every event before `at`, and after `at` only the events in `read`. */
export type FeedPosition = {
  readonly at: string;
  /** Milliseconds after `at`, and the end of the event's id. */
  readonly read: readonly (readonly [ms: number, tail: string])[];
};

export const startFeed = ({ now }: Pick<World, "now">): FeedPosition => ({
  at: now().toISOString(),
  read: [],
});

export type FeedPage = {
  readonly events: readonly OutboxEvent[];
  readonly position: FeedPosition;
};

export const readFeed = async (
  { table, now }: Pick<World, "now"> & { readonly table: Table },
  owner: string,
  position: FeedPosition,
  limit: number,
): Promise<FeedPage> => {
  const read = new Set(position.read.map(([, tail]) => tail));
  const events: OutboxEvent[] = [];
  for await (const item of queryEvents(table, owner, position.at)) {
    const event = readEvent(item);
    if (read.has(getTail(event))) continue;
    events.push(event);
    if (events.length === limit) break;
  }
  return { events, position: advance(position, events, events.length === limit, now()) };
};

const getTail = ({ id }: OutboxEvent): string => id.slice(-TAIL_LENGTH);

const advance = (
  { at, read }: FeedPosition,
  events: readonly OutboxEvent[],
  hasMore: boolean,
  now: Date,
): FeedPosition => {
  const startMs = Date.parse(at);
  const all = [
    ...read.map(([ms, tail]) => ({ ms: startMs + ms, tail })),
    ...events.map((event) => ({ ms: Date.parse(event.createdAt), tail: getTail(event) })),
  ].toSorted((a, b) => a.ms - b.ms);
  const settledMs = addMs(now, -OVERLAP_MS).getTime();
  const lastMs = hasMore ? Math.min(settledMs, all.at(-1)?.ms ?? settledMs) : settledMs;
  const oldestMs = all.at(-READ_MAX)?.ms ?? startMs;
  const nextMs = Math.max(startMs, lastMs, oldestMs);
  return {
    at: new Date(nextMs).toISOString(),
    read: all.filter(({ ms }) => ms >= nextMs).map(({ ms, tail }) => [ms - nextMs, tail]),
  };
};

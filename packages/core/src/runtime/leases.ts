import * as v from "valibot";
import { addMs, HOUR_MS, isUnexpired } from "../lib/time.ts";
import type { Item, Key, Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { getItemKey } from "../ports/writes.ts";

// Scheduled work stays in the `due` index until it is done. Its due time is also its lease: until then the work belongs to the
// process that acquired it, afterwards to the next process. Each process writes a fencing token; a process that finds another
// token has lost its lease.
//
//   due_pk         due_sk      due_kind           token       taken_at
//   DUE#<shard>    <ISO time>  the kind of work   the holder  since when, if it was acquired

const SHARDS = 8;

export const SCHEDULE_PARTITIONS: readonly string[] = Array.from(
  { length: SHARDS },
  (_, shard) => `DUE#${shard}`,
);

const ScheduledWork = v.object({
  due_pk: v.string(),
  due_sk: v.string(),
  due_kind: v.string(),
  token: v.string(),
});

export type ScheduledWork = Readonly<v.InferOutput<typeof ScheduledWork>>;

export const readScheduledWork = (item: Item): ScheduledWork => v.parse(ScheduledWork, item);

export const scheduleWork = (kind: string, id: string, at: Date, token: string): ScheduledWork => ({
  due_pk: SCHEDULE_PARTITIONS[toShard(id)] ?? "DUE#0",
  due_sk: at.toISOString(),
  due_kind: kind,
  token,
});

/** An update that sets these fields removes finished work from the index. */
export const UNSCHEDULED = {
  due_pk: undefined,
  due_sk: undefined,
  due_kind: undefined,
  token: undefined,
  taken_at: undefined,
} as const;

export const MAX_LEASE_MS = HOUR_MS / 6;

/** Returns the remaining time of the lease. A lease that a wrong clock wrote counts as expired. */
export const getRemainingLeaseMs = ({ due_sk: until }: ScheduledWork, now: Date): number => {
  const untilMs = Date.parse(until);
  return isUnexpired(untilMs, now.getTime(), MAX_LEASE_MS) ? untilMs - now.getTime() : 0;
};

/** Undefined when another process acquired the lease first. */
export const acquireLease = async (
  world: Pick<World, "table" | "now" | "newId">,
  item: Item,
  leaseMs: number,
): Promise<Item | undefined> => {
  const token = world.newId("txn");
  const { due_sk, token: currentToken } = readScheduledWork(item);
  const now = world.now();
  const result = await world.table.write({
    update: getItemKey({ put: item }),
    set: { due_sk: addMs(now, leaseMs).toISOString(), token, taken_at: now.toISOString() },
    where: { due_sk, token: currentToken },
  });
  if (result.outcome === "committed") return result.item;
  if (result.outcome === "refused") return undefined;
  // The reply was lost. If the item contains our token, the lease is ours.
  const found = await readCurrent(world.table, item);
  return found?.["token"] === token ? found : undefined;
};

const readCurrent = (table: Table, { pk, sk }: Key): Promise<Item | undefined> =>
  table.get({ pk, sk });

const toShard = (id: string): number => {
  let sum = 0;
  for (let at = 0; at < id.length; at++) sum += id.charCodeAt(at);
  return sum % SHARDS;
};

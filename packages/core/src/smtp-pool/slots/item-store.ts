import { createBoundedMap } from "@mailproof/mail/lib/bounded-map";
import { toEpochSeconds } from "../../lib/time.ts";
import { withTimeout } from "../../lib/timeout.ts";
import type { Item, Table } from "../../ports/table.ts";
import type { World } from "../../ports/world.ts";
import { applyWrite, getItemKey, mayApply, toItemId } from "../../ports/writes.ts";

/** Where the state of providers is kept: the table, or the memory of one process. */
export type ItemStore = Pick<Table, "get" | "write">;

/** After this time the table counts as down. */
const TABLE_MS = 3_000;

/** Rejects where the table does not answer in time. What it was asked to write it may have written all the same. */
export const limitTime = (table: ItemStore, ports: Pick<World, "sleep">): ItemStore => {
  const inTime = async <Result>(call: Promise<Result>): Promise<Result> => {
    const result = await withTimeout(ports, TABLE_MS, call);
    if (result === "late") throw new Error("the table does not answer in time");
    return result;
  };
  return { get: (key) => inTime(table.get(key)), write: (write) => inTime(table.write(write)) };
};

/** Providers and exits that a process remembers; a forgotten one backs off no more. */
const ITEMS_MAX = 50_000;

export const createMemoryItems = ({ now }: { readonly now: () => Date }): ItemStore => {
  const items = createBoundedMap<Item>({ weightMax: ITEMS_MAX });
  const find = (id: string): Item | undefined => {
    const item = items.get(id);
    return item && (item.expires_at ?? Infinity) > toEpochSeconds(now()) ? item : undefined;
  };
  return {
    get: async (key) => find(toItemId(key)),
    write: async (write) => {
      const id = toItemId(getItemKey(write));
      const stored = find(id);
      if (!mayApply(write, stored)) return { outcome: "refused", refusedWrite: write };
      const item = applyWrite(write, stored);
      if (item) items.set(id, item);
      else items.delete(id);
      return { outcome: "committed", item };
    },
  };
};

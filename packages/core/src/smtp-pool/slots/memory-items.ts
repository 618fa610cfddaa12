import { createBoundedMap } from "@mailproof/mail/lib/bounded-map";
import { toEpochSeconds } from "../../lib/time.ts";
import type { Item, Table } from "../../ports/table.ts";
import { applyWrite, getItemKey, mayApply, toItemId } from "../../ports/writes.ts";

/** Where the state of providers is kept: the table, or the memory of one process. */
export type ItemStore = Pick<Table, "get" | "write">;

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

import {
  INDEXES,
  type Item,
  type Key,
  type KeyRange,
  readPosition,
  type Table,
  type TableQuery,
  toPosition,
  type Write,
} from "@mailproof/core/ports/table";
import { assertKey, assertQueryable, assertTransactable } from "@mailproof/core/ports/table-limits";
import {
  applyWrite,
  compareBytes,
  getItemKey,
  mayApply,
  serializeItem,
  toItemId,
} from "@mailproof/core/ports/writes";

/** Keeps items as JSON, as every real adapter does, so no value is stored here that JSON would change. */
export const memoryTable = (
  now: () => Date,
): Table & { items: () => readonly Item[]; hasScheduledWork: () => boolean } => {
  const stored = new Map<string, StoredItem>();
  // The entries of each partition, of the table and of its indexes, in their order: a simulation asks a million times.
  const partitions = new Map<string, Entry[]>();

  const toSeconds = (): number => Math.floor(now().getTime() / 1000);
  const find = (key: Key): StoredItem | undefined => {
    const found = stored.get(toItemId(key));
    return found && found.expiresAt > toSeconds() ? found : undefined;
  };
  /** What only this file reads. */
  const peek = (key: Key): Item | undefined => {
    const found = find(key);
    return found && peekItem(found);
  };

  /** Everything is made before anything is stored: an item that is too large spoils the whole. */
  const store = (writes: readonly Write[]): readonly (StoredItem | undefined)[] => {
    const made = writes.map((write) => {
      const next = applyWrite(write, peek(getItemKey(write)));
      return { address: toItemId(getItemKey(write)), next: next && toStoredItem(next) };
    });
    for (const { address, next } of made) storeItem(address, next);
    return made.map(({ next }) => next);
  };
  const storeItem = (address: string, next: StoredItem | undefined): void => {
    for (const entry of stored.get(address)?.entries ?? []) {
      const partition = partitions.get(entry.partition) ?? [];
      partition.splice(findIndex(partition, entry), 1);
    }
    if (next === undefined) return void stored.delete(address);
    stored.set(address, next);
    for (const entry of next.entries) {
      const partition = partitions.get(entry.partition) ?? [];
      partition.splice(findIndex(partition, entry), 0, entry);
      partitions.set(entry.partition, partition);
    }
  };

  const toPage = ({ index, pk, sk, newestFirst, limit, after }: TableQuery) => {
    const all = partitions.get(toPartition(index ? INDEXES[index].pk : "pk", pk)) ?? [];
    const start = after && readPosition(after);
    const way = newestFirst ? -1 : 1;
    const seconds = toSeconds();
    const found = (newestFirst ? all.toReversed() : all).filter(
      ({ order, stored: { expiresAt } }) =>
        isInRange(order[0], sk) &&
        expiresAt > seconds &&
        (!start || compareAll(order, start) * way > 0),
    );
    const items = found.slice(0, limit).map((entry) => parseItem(entry.stored));
    const last = items.at(-1);
    return found.length > limit && last ? { items, next: toPosition(last, index) } : { items };
  };

  const isAnythingDue = () =>
    [...partitions].some(([name, entries]) => name.startsWith("due_pk ") && entries.length > 0);

  return {
    /** All items, to be read only: each call returns the same objects. */
    items: () => {
      const seconds = toSeconds();
      return [...stored.values()].filter(({ expiresAt }) => expiresAt > seconds).map(peekItem);
    },
    hasScheduledWork: isAnythingDue,
    get: async (key) => {
      assertKey(key);
      const found = find(key);
      return found && parseItem(found);
    },
    query: async (query) => {
      assertQueryable(query);
      return toPage(query);
    },
    write: async (write) => {
      assertTransactable([write]);
      if (!mayApply(write, peek(getItemKey(write))))
        return { outcome: "refused", refusedWrite: write };
      const [next] = store([write]);
      return { outcome: "committed", item: next && parseItem(next) };
    },
    transact: async (writes) => {
      assertTransactable(writes);
      const refused = writes.find((write) => !mayApply(write, peek(getItemKey(write))));
      if (refused) return { outcome: "refused", refusedWrite: refused };
      const items = store(writes).map((next) => next && peekItem(next));
      return { outcome: "committed", items };
    },
    returnsItems: true,
  };
};

type StoredItem = {
  readonly json: string;
  readonly expiresAt: number;
  readonly entries: readonly Entry[];
  /** Parsed once, for those who only read. */
  item?: Item;
};

/** An item in one partition, with what the partition is ordered by: its sort key there, then the item's own key. */
type Entry = {
  readonly partition: string;
  readonly order: readonly [string, string, string];
  readonly stored: StoredItem;
};

const parseItem = ({ json }: StoredItem): Item => JSON.parse(json) as Item;
/** The same object each time, to be read only. */
const peekItem = (stored: StoredItem): Item => (stored.item ??= parseItem(stored));

const toStoredItem = (item: Item): StoredItem => {
  const entries: Entry[] = [];
  const stored: StoredItem = {
    json: serializeItem(item),
    expiresAt: item.expires_at ?? Number.POSITIVE_INFINITY,
    entries,
  };
  for (const fields of [{ pk: "pk", sk: "sk" } as const, ...Object.values(INDEXES)]) {
    const [pk, sk] = [item[fields.pk], item[fields.sk]];
    if (typeof pk === "string" && typeof sk === "string")
      entries.push({
        partition: toPartition(fields.pk, pk),
        order: [sk, item.pk, item.sk],
        stored,
      });
  }
  return stored;
};

const toPartition = (field: string, pk: string): string => `${field} ${pk}`;

/** Where the entry stands in its partition, or would stand. */
const findIndex = (partition: readonly Entry[], { order }: Entry): number => {
  let [from, to] = [0, partition.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (compareAll((partition[middle] as Entry).order, order) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
};

const isInRange = (value: string, range: KeyRange | undefined): boolean => {
  if (!range) return true;
  if ("prefix" in range) return value.startsWith(range.prefix);
  return compareBytes(value, range.from) >= 0 && compareBytes(value, range.to) <= 0;
};

const compareAll = (a: readonly string[], b: readonly string[]): number => {
  let order = 0;
  for (let at = 0; at < a.length && order === 0; at++)
    order = compareBytes(a[at] ?? "", b[at] ?? "");
  return order;
};

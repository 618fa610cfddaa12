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
  serialiseItem,
  toItemId,
} from "@mailproof/core/ports/writes";

/** Keeps items as JSON, as every real door does, so nothing lives here that would not survive the trip. */
export const memoryTable = (
  now: () => Date,
): Table & { items: () => Item[]; hasScheduledWork: () => boolean } => {
  const stored = new Map<string, StoredItem>();
  // Where an item stands, in its own partition and in those of its indexes: a simulation asks a million times.
  const partitions = new Map<string, Set<StoredItem>>();

  const alive = (storedItems: StoredItem | undefined): readonly Item[] =>
    storedItems === undefined || storedItems.expiresAt <= Math.floor(now().getTime() / 1000)
      ? []
      : [JSON.parse(storedItems.json) as Item];
  const read = (key: Key): Item | undefined => alive(stored.get(toItemId(key)))[0];

  /** Everything is made before anything is stored: an item that is too large spoils the whole. */
  const store = (writes: readonly Write[]): (Item | undefined)[] => {
    const made = writes.map((write) => {
      const next = applyWrite(write, read(getItemKey(write)));
      return { address: toItemId(getItemKey(write)), next: next && toStoredItem(next) };
    });
    for (const { address, next } of made) storeItem(address, next);
    return made.map(({ next }) => next && (JSON.parse(next.json) as Item));
  };
  const storeItem = (address: string, next: StoredItem | undefined): void => {
    const before = stored.get(address);
    for (const name of before?.isIndexedIn ?? [])
      partitions.get(name)?.delete(before as StoredItem);
    if (next === undefined) return void stored.delete(address);
    stored.set(address, next);
    for (const name of next.isIndexedIn)
      partitions.set(name, (partitions.get(name) ?? new Set()).add(next));
  };

  const items = () => [...stored.values()].flatMap(alive);
  const listIndexed = ({ index, pk }: TableQuery): Item[] =>
    [...(partitions.get(toPartition(index ? INDEXES[index].pk : "pk", pk)) ?? [])].flatMap(alive);

  const isAnythingDue = () =>
    [...partitions].some(([name, indexed]) => name.startsWith("due_pk ") && indexed.size > 0);

  return {
    items,
    hasScheduledWork: isAnythingDue,
    get: async (key) => {
      assertKey(key);
      return read(key);
    },
    query: async (query) => {
      assertQueryable(query);
      return toPage(listIndexed(query), query);
    },
    write: async (write) => {
      assertTransactable([write]);
      if (!mayApply(write, read(getItemKey(write))))
        return { outcome: "refused", refusedWrite: write };
      return { outcome: "committed", item: store([write])[0] };
    },
    transact: async (writes) => {
      assertTransactable(writes);
      const refused = writes.find((write) => !mayApply(write, read(getItemKey(write))));
      if (refused) return { outcome: "refused", refusedWrite: refused };
      store(writes);
      return { outcome: "committed" };
    },
  };
};

type StoredItem = {
  readonly json: string;
  readonly expiresAt: number;
  readonly isIndexedIn: readonly string[];
};

const toStoredItem = (item: Item): StoredItem => ({
  json: serialiseItem(item),
  expiresAt: item.expires_at ?? Number.POSITIVE_INFINITY,
  isIndexedIn: PARTITION_KEYS.flatMap((field) => {
    const pk = item[field];
    return typeof pk === "string" ? [toPartition(field, pk)] : [];
  }),
});

const PARTITION_KEYS = ["pk", ...Object.values(INDEXES).map(({ pk }) => pk)];

const toPartition = (field: string, pk: string): string => `${field} ${pk}`;

const toPage = (items: readonly Item[], query: TableQuery) => {
  const { index, pk, sk, newestFirst, limit, after: position } = query;
  const field = index ? INDEXES[index] : ({ pk: "pk", sk: "sk" } as const);
  const sortKey = (item: Item) => toText(item[field.sk]);
  const storeItem = (item: Item) => [sortKey(item), item.pk, item.sk];
  const way = newestFirst ? -1 : 1;
  const start = position && readPosition(position);

  const found = items
    .filter((item) => item[field.pk] === pk && item[field.sk] !== undefined)
    .filter((item) => inRange(sortKey(item), sk))
    .filter((item) => !start || compareAll(storeItem(item), start) * way > 0)
    .toSorted((a, b) => compareAll(storeItem(a), storeItem(b)) * way);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return found.length > limit && last
    ? { items: page, next: toPosition(last, index) }
    : { items: page };
};

const toText = (value: unknown): string => (typeof value === "string" ? value : "");

const inRange = (value: string, range: KeyRange | undefined): boolean => {
  if (!range) return true;
  if ("prefix" in range) return value.startsWith(range.prefix);
  return compareBytes(value, range.from) >= 0 && compareBytes(value, range.to) <= 0;
};

const compareAll = (a: readonly string[], b: readonly string[]): number =>
  a.map((one, position) => compareBytes(one, b[position] ?? "")).find((order) => order !== 0) ?? 0;

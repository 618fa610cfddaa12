import {
  INDEXES,
  type Item,
  type Key,
  positionOf,
  type Query,
  type Range,
  readPosition,
  type Table,
  type Write,
} from "@mailproof/core/table";
import { assertKey, assertQueryable, assertTransactable } from "@mailproof/core/table-limits";
import { addressOf, after, compareBytes, holds, keyOf, serialise } from "@mailproof/core/writes";

/** Keeps items as JSON, as every real door does, so nothing lives here that would not survive the trip. */
export const memoryTable = (
  now: () => Date,
): Table & { items: () => Item[]; isAnythingDue: () => boolean } => {
  const stored = new Map<string, Kept>();
  // Where an item stands, in its own partition and in those of its indexes: a simulation asks a million times.
  const partitions = new Map<string, Set<Kept>>();

  const alive = (kept: Kept | undefined): readonly Item[] =>
    kept === undefined || kept.expiresAt <= Math.floor(now().getTime() / 1000)
      ? []
      : [JSON.parse(kept.json) as Item];
  const read = (key: Key): Item | undefined => alive(stored.get(addressOf(key)))[0];

  /** Everything is made before anything is stored: an item that is too large spoils the whole. */
  const store = (writes: readonly Write[]): (Item | undefined)[] => {
    const made = writes.map((write) => {
      const next = after(write, read(keyOf(write)));
      return { address: addressOf(keyOf(write)), next: next && keptAs(next) };
    });
    for (const { address, next } of made) place(address, next);
    return made.map(({ next }) => next && (JSON.parse(next.json) as Item));
  };
  const place = (address: string, next: Kept | undefined): void => {
    const before = stored.get(address);
    for (const name of before?.standsIn ?? []) partitions.get(name)?.delete(before as Kept);
    if (next === undefined) return void stored.delete(address);
    stored.set(address, next);
    for (const name of next.standsIn)
      partitions.set(name, (partitions.get(name) ?? new Set()).add(next));
  };

  const items = () => [...stored.values()].flatMap(alive);
  const standingIn = ({ index, pk }: Query): Item[] =>
    [...(partitions.get(partitionOf(index ? INDEXES[index].pk : "pk", pk)) ?? [])].flatMap(alive);

  const isAnythingDue = () =>
    [...partitions].some(([name, standing]) => name.startsWith("due_pk ") && standing.size > 0);

  return {
    items,
    isAnythingDue,
    get: async (key) => {
      assertKey(key);
      return read(key);
    },
    query: async (query) => {
      assertQueryable(query);
      return pageOf(standingIn(query), query);
    },
    write: async (write) => {
      assertTransactable([write]);
      if (!holds(write, read(keyOf(write)))) return { outcome: "refused", by: write };
      return { outcome: "committed", item: store([write])[0] };
    },
    transact: async (writes) => {
      assertTransactable(writes);
      const refused = writes.find((write) => !holds(write, read(keyOf(write))));
      if (refused) return { outcome: "refused", by: refused };
      store(writes);
      return { outcome: "committed" };
    },
  };
};

type Kept = {
  readonly json: string;
  readonly expiresAt: number;
  readonly standsIn: readonly string[];
};

const keptAs = (item: Item): Kept => ({
  json: serialise(item),
  expiresAt: item.expires_at ?? Number.POSITIVE_INFINITY,
  standsIn: PARTITION_KEYS.flatMap((field) => {
    const pk = item[field];
    return typeof pk === "string" ? [partitionOf(field, pk)] : [];
  }),
});

const PARTITION_KEYS = ["pk", ...Object.values(INDEXES).map(({ pk }) => pk)];

const partitionOf = (field: string, pk: string): string => `${field} ${pk}`;

const pageOf = (items: readonly Item[], query: Query) => {
  const { index, pk, sk, newestFirst, limit, after: position } = query;
  const field = index ? INDEXES[index] : ({ pk: "pk", sk: "sk" } as const);
  const sortKey = (item: Item) => textOf(item[field.sk]);
  const place = (item: Item) => [sortKey(item), item.pk, item.sk];
  const way = newestFirst ? -1 : 1;
  const start = position && readPosition(position);

  const found = items
    .filter((item) => item[field.pk] === pk && item[field.sk] !== undefined)
    .filter((item) => inRange(sortKey(item), sk))
    .filter((item) => !start || compareAll(place(item), start) * way > 0)
    .toSorted((a, b) => compareAll(place(a), place(b)) * way);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return found.length > limit && last
    ? { items: page, next: positionOf(last, index) }
    : { items: page };
};

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const inRange = (value: string, range: Range | undefined): boolean => {
  if (!range) return true;
  if ("prefix" in range) return value.startsWith(range.prefix);
  return compareBytes(value, range.from) >= 0 && compareBytes(value, range.to) <= 0;
};

const compareAll = (a: readonly string[], b: readonly string[]): number =>
  a.map((one, position) => compareBytes(one, b[position] ?? "")).find((order) => order !== 0) ?? 0;

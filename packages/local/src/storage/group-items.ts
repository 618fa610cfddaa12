import type { SQLInputValue, StatementSync } from "node:sqlite";
import { INDEXES, type Item, type Key } from "@mailproof/core/ports/table";
import { serialiseItem, toItemId } from "@mailproof/core/ports/writes";

// The transactions of a group read and write their items here, and the table only once for all of them: the balance and the
// counters of an account are in each of its requests.

type Statements = Readonly<Record<"select" | "upsert" | "remove", StatementSync>>;
type ParseRow = (row: Record<string, unknown> | undefined) => Item | undefined;

/** What a group holds is written in one go, which stops the process for about 10 ms. */
const CHANGES_MAX = 1_000;

export const createGroupItems = (
  { select, upsert, remove }: Statements,
  parseRow: ParseRow,
  seconds: () => number,
) => {
  const items = new Map<string, Item | undefined>();
  const changed = new Map<string, Key>();

  const readHeld = (id: string): Item | undefined => {
    const item = items.get(id);
    return isExpired(item, seconds()) ? undefined : item;
  };

  return {
    read: (key: Key): Item | undefined => {
      const id = toItemId(key);
      if (items.has(id)) return readHeld(id);
      const item = parseRow(select.get(key.pk, key.sk, seconds()));
      items.set(id, item);
      return item;
    },
    /** Undefined: the item is removed. */
    store: (key: Key, item: Item | undefined): void => {
      const id = toItemId(key);
      items.set(id, item);
      changed.set(id, key);
    },
    isFull: (): boolean => changed.size >= CHANGES_MAX,
    /** Into the table, before the group's end. */
    write: (): void => {
      for (const [id, { pk, sk }] of changed) {
        const item = items.get(id);
        if (item) upsert.run(pk, sk, serialiseItem(item), ...toColumns(item));
        else remove.run(pk, sk);
      }
      changed.clear();
    },
    forget: (): void => {
      items.clear();
      changed.clear();
    },
  };
};

const isExpired = (item: Item | undefined, seconds: number): boolean =>
  item?.expires_at !== undefined && item.expires_at <= seconds;

const toColumns = (item: Item): SQLInputValue[] => [
  item.expires_at ?? null,
  ...Object.values(INDEXES).flatMap((index) => {
    const [pk, sk] = [item[index.pk], item[index.sk]];
    return typeof pk === "string" && typeof sk === "string" ? [pk, sk] : [null, null];
  }),
];

import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { INDEXES, type Item, type Key } from "@mailproof/core/ports/table";
import { serializeItem, toItemId } from "@mailproof/core/ports/writes";

// The items that this process read or changed last, and the changes by a group's transactions. The balance and the counters of
// an account are in each of its requests: they are written once for all that share a flush, and read once until another process
// commits.

type Statements = Readonly<Record<"select" | "upsert" | "remove", StatementSync>>;
type ParseItem = (json: unknown) => Item;
type Change = { readonly key: Key; readonly isNew: boolean };

const ITEMS_MAX = 5_000;
/** Longer items, such as pages of results, are not kept. */
const JSON_MAX = 4_000;
/** The changes of a group are written at once, which blocks the process for about 10 ms. */
const CHANGES_MAX = 1_000;

export const createItemCache = (
  db: DatabaseSync,
  { select, upsert, remove }: Statements,
  parseItem: ParseItem,
  seconds: () => number,
) => {
  const items = new Map<string, Item | undefined>();
  const changed = new Map<string, Change>();
  const isChangedByOthers = createForeignWriteCheck(db);
  let wasChecked = false;

  const forget = (): void => {
    items.clear();
    changed.clear();
  };

  /** During a transaction no other process writes. */
  const begin = (): void => {
    if (isChangedByOthers()) forget();
  };

  const read = ({ pk, sk }: Key): Item | undefined => {
    const id = toItemId({ pk, sk });
    const held = items.get(id);
    if (held !== undefined || items.has(id)) return isExpired(held, seconds()) ? undefined : held;
    const json = select.get(pk, sk, seconds())?.["item"];
    if (json === undefined) return undefined;
    const item = parseItem(json);
    if (String(json).length <= JSON_MAX) items.set(id, item);
    return item;
  };

  return {
    read,
    /** Reads outside a transaction, which may miss writes by another process within this turn of the event loop. */
    get: (key: Key): Item | undefined => {
      if (!wasChecked) {
        begin();
        wasChecked = true;
        setImmediate(() => {
          wasChecked = false;
        });
      }
      return read(key);
    },
    begin,
    forget,
    /** Undefined when the item is removed. A new item, such as a ledger entry, is seldom read, so it is not kept. */
    store: (key: Key, item: Item | undefined, isNew: boolean): void => {
      const id = toItemId(key);
      items.set(id, item);
      changed.set(id, { key, isNew });
    },
    isFull: (): boolean => changed.size >= CHANGES_MAX,
    /** Writes the changes into the table before the group ends. */
    write: (): void => {
      for (const [id, { key, isNew }] of changed) {
        const item = items.get(id);
        const json = item && serializeItem(item);
        if (item && json) upsert.run(key.pk, key.sk, json, ...toColumns(item));
        else remove.run(key.pk, key.sk);
        if (isNew || !json || json.length > JSON_MAX) items.delete(id);
      }
      changed.clear();
      for (const id of items.keys()) {
        if (items.size <= ITEMS_MAX) break;
        items.delete(id);
      }
    },
  };
};

/** True when another connection has committed since the last call. */
const createForeignWriteCheck = (db: DatabaseSync): (() => boolean) => {
  const select = db.prepare("PRAGMA data_version");
  let version: unknown;
  return () => {
    const before = version;
    version = select.get()?.["data_version"];
    return version !== before;
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

export type Key = { readonly pk: string; readonly sk: string };

/** The values that every adapter stores without loss. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [field: string]: Json | undefined };

export type Fields = { readonly [field: string]: Json | undefined };

/** `expires_at` is in epoch seconds. From that second on every read and write treats the item as absent, even before it is deleted. */
export type Item = Key & Fields & { readonly expires_at?: number };

/**
 * Two secondary indexes: `list` (items by owner) and `due` (scheduled work by time). An index contains an item while the item
 * has both fields. On AWS an index lags behind the table, so never read your own write through an index.
 */
export const INDEXES = {
  list: { pk: "list_pk", sk: "list_sk" },
  due: { pk: "due_pk", sk: "due_sk" },
} as const;

export type Index = keyof typeof INDEXES;

export type Scalar = string | number | boolean;

export type Condition =
  | Scalar
  | { readonly oneOf: readonly Scalar[] }
  | { readonly below: number | string }
  | { readonly atLeast: number | string }
  | { readonly missing: true };

export type Where = Readonly<Record<string, Condition>>;
export type Amounts = Readonly<Record<string, number>>;
export type Bounds = Readonly<
  Record<string, { readonly atLeast?: number; readonly atMost?: number }>
>;

/**
 * Changes an existing item; `orCreate` also creates a missing item, whose amounts then count as 0. The table evaluates `where`
 * before the change, and `bounds` after it for added amounts only: the write that reduces a balance also states that the
 * balance may not fall below zero. A field set to undefined is removed.
 */
export type Update = {
  readonly update: Key;
  readonly set?: Fields;
  readonly add?: Amounts;
  readonly where?: Where;
  readonly bounds?: Bounds;
  readonly orCreate?: true;
};

export type Create = { readonly create: Item };

/** A write is plain data, so a use case can be read, logged and tested without a database. */
export type Write =
  | Create
  | { readonly put: Item }
  | Update
  | { readonly remove: Key; readonly where?: Where }
  | { readonly check: Key; readonly where: Where }
  | { readonly checkAbsent: Key };

/**
 * `refusedWrite` is the write whose condition failed; then the table wrote nothing. "ambiguous": the reply was lost, so the
 * table wrote either everything or nothing.
 */
export type RefusedWrite = { readonly outcome: "refused"; readonly refusedWrite: Write };
export type Ambiguous = { readonly outcome: "ambiguous" };
export type TransactResult = Committed | RefusedWrite | Ambiguous;

/** `items`: the items after each write, if the table `returnsItems`. Absent also after a lost reply. */
type Committed = {
  readonly outcome: "committed";
  readonly items?: readonly (Item | undefined)[];
};

/** `item` is the item after the write; undefined when the item no longer exists. */
export type WriteResult =
  | { readonly outcome: "committed"; readonly item: Item | undefined }
  | RefusedWrite
  | Ambiguous;

/** The range includes `from` and `to`. */
export type KeyRange = { readonly prefix: string } | { readonly from: string; readonly to: string };

/** The position where a page ended. Opaque: `toPosition` makes it from the last item seen. */
export type PagePosition = string & { readonly kind: "position" };

export type TableQuery = {
  readonly index?: Index;
  readonly pk: string;
  readonly sk?: KeyRange;
  readonly newestFirst?: boolean;
  readonly limit: number;
  readonly after?: PagePosition;
};

/** Without `next` the query has ended. With `next`, even an empty page may precede more items: query again. */
export type ItemPage = { readonly items: readonly Item[]; readonly next?: PagePosition };

/**
 * Identifies one transaction, so that a caller can send it again after a lost reply and it takes effect once: the same writes
 * with the same token and the same `at`, which decides which items have expired. An adapter remembers a token for ten minutes.
 */
export type Attempt = { readonly token: string; readonly at: Date };

/**
 * The port to stored state: SQLite on one machine, DynamoDB on AWS, memory in simulation. Every method throws only when it has
 * certainly written nothing.
 */
export type Table = {
  /** Returns everything committed before the call (on DynamoDB, a consistent read). */
  get(key: Key): Promise<Item | undefined>;
  /** Returns items in byte order of the sort key, which is DynamoDB's order. */
  query(query: TableQuery): Promise<ItemPage>;
  /**
   * Writes a single item for half the price of a transaction on AWS, and returns the item after the change. `mayBeLost` allows
   * a power cut to undo the write until a later write is on the disk, so an adapter need not wait for the disk.
   */
  write(write: Write, mayBeLost?: "may be lost"): Promise<WriteResult>;
  /** Commits all writes or none: at most 100, each on a different item. Without `attempt`, the adapter makes a new token. */
  transact(writes: readonly Write[], attempt?: Attempt): Promise<TransactResult>;
  /** Set when a transaction returns the items that it wrote, as SQLite can and DynamoDB cannot. */
  readonly returnsItems?: true;
  /**
   * Overwrites removed data wherever the store still holds its bytes. Absent when removed data cannot be read from the store,
   * or only by the store's provider.
   */
  scrub?(): Promise<void>;
};

export const findItem = async <T>(
  table: Pick<Table, "get">,
  key: Key,
  read: (item: Item) => T,
): Promise<T | undefined> => {
  const item = await table.get(key);
  return item && read(item);
};

/** Returns the position right after this item, so a reader that drops rows may stop anywhere. */
export const toPosition = (item: Item, index?: Index): PagePosition =>
  JSON.stringify(
    index ? [item[INDEXES[index].sk], item.pk, item.sk] : [item.sk, item.pk, item.sk],
  ) as PagePosition;

/** Returns the sort key in the query's own order, then the item's key: every adapter needs both to continue. */
export const readPosition = (position: PagePosition) =>
  JSON.parse(position) as [sortKey: string, pk: string, sk: string];

/** Returns the number of removed items, 0 or 1. Throws when the reply is lost: the caller repeats the removal. */
export const removeItem = async (table: Pick<Table, "write">, { pk, sk }: Key): Promise<number> => {
  const { outcome } = await table.write({ remove: { pk, sk } });
  if (outcome === "ambiguous") throw new Error("unknown whether an item was removed");
  return outcome === "committed" ? 1 : 0;
};

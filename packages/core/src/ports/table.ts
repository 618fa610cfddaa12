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

/** `expires_at` is in epoch seconds. From then on the item is absent, even if it is deleted later. */
export type Item = Key & Fields & { readonly expires_at?: number };

/**
 * Two secondary indexes: `list` (items by owner) and `due` (scheduled work by time). An item is in an index while it
 * has both fields. On AWS an index lags behind the table: never read your own write through one.
 */
export const INDEXES = {
  list: { pk: "list_pk", sk: "list_sk" },
  due: { pk: "due_pk", sk: "due_sk" },
} as const;

export type Index = keyof typeof INDEXES;

export type Scalar = string | number | boolean;

/** What one field of the stored item must be at the moment of the write. */
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
 * Changes an existing item; with `orCreate` also creates a missing one, whose amounts then count as 0. `where` is
 * evaluated before the change. `bounds` is evaluated after it, and only for amounts that are added: the write that
 * takes from a balance also states that the balance may not fall below zero. A field set to undefined is removed.
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
 * `refusedWrite` is the write whose condition did not hold; then nothing was written. Ambiguous: the reply was lost, so
 * either everything was written or nothing.
 */
export type RefusedWrite = { readonly outcome: "refused"; readonly refusedWrite: Write };
export type Ambiguous = { readonly outcome: "ambiguous" };
export type TransactResult = Committed | RefusedWrite | Ambiguous;

/** `items`: as each write left its item, where the table `returnsItems`. Absent also after a lost reply. */
type Committed = {
  readonly outcome: "committed";
  readonly items?: readonly (Item | undefined)[];
};

/** `item` is the item as it is afterwards; undefined when there is none now. */
export type WriteResult =
  | { readonly outcome: "committed"; readonly item: Item | undefined }
  | RefusedWrite
  | Ambiguous;

/** Both ends of `from` and `to` belong to the range. */
export type KeyRange = { readonly prefix: string } | { readonly from: string; readonly to: string };

/** Where a page ended. Opaque: made by `toPosition` from the last item seen. */
export type PagePosition = string & { readonly kind: "position" };

export type TableQuery = {
  readonly index?: Index;
  readonly pk: string;
  readonly sk?: KeyRange;
  readonly newestFirst?: boolean;
  readonly limit: number;
  readonly after?: PagePosition;
};

/** Without `next` the query is at its end. With it a page may still be short, or even empty: query again. */
export type ItemPage = { readonly items: readonly Item[]; readonly next?: PagePosition };

/**
 * Identifies one transaction, so that it can be sent again after a lost reply and takes effect once: the same writes
 * with the same token and the same `at`, which decides what has expired. An adapter remembers a token for ten minutes.
 */
export type Attempt = { readonly token: string; readonly at: Date };

/**
 * The port to stored state: SQLite on one machine, DynamoDB on AWS, memory in simulation. Every method throws only when
 * it is certain that nothing was written.
 */
export type Table = {
  /** Sees everything committed before the call (on DynamoDB: a consistent read). */
  get(key: Key): Promise<Item | undefined>;
  /** In byte order of the sort key, because that is the order DynamoDB has. */
  query(query: TableQuery): Promise<ItemPage>;
  /**
   * A single write: half the price of a transaction on AWS, and it returns the item after the change. `mayBeLost`: a power
   * cut may undo it until a later write is on the disk, so an adapter need not wait for the disk.
   */
  write(write: Write, mayBeLost?: "may be lost"): Promise<WriteResult>;
  /** All of the writes or none; at most 100, each on a different item. Without `attempt`: a new one. */
  transact(writes: readonly Write[], attempt?: Attempt): Promise<TransactResult>;
  /** A transaction returns the items that it wrote, as SQLite's can and DynamoDB's cannot. */
  readonly returnsItems?: true;
  /**
   * Overwrites what was removed before, wherever the store still has its bytes. Absent: nothing that was removed can be
   * read from the store, or only its provider could.
   */
  scrub?(): Promise<void>;
};

/** Resumes a query right after this item, so a reader that drops rows may stop anywhere. */
export const toPosition = (item: Item, index?: Index): PagePosition =>
  JSON.stringify(
    index ? [item[INDEXES[index].sk], item.pk, item.sk] : [item.sk, item.pk, item.sk],
  ) as PagePosition;

/** The sort key in the query's own order, then the item's key: every adapter needs both to continue. */
export const readPosition = (position: PagePosition) =>
  JSON.parse(position) as [sortKey: string, pk: string, sk: string];

export type Key = { readonly pk: string; readonly sk: string };

/** What every door can store without losing anything. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [field: string]: Json | undefined };

export type Fields = { readonly [field: string]: Json | undefined };

/** `expires_at` is in epoch seconds. From that moment the item is absent, whenever it is really deleted. */
export type Item = Key & Fields & { readonly expires_at?: number };

/**
 * Two more orders an item may stand in: `list` (what belongs to somebody) and `due` (what waits for a
 * moment). An item is in an index while it has both fields. On AWS an index lags behind the table: never
 * read your own write through one.
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
 * Changes an item that is there; with `orCreate` also one that is not, whose amounts then count as 0.
 * `where` is judged before the change. `leaving` is judged after it, and only for amounts that are added:
 * a balance that may not go below zero says so in the very write that takes from it.
 * A field set to undefined is removed.
 */
export type Update = {
  readonly update: Key;
  readonly set?: Fields;
  readonly add?: Amounts;
  readonly where?: Where;
  readonly bounds?: Bounds;
  readonly orCreate?: true;
};

/** A write is plain data, so a use case can be read, logged and tested without a database. */
export type Write =
  | { readonly create: Item }
  | { readonly put: Item }
  | Update
  | { readonly remove: Key; readonly where?: Where }
  | { readonly check: Key; readonly where: Where }
  | { readonly checkAbsent: Key };

/**
 * `by` is the write whose condition did not hold; then nothing was written.
 * Ambiguous: the reply was lost, so either everything was written or nothing.
 */
export type RefusedWrite = { readonly outcome: "refused"; readonly refusedWrite: Write };
export type Ambiguous = { readonly outcome: "ambiguous" };
export type TransactResult = { readonly outcome: "committed" } | RefusedWrite | Ambiguous;

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

/** Without `next` there is nothing more. With it a page may still be short, or even empty: ask again. */
export type ItemPage = { readonly items: readonly Item[]; readonly next?: PagePosition };

/**
 * Names one wish, so that it can be sent again after a lost reply and is done once: the same writes under the same
 * token, as of the same moment, by which it is told what has expired. A door knows a token for ten minutes.
 */
export type Attempt = { readonly token: string; readonly at: Date };

/**
 * The only door to stored state: SQLite on one machine, DynamoDB on AWS, memory in simulation.
 * Every method throws only when it is certain that nothing was written.
 */
export type Table = {
  /** Sees everything committed before it was called (on DynamoDB: a consistent read). */
  get(key: Key): Promise<Item | undefined>;
  /** In byte order of the sort key, because that is the order DynamoDB has. */
  query(query: TableQuery): Promise<ItemPage>;
  /** One write alone: half the price of a transaction on AWS, and it tells the item as it is afterwards. */
  write(write: Write): Promise<WriteResult>;
  /** All of the writes or none of them; at most 100, and each on an item of its own. Without an attempt: a new one. */
  transact(writes: readonly Write[], attempt?: Attempt): Promise<TransactResult>;
};

/** Resumes a query right after this item, so a reader that drops rows may stop anywhere. */
export const toPosition = (item: Item, index?: Index): PagePosition =>
  JSON.stringify(
    index ? [item[INDEXES[index].sk], item.pk, item.sk] : [item.sk, item.pk, item.sk],
  ) as PagePosition;

/** The sort key in the query's own order, then the item's key: what every door needs to go on from. */
export const readPosition = (position: PagePosition) =>
  JSON.parse(position) as [sortKey: string, pk: string, sk: string];

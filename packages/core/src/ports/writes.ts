import type { Bounds, Condition, Item, Json, Key, Scalar, Update, Where, Write } from "./table.ts";

// The semantics of a write, for adapters that apply writes themselves (SQLite, memory). The DynamoDB adapter translates
// writes to expressions, and test/contract/table.test.ts checks that all of them behave alike.

export const getItemKey = (write: Write): Key => {
  if ("create" in write) return write.create;
  if ("put" in write) return write.put;
  if ("update" in write) return write.update;
  if ("remove" in write) return write.remove;
  return "check" in write ? write.check : write.checkAbsent;
};

export const mayApply = (write: Write, stored: Item | undefined): boolean => {
  if ("put" in write) return true;
  if ("create" in write || "checkAbsent" in write) return stored === undefined;
  if ("update" in write) return mayUpdate(write, stored);
  return stored !== undefined && matchesWhere(stored, write.where ?? {});
};

export const applyWrite = (write: Write, stored: Item | undefined): Item | undefined => {
  if ("create" in write) return write.create;
  if ("put" in write) return write.put;
  if ("remove" in write) return undefined;
  if ("check" in write || "checkAbsent" in write) return stored;

  const { update, set = {}, add = {} } = write;
  const next: Record<string, Json | undefined> = {
    ...(stored ?? { pk: update.pk, sk: update.sk }),
    ...set,
  };
  for (const [field, by] of Object.entries(add)) next[field] = readAmount(stored, field) + by;
  for (const field in set) if (set[field] === undefined) delete next[field];
  return next as Item;
};

const mayUpdate = (write: Update, stored: Item | undefined): boolean => {
  if (stored === undefined && !write.orCreate) return false;
  const { add = {}, where = {}, bounds = {} } = write;
  return (
    matchesWhere(stored ?? {}, where) &&
    Object.entries(bounds).every(([field, bound]) =>
      isInBounds(readAmount(stored, field) + (add[field] ?? 0), bound),
    )
  );
};

const matchesWhere = (item: object, where: Where): boolean =>
  Object.entries(where).every(([field, condition]) =>
    meetsCondition(readField(item, field), condition),
  );

const meetsCondition = (value: unknown, condition: Condition): boolean => {
  if (typeof condition !== "object") return value === condition;
  if ("oneOf" in condition) return condition.oneOf.includes(value as Scalar);
  if ("missing" in condition) return value === undefined;
  const bound = "below" in condition ? condition.below : condition.atLeast;
  const order = compare(value, bound);
  return order !== undefined && ("below" in condition ? order < 0 : order >= 0);
};

/** Undefined for values of different types: DynamoDB does not compare those either. */
const compare = (value: unknown, bound: number | string): number | undefined => {
  if (typeof value === "number" && typeof bound === "number") return value - bound;
  if (typeof value === "string" && typeof bound === "string") return compareBytes(value, bound);
  return undefined;
};

const SURROGATE = /[\uD800-\uDFFF]/;

// JavaScript compares strings by UTF-16 unit; DynamoDB and SQLite compare the bytes of UTF-8. The orders differ only for
// surrogates: their units sort before U+E000 to U+FFFF, but their characters sort after.
export const compareBytes = (a: string, b: string): number => {
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  if (a === b) return 0;
  return a < b ? -1 : 1;
};

const isInBounds = (value: number, { atLeast, atMost }: Bounds[string]): boolean =>
  (atLeast === undefined || value >= atLeast) && (atMost === undefined || value <= atMost);

/** A missing amount counts as 0. Adding to a value that is not a number is an error, as in DynamoDB. */
const readAmount = (item: Item | undefined, field: string): number => {
  const value = readField(item ?? {}, field) ?? 0;
  if (typeof value === "number") return value;
  throw new RangeError(`${field} is not a number, so nothing can be added to it`);
};

/** Reads only own fields: "constructor" is missing unless the item has a field of that name. */
const readField = (item: object, field: string): unknown =>
  Object.hasOwn(item, field) ? (item as Readonly<Record<string, unknown>>)[field] : undefined;

// DynamoDB's limit is 400 KB, but it counts differently from JSON: a list of small numbers is larger there.
const ITEM_BYTES_MAX = 250_000;

/** Returns the item's JSON. Throws if any adapter would refuse its size. */
export const serializeItem = (item: Item): string => {
  const json = JSON.stringify(item);
  // One UTF-16 unit becomes at most three bytes of UTF-8, so only long strings are measured.
  if (json.length * 3 <= ITEM_BYTES_MAX || Buffer.byteLength(json) <= ITEM_BYTES_MAX) return json;
  throw new RangeError(`the item ${item.sk} is over ${ITEM_BYTES_MAX} bytes`);
};

export const toItemId = ({ pk, sk }: Key): string => `${pk}\n${sk}`;

import type { Bounds, Condition, Item, Key, Scalar, Update, Where, Write } from "./table.ts";

// What a write means, for doors that keep items themselves (SQLite, memory). The DynamoDB door says the same
// in expressions, and test/contract/table.test.ts holds them all to one behaviour.

export const getItemKey = (write: Write): Key => {
  if ("create" in write) return write.create;
  if ("put" in write) return write.put;
  if ("update" in write) return write.update;
  if ("remove" in write) return write.remove;
  return "check" in write ? write.check : write.checkAbsent;
};

/** Whether the write may be done to what is stored now. */
export const mayApply = (write: Write, stored: Item | undefined): boolean => {
  if ("put" in write) return true;
  if ("create" in write || "checkAbsent" in write) return stored === undefined;
  if ("update" in write) return mayUpdate(write, stored);
  return stored !== undefined && matchesWhere(stored, write.where ?? {});
};

/** The item as it is afterwards, or undefined when there is none. */
export const applyWrite = (write: Write, stored: Item | undefined): Item | undefined => {
  if ("create" in write) return write.create;
  if ("put" in write) return write.put;
  if ("remove" in write) return undefined;
  if ("check" in write || "checkAbsent" in write) return stored;

  const { update, set = {}, add = {} } = write;
  const sums = Object.entries(add).map(([field, by]) => [field, readAmount(stored, field) + by]);
  return {
    ...(stored ?? { pk: update.pk, sk: update.sk }),
    ...set,
    ...Object.fromEntries(sums),
  };
};

const mayUpdate = (write: Update, stored: Item | undefined): boolean => {
  if (stored === undefined && !write.orCreate) return false;
  const { add = {}, where = {}, bounds: leaving = {} } = write;
  return (
    matchesWhere(stored ?? {}, where) &&
    Object.entries(leaving).every(([field, bound]) =>
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

/** Undefined for values of different kinds: DynamoDB does not compare those either. */
const compare = (value: unknown, bound: number | string): number | undefined => {
  if (typeof value === "number" && typeof bound === "number") return value - bound;
  if (typeof value === "string" && typeof bound === "string") return compareBytes(value, bound);
  return undefined;
};

// JavaScript compares strings by UTF-16 unit; DynamoDB and SQLite compare the bytes of UTF-8.
export const compareBytes = (a: string, b: string): number =>
  Buffer.compare(Buffer.from(a), Buffer.from(b));

const isInBounds = (value: number, { atLeast, atMost }: Bounds[string]): boolean =>
  (atLeast === undefined || value >= atLeast) && (atMost === undefined || value <= atMost);

/** A missing amount counts as 0. Adding to what is no number is an error, as DynamoDB says. */
const readAmount = (item: Item | undefined, field: string): number => {
  const value = readField(item ?? {}, field) ?? 0;
  if (typeof value === "number") return value;
  throw new RangeError(`${field} is no number, so nothing can be added to it`);
};

/** A field of the item itself: one that is named like something every object has is still missing. */
const readField = (item: object, field: string): unknown =>
  Object.hasOwn(item, field) ? (item as Readonly<Record<string, unknown>>)[field] : undefined;

// DynamoDB takes 400 KB, but counts otherwise than JSON does: a list of small numbers is larger there.
const ITEM_BYTES_MAX = 250_000;

/** The JSON of an item, unless it is larger than every door takes. */
export const serialiseItem = (item: Item): string => {
  const json = JSON.stringify(item);
  // Only a long string is worth measuring: a character is at most three bytes of UTF-8 here.
  if (json.length * 3 <= ITEM_BYTES_MAX || Buffer.byteLength(json) <= ITEM_BYTES_MAX) return json;
  throw new RangeError(`the item ${item.sk} is over ${ITEM_BYTES_MAX} bytes`);
};

export const toItemId = ({ pk, sk }: Key): string => `${pk}\n${sk}`;

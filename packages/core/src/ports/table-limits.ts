import {
  type Condition,
  type Fields,
  INDEXES,
  type Key,
  type TableQuery,
  type Where,
  type Write,
} from "./table.ts";
import { compareBytes, getItemKey, serializeItem, toItemId } from "./writes.ts";

// The limits of DynamoDB. Every adapter enforces them, so a mistake is found before a deployment to AWS.

const WRITES_MAX = 100;
const TRANSACTION_BYTES_MAX = 4_000_000;
const PK_BYTES_MAX = 2_048;
const SK_BYTES_MAX = 1_024;

export const assertTransactable = (writes: readonly Write[]): void => {
  if (writes.length === 0) throw new RangeError("a transaction without writes");
  if (writes.length > WRITES_MAX) throw new RangeError(`${writes.length} writes in a transaction`);
  const itemKeys = new Set(writes.map((write) => toItemId(getItemKey(write))));
  if (itemKeys.size < writes.length) throw new RangeError("a transaction touches one item twice");
  writes.forEach(assertValidWrite);
  // Twelve items of the largest size always fit, so only larger transactions are measured.
  const bytes =
    writes.length > 12 ? writes.reduce((sum, write) => sum + measureWrite(write), 0) : 0;
  if (bytes > TRANSACTION_BYTES_MAX) throw new RangeError(`a transaction of ${bytes} bytes`);
};

export const assertQueryable = ({ pk, sk, limit }: TableQuery): void => {
  assertKeyPart("partition", pk, PK_BYTES_MAX);
  if (!Number.isInteger(limit) || limit < 1) throw new RangeError(`a page of ${limit} items`);
  if (sk && "from" in sk && compareBytes(sk.from, sk.to) > 0)
    throw new RangeError("a range that ends before it starts");
};

export const assertKey = ({ pk, sk }: Key): void => {
  assertKeyPart("partition", pk, PK_BYTES_MAX);
  assertKeyPart("sort", sk, SK_BYTES_MAX);
};

const measureWrite = (write: Write): number => {
  if ("create" in write) return serializeItem(write.create).length;
  return "put" in write ? serializeItem(write.put).length : 0;
};

const assertKeyPart = (part: string, value: unknown, bytesMax: number): void => {
  if (typeof value !== "string" || value === "") throw new RangeError(`a ${part} key is empty`);
  if (!value.isWellFormed()) throw new RangeError(`a ${part} key is not well formed`);
  if (value.length * 3 > bytesMax && Buffer.byteLength(value) > bytesMax)
    throw new RangeError(`a ${part} key is over ${bytesMax} bytes`);
};

const assertValidWrite = (write: Write): void => {
  assertKey(getItemKey(write));
  if ("create" in write) assertReservedFields(write.create);
  if ("put" in write) assertReservedFields(write.put);
  if ("where" in write) assertWhere(write.where ?? {});
  if (!("update" in write)) return;

  const { set = {}, add = {}, bounds = {} } = write;
  assertReservedFields(set);
  if ([set, add].some((fields) => "pk" in fields || "sk" in fields))
    throw new RangeError("an update does not touch the key of its item");
  if (Object.keys(add).some((field) => Object.hasOwn(set, field)))
    throw new RangeError("an update sets and adds one field");
  if (!Object.values(add).every(Number.isFinite)) throw new RangeError("an amount is not a number");
  if (Object.keys(bounds).some((field) => !Object.hasOwn(add, field)))
    throw new RangeError("only an amount that is added can be bounded");
};

const assertReservedFields = (fields: Fields): void => {
  const { expires_at } = fields;
  if (expires_at !== undefined && !Number.isSafeInteger(expires_at))
    throw new RangeError("expires_at is in whole seconds");
  for (const { pk, sk } of Object.values(INDEXES)) {
    if (fields[pk] !== undefined) assertKeyPart(pk, fields[pk], PK_BYTES_MAX);
    if (fields[sk] !== undefined) assertKeyPart(sk, fields[sk], SK_BYTES_MAX);
  }
};

const assertWhere = (where: Where): void => {
  const isEmpty = (condition: Condition) =>
    typeof condition === "object" && "oneOf" in condition && condition.oneOf.length === 0;
  if (Object.values(where).some(isEmpty)) throw new RangeError("a condition that nothing meets");
};

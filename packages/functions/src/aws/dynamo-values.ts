import type { Item, Json } from "@mailproof/core/ports/table";

/** A value as DynamoDB writes it, with its kind before it. */
export type DynamoValue =
  | { readonly S: string }
  | { readonly N: string }
  | { readonly BOOL: boolean }
  | { readonly NULL: true }
  | { readonly L: readonly DynamoValue[] }
  | { readonly M: DynamoValues };

export type DynamoValues = { readonly [field: string]: DynamoValue };

export const toValue = (json: Json): DynamoValue => {
  if (json === null) return { NULL: true };
  // DynamoDB stores UTF-8, which has no lone surrogate: it becomes the replacement character.
  if (typeof json === "string") return { S: json.toWellFormed() };
  if (typeof json === "number") return { N: String(json) };
  if (typeof json === "boolean") return { BOOL: json };
  return isList(json) ? { L: json.map(toValue) } : { M: toValues(json) };
};

// Array.isArray does not tell a readonly list from the rest.
const isList = (json: object): json is readonly Json[] => Array.isArray(json);

/** Undefined fields are left out. */
export const toValues = (fields: { readonly [field: string]: Json | undefined }): DynamoValues =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([field, json]) =>
      json === undefined ? [] : [[field, toValue(json)]],
    ),
  );

const fromValue = (value: DynamoValue): Json => {
  if ("S" in value) return value.S;
  if ("N" in value) return Number(value.N);
  if ("BOOL" in value) return value.BOOL;
  if ("L" in value) return value.L.map(fromValue);
  return "M" in value ? fromValues(value.M) : null;
};

const fromValues = (values: DynamoValues): { readonly [field: string]: Json } =>
  Object.fromEntries(Object.entries(values).map(([field, value]) => [field, fromValue(value)]));

export const toItem = (values: DynamoValues): Item => fromValues(values) as Item;

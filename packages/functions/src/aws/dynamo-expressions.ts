import type {
  Condition,
  Fields,
  Item,
  Json,
  Key,
  Update,
  Where,
  Write,
} from "@mailproof/core/ports/table";
import { serializeItem } from "@mailproof/core/ports/writes";

// Writes as DynamoDB expressions. core/src/ports/writes.ts does the same for adapters that store items themselves, and
// test/contract/table.test.ts tests all adapters for one behaviour.

export type DynamoExpressions = {
  readonly ConditionExpression?: string;
  readonly UpdateExpression?: string;
  readonly FilterExpression?: string;
  readonly KeyConditionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Readonly<Record<string, Json>>;
};

/** One write in the form of a transaction. A single write is sent as PutItem, UpdateItem or DeleteItem. */
export type DynamoCommand = DynamoExpressions & {
  readonly action: "ConditionCheck" | "Delete" | "Put" | "Update";
  readonly Item?: Item;
  readonly Key?: Key;
};

export const toTableKey = ({ pk, sk }: Key): Key => toStorable({ pk, sk });

export const buildCommand = (write: Write, nowSeconds: number): DynamoCommand => {
  const placeholders = createPlaceholders();
  const buildAlive = () => buildAliveCondition(placeholders, nowSeconds);
  if ("put" in write) return { action: "Put", Item: toTableItem(write.put) };
  if ("create" in write)
    return {
      action: "Put",
      Item: toTableItem(write.create),
      ConditionExpression: buildAbsentCondition(placeholders, nowSeconds),
      ...placeholders.toAttributes(),
    };
  if ("checkAbsent" in write)
    return {
      action: "ConditionCheck",
      Key: toTableKey(write.checkAbsent),
      ConditionExpression: buildAbsentCondition(placeholders, nowSeconds),
      ...placeholders.toAttributes(),
    };
  if ("update" in write) return buildUpdateCommand(placeholders, write, nowSeconds);

  const [action, key] =
    "remove" in write
      ? (["Delete", write.remove] as const)
      : (["ConditionCheck", write.check] as const);
  const ConditionExpression = joinConditions([
    `attribute_exists(${placeholders.name("pk")})`,
    buildAlive(),
    ...buildConditions(placeholders, write.where),
  ]);
  return { action, Key: toTableKey(key), ConditionExpression, ...placeholders.toAttributes() };
};

const toTableItem = (item: Item): Item => {
  // Every adapter accepts items of the same size.
  serializeItem(item);
  return toStorable(item);
};

/**
 * The fields as the document client takes them. Strings are well-formed, since DynamoDB stores UTF-8: a lone surrogate
 * becomes the replacement character. An object within is a Map, since the client reads the class of an object from its
 * field "constructor", which a field of ours may be named.
 */
const toStorable = <F extends Fields>(fields: F): F =>
  Object.fromEntries(
    Object.entries(fields).map(([field, json]) => [field, toStorableValue(json)]),
  ) as F;

const toStorableValue = (json: Json | undefined): Json | undefined => {
  if (typeof json === "string") return json.toWellFormed();
  if (typeof json !== "object" || json === null) return json;
  if (Array.isArray(json)) return json.map(toStorableValue) as Json[];
  const fields = Object.entries(json).map(([field, value]) => [field, toStorableValue(value)]);
  return new Map(fields as [string, Json][]) as object as Json;
};

const buildUpdateCommand = (
  placeholders: Placeholders,
  write: Update,
  nowSeconds: number,
): DynamoCommand => {
  const { update, set = {}, add = {}, where, orCreate } = write;
  const sets = Object.entries(set).filter(([, json]) => json !== undefined) as [string, Json][];
  const removed = Object.keys(set).filter((field) => set[field] === undefined);
  const UpdateExpression = [
    formatClause(
      "SET",
      sets.map(([field, json]) => `${placeholders.name(field)} = ${placeholders.value(json)}`),
    ),
    formatClause(
      "ADD",
      Object.entries(add).map(
        ([field, by]) => `${placeholders.name(field)} ${placeholders.value(by)}`,
      ),
    ),
    // A transaction needs a change. Removing a field that no item has is a change without effect.
    formatClause(
      "REMOVE",
      (sets.length + Object.keys(add).length > 0 ? removed : [...removed, NO_FIELD]).map(
        placeholders.name,
      ),
    ),
  ]
    .filter(Boolean)
    .join(" ");
  const ConditionExpression = joinConditions([
    ...(orCreate ? [] : [`attribute_exists(${placeholders.name("pk")})`]),
    buildAliveCondition(placeholders, nowSeconds),
    ...buildConditions(placeholders, where),
    ...buildBounds(placeholders, write),
  ]);
  return {
    action: "Update",
    Key: toTableKey(update),
    UpdateExpression,
    ConditionExpression,
    ...placeholders.toAttributes(),
  };
};

const NO_FIELD = "no_such_field";

const formatClause = (clause: string, parts: readonly string[]): string =>
  parts.length > 0 ? `${clause} ${parts.join(", ")}` : "";

/** The condition also holds for a missing item. */
export const buildAliveCondition = (placeholders: Placeholders, nowSeconds: number): string => {
  const ends = placeholders.name("expires_at");
  return `(attribute_not_exists(${ends}) OR ${ends} > ${placeholders.value(nowSeconds)})`;
};

const buildAbsentCondition = (placeholders: Placeholders, nowSeconds: number): string =>
  `attribute_not_exists(${placeholders.name("pk")}) OR ${placeholders.name("expires_at")} <= ${placeholders.value(nowSeconds)}`;

const buildConditions = (placeholders: Placeholders, where: Where = {}): readonly string[] =>
  Object.entries(where).map(([field, condition]) => buildCondition(placeholders, field, condition));

const buildCondition = (
  placeholders: Placeholders,
  field: string,
  condition: Condition,
): string => {
  const name = placeholders.name(field);
  if (typeof condition !== "object") return `${name} = ${placeholders.value(condition)}`;
  if ("missing" in condition) return `attribute_not_exists(${name})`;
  if ("oneOf" in condition)
    return `${name} IN (${condition.oneOf.map(placeholders.value).join(", ")})`;
  return "below" in condition
    ? `${name} < ${placeholders.value(condition.below)}`
    : `${name} >= ${placeholders.value(condition.atLeast)}`;
};

/** A condition is evaluated before the change and has no sums, so the bound is shifted by the amount. */
const buildBounds = (
  placeholders: Placeholders,
  { add = {}, bounds: leaving = {} }: Update,
): readonly string[] =>
  Object.entries(leaving).flatMap(([field, { atLeast = -Infinity, atMost = Infinity }]) => {
    const by = add[field] ?? 0;
    const name = placeholders.name(field);
    const bounds = [
      ...(atLeast === -Infinity ? [] : [`${name} >= ${placeholders.value(atLeast - by)}`]),
      ...(atMost === Infinity ? [] : [`${name} <= ${placeholders.value(atMost - by)}`]),
    ];
    const both = bounds.join(" AND ");
    // A missing amount counts as 0.
    const mayBeMissing = by >= atLeast && by <= atMost;
    if (bounds.length === 0) return [];
    return [mayBeMissing ? `(attribute_not_exists(${name}) OR (${both}))` : both];
  });

const joinConditions = (conditions: readonly string[]): string => conditions.join(" AND ");

export type Placeholders = ReturnType<typeof createPlaceholders>;

/** Stand-ins, since a field may be named like a word of the language, and an expression must stay below 4 KB. */
export const createPlaceholders = () => {
  const names = new Map<string, string>();
  const values: Json[] = [];
  return {
    name: (field: string): string => {
      const existing = names.get(field) ?? `#${names.size}`;
      names.set(field, existing);
      return existing;
    },
    value: (json: Json): string => `:${values.push(toStorableValue(json) as Json) - 1}`,
    toAttributes: (): Pick<
      DynamoExpressions,
      "ExpressionAttributeNames" | "ExpressionAttributeValues"
    > => ({
      ...(names.size > 0 && {
        ExpressionAttributeNames: Object.fromEntries(
          [...names].map(([field, word]) => [word, field]),
        ),
      }),
      ...(values.length > 0 && {
        ExpressionAttributeValues: Object.fromEntries(values.map((value, at) => [`:${at}`, value])),
      }),
    }),
  };
};

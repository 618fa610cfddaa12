import type { Condition, Item, Json, Key, Update, Where, Write } from "@mailproof/core/table";
import { serialise } from "@mailproof/core/writes";
import { toValue, toValues, type Value, type Values } from "./dynamo-values.ts";

// What a write means, said in DynamoDB's expressions. core/src/writes.ts says the same for doors that keep items
// themselves, and test/contract/table.test.ts holds them all to one behaviour.

export type Expressions = {
  readonly ConditionExpression?: string;
  readonly UpdateExpression?: string;
  readonly FilterExpression?: string;
  readonly KeyConditionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Values;
};

/** One write as a transaction takes it; alone it is sent as PutItem, UpdateItem or DeleteItem. */
export type Command = Expressions & {
  readonly action: "ConditionCheck" | "Delete" | "Put" | "Update";
  readonly Item?: Values;
  readonly Key?: Values;
};

export const keyValues = ({ pk, sk }: Key): Values => toValues({ pk, sk });

export const commandFor = (write: Write, nowSeconds: number): Command => {
  const words = standIns();
  const alive = () => aliveAt(words, nowSeconds);
  if ("put" in write) return { action: "Put", Item: itemValues(write.put) };
  if ("create" in write)
    return {
      action: "Put",
      Item: itemValues(write.create),
      ConditionExpression: absentAt(words, nowSeconds),
      ...words.used(),
    };
  if ("checkAbsent" in write)
    return {
      action: "ConditionCheck",
      Key: keyValues(write.checkAbsent),
      ConditionExpression: absentAt(words, nowSeconds),
      ...words.used(),
    };
  if ("update" in write) return updateCommand(words, write, nowSeconds);

  const [action, key] =
    "remove" in write
      ? (["Delete", write.remove] as const)
      : (["ConditionCheck", write.check] as const);
  const ConditionExpression = all([
    `attribute_exists(${words.name("pk")})`,
    alive(),
    ...conditionsOn(words, write.where),
  ]);
  return { action, Key: keyValues(key), ConditionExpression, ...words.used() };
};

const itemValues = (item: Item): Values => {
  // Every door takes items of the same size.
  serialise(item);
  return toValues(item);
};

/** Takes the place of an item whose time is over, and of nothing else. */
export const replaceExpired = (item: Item, nowSeconds: number): Command => {
  const words = standIns();
  const ConditionExpression = absentAt(words, nowSeconds);
  return { action: "Put", Item: itemValues(item), ConditionExpression, ...words.used() };
};

const updateCommand = (words: Words, write: Update, nowSeconds: number): Command => {
  const { update, set = {}, add = {}, where, orCreate } = write;
  const sets = Object.entries(set).filter(([, json]) => json !== undefined) as [string, Json][];
  const removed = Object.keys(set).filter((field) => set[field] === undefined);
  const UpdateExpression = [
    listed(
      "SET",
      sets.map(([field, json]) => `${words.name(field)} = ${words.value(json)}`),
    ),
    listed(
      "ADD",
      Object.entries(add).map(([field, by]) => `${words.name(field)} ${words.value(by)}`),
    ),
    // A transaction wants a change. Removing what no item has is one, and changes nothing.
    listed(
      "REMOVE",
      (sets.length + Object.keys(add).length > 0 ? removed : [...removed, NO_FIELD]).map(
        words.name,
      ),
    ),
  ]
    .filter(Boolean)
    .join(" ");
  const ConditionExpression = all([
    ...(orCreate ? [] : [`attribute_exists(${words.name("pk")})`]),
    aliveAt(words, nowSeconds),
    ...conditionsOn(words, where),
    ...boundsOn(words, write),
  ]);
  return {
    action: "Update",
    Key: keyValues(update),
    UpdateExpression,
    ConditionExpression,
    ...words.used(),
  };
};

const NO_FIELD = "no_such_field";

const listed = (clause: string, parts: readonly string[]): string =>
  parts.length > 0 ? `${clause} ${parts.join(", ")}` : "";

/** True of an item that is not there, too. */
export const aliveAt = (words: Words, nowSeconds: number): string => {
  const ends = words.name("expires_at");
  return `(attribute_not_exists(${ends}) OR ${ends} > ${words.value(nowSeconds)})`;
};

const absentAt = (words: Words, nowSeconds: number): string =>
  `attribute_not_exists(${words.name("pk")}) OR ${words.name("expires_at")} <= ${words.value(nowSeconds)}`;

const conditionsOn = (words: Words, where: Where = {}): readonly string[] =>
  Object.entries(where).map(([field, condition]) => conditionOn(words, field, condition));

const conditionOn = (words: Words, field: string, condition: Condition): string => {
  const name = words.name(field);
  if (typeof condition !== "object") return `${name} = ${words.value(condition)}`;
  if ("missing" in condition) return `attribute_not_exists(${name})`;
  if ("oneOf" in condition) return `${name} IN (${condition.oneOf.map(words.value).join(", ")})`;
  return "below" in condition
    ? `${name} < ${words.value(condition.below)}`
    : `${name} >= ${words.value(condition.atLeast)}`;
};

/** A condition is judged before the change, and knows no sum: so the bound is moved by what is added. */
const boundsOn = (words: Words, { add = {}, leaving = {} }: Update): readonly string[] =>
  Object.entries(leaving).flatMap(([field, { atLeast = -Infinity, atMost = Infinity }]) => {
    const by = add[field] ?? 0;
    const name = words.name(field);
    const bounds = [
      ...(atLeast === -Infinity ? [] : [`${name} >= ${words.value(atLeast - by)}`]),
      ...(atMost === Infinity ? [] : [`${name} <= ${words.value(atMost - by)}`]),
    ];
    const both = bounds.join(" AND ");
    // An amount that is missing counts as 0.
    const mayBeMissing = by >= atLeast && by <= atMost;
    if (bounds.length === 0) return [];
    return [mayBeMissing ? `(attribute_not_exists(${name}) OR (${both}))` : both];
  });

const all = (conditions: readonly string[]): string => conditions.join(" AND ");

export type Words = ReturnType<typeof standIns>;

/** Stand-ins, since a field may be named like a word of the language, and an expression must stay below 4 KB. */
export const standIns = () => {
  const names = new Map<string, string>();
  const values: Value[] = [];
  return {
    name: (field: string): string => {
      const known = names.get(field) ?? `#${names.size}`;
      names.set(field, known);
      return known;
    },
    value: (json: Json): string => `:${values.push(toValue(json)) - 1}`,
    used: (): Pick<Expressions, "ExpressionAttributeNames" | "ExpressionAttributeValues"> => ({
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

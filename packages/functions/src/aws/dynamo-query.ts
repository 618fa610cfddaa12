import type { QueryCommandInput, QueryCommandOutput } from "@aws-sdk/lib-dynamodb";
import {
  INDEXES,
  type Item,
  type ItemPage,
  readPosition,
  type TableQuery,
  toPosition,
} from "@mailproof/core/ports/table";
import { buildAliveCondition, createPlaceholders } from "./dynamo-expressions.ts";

/** The caller adds the table. */
export type QueryInput = Omit<QueryCommandInput, "TableName">;
type QueryOutput = Pick<QueryCommandOutput, "Items" | "LastEvaluatedKey">;

/** At most this many pages of expired items are skipped; then the caller gets a cursor. */
const PAGES_MAX = 10;

/** One page: DynamoDB stops after a megabyte, and filters after counting. */
export const readPage = async (
  query: TableQuery,
  nowSeconds: number,
  runQuery: (input: QueryInput) => Promise<QueryOutput>,
): Promise<ItemPage> => {
  const { limit, after } = query;
  const input = buildQueryInput(query, nowSeconds);
  const items: Item[] = [];
  let start = after && toStartKey(query, after);
  for (let page = 0; page < PAGES_MAX; page++) {
    // Reads one item more than requested: that item proves another page.
    const Limit = limit + 1 - items.length;
    const output = await runQuery({ ...input, Limit, ...(start && { ExclusiveStartKey: start }) });
    items.push(...((output.Items ?? []) as Item[]));
    start = output.LastEvaluatedKey as Item | undefined;
    const last = items[limit - 1];
    if (items.length > limit && last)
      return { items: items.slice(0, limit), next: toPosition(last, query.index) };
    if (!start) return { items };
  }
  return start ? { items, next: toPosition(start, query.index) } : { items };
};

const buildQueryInput = (
  { index, pk, sk, newestFirst }: TableQuery,
  nowSeconds: number,
): QueryInput => {
  const placeholders = createPlaceholders();
  const column = index ? INDEXES[index] : { pk: "pk", sk: "sk" };
  const expressions = {
    KeyConditionExpression: [
      `${placeholders.name(column.pk)} = ${placeholders.value(pk)}`,
      ...(sk ? [buildRange(placeholders, column.sk, sk)] : []),
    ].join(" AND "),
    FilterExpression: buildAliveCondition(placeholders, nowSeconds),
    ...placeholders.toAttributes(),
  };
  return {
    ...expressions,
    ScanIndexForward: !newestFirst,
    // DynamoDB offers no consistent read of an index, but a consistent read of the table.
    ...(index ? { IndexName: index } : { ConsistentRead: true }),
  };
};

const buildRange = (
  placeholders: ReturnType<typeof createPlaceholders>,
  field: string,
  range: NonNullable<TableQuery["sk"]>,
): string => {
  const name = placeholders.name(field);
  return "prefix" in range
    ? `begins_with(${name}, ${placeholders.value(range.prefix)})`
    : `${name} BETWEEN ${placeholders.value(range.from)} AND ${placeholders.value(range.to)}`;
};

const toStartKey = (
  { index, pk }: TableQuery,
  position: NonNullable<TableQuery["after"]>,
): Item => {
  const [sortKey, ownPk, ownSk] = readPosition(position);
  const indexKeys = index ? { [INDEXES[index].pk]: pk, [INDEXES[index].sk]: sortKey } : {};
  return { ...indexKeys, pk: ownPk, sk: ownSk };
};

import {
  INDEXES,
  type Item,
  type ItemPage,
  readPosition,
  type TableQuery,
  toPosition,
} from "@mailproof/core/ports/table";
import {
  buildAliveCondition,
  createPlaceholders,
  type DynamoExpressions,
} from "./dynamo-expressions.ts";
import { type DynamoValues, toItem, toValues } from "./dynamo-values.ts";

type QueryOutput = {
  readonly Items?: readonly DynamoValues[];
  readonly LastEvaluatedKey?: DynamoValues;
};

/** At most this many pages of expired items are skipped; then the caller gets a cursor. */
const PAGES_MAX = 10;

/** One page: DynamoDB stops after a megabyte, and filters after counting. */
export const readPage = async (
  query: TableQuery,
  nowSeconds: number,
  runQuery: (input: object) => Promise<QueryOutput>,
): Promise<ItemPage> => {
  const { limit, after } = query;
  const input = buildQueryInput(query, nowSeconds);
  const items: Item[] = [];
  let start = after && toStartKey(query, after);
  for (let page = 0; page < PAGES_MAX; page++) {
    // One more than requested shows whether there is another page.
    const Limit = limit + 1 - items.length;
    const output = await runQuery({ ...input, Limit, ...(start && { ExclusiveStartKey: start }) });
    items.push(...(output.Items ?? []).map(toItem));
    start = output.LastEvaluatedKey;
    const last = items[limit - 1];
    if (items.length > limit && last)
      return { items: items.slice(0, limit), next: toPosition(last, query.index) };
    if (!start) return { items };
  }
  return start ? { items, next: toPosition(toItem(start), query.index) } : { items };
};

const buildQueryInput = ({ index, pk, sk, newestFirst }: TableQuery, nowSeconds: number) => {
  const placeholders = createPlaceholders();
  const column = index ? INDEXES[index] : { pk: "pk", sk: "sk" };
  const expressions: DynamoExpressions = {
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
    // An index has no consistent read; the table itself is read as it is now.
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
): DynamoValues => {
  const [sortKey, ownPk, ownSk] = readPosition(position);
  const indexKeys = index ? { [INDEXES[index].pk]: pk, [INDEXES[index].sk]: sortKey } : {};
  return toValues({ ...indexKeys, pk: ownPk, sk: ownSk });
};

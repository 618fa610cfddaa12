import {
  INDEXES,
  type Item,
  type Page,
  positionOf,
  type Query,
  readPosition,
} from "@mailproof/core/table";
import { aliveAt, type Expressions, standIns } from "./dynamo-expressions.ts";
import { toItem, toValues, type Values } from "./dynamo-values.ts";

type Found = { readonly Items?: readonly Values[]; readonly LastEvaluatedKey?: Values };

/** So many pages of items whose time is over are read past; then whoever asked may ask on. */
const PAGES_MAX = 10;

/** One page: DynamoDB stops after a megabyte, and drops after counting what is filtered out. */
export const pageOf = async (
  query: Query,
  nowSeconds: number,
  ask: (input: object) => Promise<Found>,
): Promise<Page> => {
  const { limit, after } = query;
  const input = inputFor(query, nowSeconds);
  const items: Item[] = [];
  let start = after && startAfter(query, after);
  for (let page = 0; page < PAGES_MAX; page++) {
    // One more than asked for tells whether there is another page.
    const Limit = limit + 1 - items.length;
    const found = await ask({ ...input, Limit, ...(start && { ExclusiveStartKey: start }) });
    items.push(...(found.Items ?? []).map(toItem));
    start = found.LastEvaluatedKey;
    const last = items[limit - 1];
    if (items.length > limit && last)
      return { items: items.slice(0, limit), next: positionOf(last, query.index) };
    if (!start) return { items };
  }
  return start ? { items, next: positionOf(toItem(start), query.index) } : { items };
};

const inputFor = ({ index, pk, sk, newestFirst }: Query, nowSeconds: number) => {
  const words = standIns();
  const column = index ? INDEXES[index] : { pk: "pk", sk: "sk" };
  const expressions: Expressions = {
    KeyConditionExpression: [
      `${words.name(column.pk)} = ${words.value(pk)}`,
      ...(sk ? [rangeOf(words, column.sk, sk)] : []),
    ].join(" AND "),
    FilterExpression: aliveAt(words, nowSeconds),
    ...words.used(),
  };
  return {
    ...expressions,
    ScanIndexForward: !newestFirst,
    // An index has no consistent read; the table itself is read as it is now.
    ...(index ? { IndexName: index } : { ConsistentRead: true }),
  };
};

const rangeOf = (
  words: ReturnType<typeof standIns>,
  field: string,
  range: NonNullable<Query["sk"]>,
): string => {
  const name = words.name(field);
  return "prefix" in range
    ? `begins_with(${name}, ${words.value(range.prefix)})`
    : `${name} BETWEEN ${words.value(range.from)} AND ${words.value(range.to)}`;
};

const startAfter = ({ index, pk }: Query, position: NonNullable<Query["after"]>): Values => {
  const [sortKey, ownPk, ownSk] = readPosition(position);
  const place = index ? { [INDEXES[index].pk]: pk, [INDEXES[index].sk]: sortKey } : {};
  return toValues({ ...place, pk: ownPk, sk: ownSk });
};

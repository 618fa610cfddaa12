import type { Item, Position, Query, Table } from "./table.ts";

/** Every item of a query, read page by page as the reader goes on. Stop reading and nothing more is asked. */
export async function* everyItem(
  table: Table,
  query: Omit<Query, "limit"> & { readonly pageSize?: number },
): AsyncGenerator<Item> {
  const { pageSize = 100, after: start, ...what } = query;
  let after: Position | undefined = start;
  do {
    const page = await table.query({ ...what, limit: pageSize, ...(after && { after }) });
    yield* page.items;
    after = page.next;
  } while (after !== undefined);
}

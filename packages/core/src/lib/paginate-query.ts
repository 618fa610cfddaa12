import type { Item, PagePosition, Table, TableQuery } from "../ports/table.ts";

/** Yields every item of a query. It reads a page only when the consumer reaches that page. */
export async function* paginateQuery(
  table: Table,
  query: Omit<TableQuery, "limit"> & { readonly pageSize?: number },
): AsyncGenerator<Item> {
  const { pageSize = 100, after: start, ...pageQuery } = query;
  let after: PagePosition | undefined = start;
  do {
    const page = await table.query({ ...pageQuery, limit: pageSize, ...(after && { after }) });
    yield* page.items;
    after = page.next;
  } while (after !== undefined);
}

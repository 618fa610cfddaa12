import type { Item, PagePosition, Table, TableQuery } from "../ports/table.ts";

/** Every item of a query, read page by page as the reader goes on. Stop reading and nothing more is asked. */
export async function* paginateQuery(
  table: Table,
  query: Omit<TableQuery, "limit"> & { readonly pageSize?: number },
): AsyncGenerator<Item> {
  const { pageSize = 100, after: start, ...rest } = query;
  let after: PagePosition | undefined = start;
  do {
    const page = await table.query({ ...rest, limit: pageSize, ...(after && { after }) });
    yield* page.items;
    after = page.next;
  } while (after !== undefined);
}

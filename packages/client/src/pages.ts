/** Yields all entries of a list. Reads each page when the one before it is used up. */
export async function* readPages<T>(
  read: (cursor: string | undefined) => Promise<{ items: readonly T[]; next: string | undefined }>,
): AsyncGenerator<T, void, undefined> {
  let cursor: string | undefined;
  do {
    const { items, next } = await read(cursor);
    yield* items;
    cursor = next;
  } while (cursor !== undefined);
}

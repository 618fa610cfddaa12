/** Loads each item, in order, and starts to load the next `count` meanwhile: for items that are far away. */
export async function* prefetch<T, R>(
  items: Iterable<T>,
  count: number,
  load: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const inFlight: Promise<R>[] = [];
  for (const item of items) {
    const promise = load(item);
    // A failure is reported when the item's turn comes; until then it must not count as an unhandled rejection.
    promise.catch(() => {});
    inFlight.push(promise);
    const first = inFlight.length > count && inFlight.shift();
    if (first) yield await first;
  }
  for (const promise of inFlight) yield await promise;
}

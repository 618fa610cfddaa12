/** Loads items in order and starts the next `count` loads early, for items whose load waits for a remote store. */
export async function* prefetch<T, R>(
  items: Iterable<T>,
  count: number,
  load: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const inFlight: Promise<R>[] = [];
  for (const item of items) {
    const promise = load(item);
    // The consumer gets a rejection in its item's turn; until then Node must not report it as unhandled.
    promise.catch(() => {});
    inFlight.push(promise);
    const first = inFlight.length > count && inFlight.shift();
    if (first) yield await first;
  }
  for (const promise of inFlight) yield await promise;
}

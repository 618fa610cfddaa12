/** What is made of each, in their order, while so many of the next are being made: for what is far away. */
export async function* prefetch<T, R>(
  items: Iterable<T>,
  count: number,
  load: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const inFlight: Promise<R>[] = [];
  for (const item of items) {
    const promise = load(item);
    // Whether it failed is asked when its turn comes; until then it is no error that nobody looks at.
    promise.catch(() => {});
    inFlight.push(promise);
    const first = inFlight.length > count && inFlight.shift();
    if (first) yield await first;
  }
  for (const promise of inFlight) yield await promise;
}

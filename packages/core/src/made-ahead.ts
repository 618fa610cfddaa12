/** What is made of each, in their order, while so many of the next are being made: for what is far away. */
export async function* madeAhead<T, R>(
  all: Iterable<T>,
  ahead: number,
  make: (one: T) => Promise<R>,
): AsyncGenerator<R> {
  const underWay: Promise<R>[] = [];
  for (const one of all) {
    const made = make(one);
    // Whether it failed is asked when its turn comes; until then it is no error that nobody looks at.
    made.catch(() => {});
    underWay.push(made);
    const first = underWay.length > ahead && underWay.shift();
    if (first) yield await first;
  }
  for (const made of underWay) yield await made;
}

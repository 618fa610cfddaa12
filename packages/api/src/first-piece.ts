/**
 * The same source, its first piece at hand: what fails before it is still an answer of its own, and not a
 * connection that breaks. Not a generator: one that has not begun ends without closing what it reads.
 */
export const withFirstPiece = async <T>(source: AsyncIterable<T>): Promise<AsyncIterable<T>> => {
  const pieces = source[Symbol.asyncIterator]();
  const first = await pieces.next();
  let isFirst = true;
  const next = async () => {
    if (!isFirst) return pieces.next();
    isFirst = false;
    return first;
  };
  const close = async () => {
    await pieces.return?.();
    return { done: true as const, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: close }) };
};

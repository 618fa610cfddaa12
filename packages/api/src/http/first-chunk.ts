/**
 * The same source with its first chunk already read: an error before it is still a response of its own, and not a
 * connection that breaks. `onEnd` is called when the source has ended, was closed or broke. Not a generator: one that
 * has not begun ends without closing what it reads.
 */
export const withFirstPiece = async <T>(
  source: AsyncIterable<T>,
  onEnd: () => void = () => undefined,
): Promise<AsyncIterable<T>> => {
  const pieces = source[Symbol.asyncIterator]();
  const read = async () => {
    try {
      const result = await pieces.next();
      if (result.done) onEnd();
      return result;
    } catch (error) {
      onEnd();
      throw error;
    }
  };
  const first = await read();
  let isFirst = true;
  const next = async () => {
    if (!isFirst) return read();
    isFirst = false;
    return first;
  };
  const close = async () => {
    onEnd();
    await pieces.return?.();
    return { done: true as const, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: close }) };
};

/**
 * Reads the first chunk early, so that an error before it gets its own response instead of a broken connection. Calls `onEnd`
 * when the source has ended, was closed or failed. Not a generator, because a generator that has not started closes nothing
 * when it ends.
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

/** A word at a greater distance is no misspelling. */
const DISTANCE_MAX = 2;
const SHORT_LENGTH = 4;

export const suggestWord = (typed: string, words: readonly string[]): string | undefined => {
  const most = typed.length <= SHORT_LENGTH ? 1 : DISTANCE_MAX;
  const begun = words.filter((word) => typed.length > 2 && word.startsWith(typed));
  const near = words
    .map((word) => ({ word, distance: measureDistance(typed, word) }))
    .filter(({ distance }) => distance <= most)
    .toSorted((a, b) => a.distance - b.distance);
  return near[0]?.word ?? (begun.length === 1 ? begun[0] : undefined);
};

const measureDistance = (from: string, to: string): number => {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let row = 1; row <= from.length; row++) {
    const next = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      next[column] = Math.min(
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        ...(isSwapped ? [(beforeLast[column - 2] ?? 0) + 1] : []),
      );
    }
    beforeLast = last;
    last = next;
  }
  return last[to.length] ?? 0;
};

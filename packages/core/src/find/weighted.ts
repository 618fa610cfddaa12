/** One of several ways, and its likelihood: those of one thing add up to 1. */
export type Weighted<T> = { readonly value: T; readonly weight: number };

/** More ways than this to write one name are too unlikely to be asked about. */
const WAYS_MAX = 8;

/** The likeliest ways, with their weights made to add up to 1 again. */
const keepLikeliest = <T>(ways: readonly Weighted<T>[]): readonly Weighted<T>[] => {
  const likeliest = ways.toSorted((a, b) => b.weight - a.weight).slice(0, WAYS_MAX);
  const sum = likeliest.reduce((total, { weight }) => total + weight, 0);
  return likeliest.map(({ value, weight }) => ({ value, weight: weight / sum }));
};

/** Every way to take one of each list, in their order; the likeliest of them. */
export const combineWays = <T>(
  lists: readonly (readonly Weighted<T>[])[],
): readonly Weighted<readonly T[]>[] => {
  let ways: readonly Weighted<readonly T[]>[] = [{ value: [], weight: 1 }];
  for (const list of lists)
    ways = keepLikeliest(
      ways.flatMap((before) =>
        list.map(({ value, weight }) => ({
          value: [...before.value, value],
          weight: before.weight * weight,
        })),
      ),
    );
  return ways;
};

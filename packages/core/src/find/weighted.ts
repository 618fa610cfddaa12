/** One of several values and its likelihood; the weights of all values add up to 1. */
export type Weighted<T> = { readonly value: T; readonly weight: number };

/** The most ways to write one name. Further ways are too unlikely to be worth a recipient. */
const WAYS_MAX = 8;

const keepLikeliest = <T>(ways: readonly Weighted<T>[]): readonly Weighted<T>[] => {
  const likeliest = ways.toSorted((a, b) => b.weight - a.weight).slice(0, WAYS_MAX);
  const sum = likeliest.reduce((total, { weight }) => total + weight, 0);
  return likeliest.map(({ value, weight }) => ({ value, weight: weight / sum }));
};

/** Combines one value of each list, in the order of the lists, and keeps the likeliest combinations. */
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

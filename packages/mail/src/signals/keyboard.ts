/** The most common keyboard layouts. Each row is half a key to the right of the row above. */
const LAYOUTS = [
  ["1234567890-", "qwertyuiop", "asdfghjkl", "zxcvbnm,."],
  ["1234567890", "qwertzuiop", "asdfghjkl", "yxcvbnm,.-"],
  ["1234567890", "azertyuiop", "qsdfghjklm", "wxcvbn,;"],
] as const;

const listRowPairs = (row: string): string[] =>
  Array.from(row)
    .slice(1)
    .map((key, column) => `${row[column]}${key}`);

/** Because of the half key, a key touches the key straight below and that key's left neighbour. */
const listPairsBetween = (upper: string, lower: string): string[] =>
  Array.from(upper).flatMap((key, column) =>
    [lower[column - 1], lower[column]].flatMap((below) => (below ? [`${key}${below}`] : [])),
  );

const toPairKeys = (pairs: readonly string[]): ReadonlySet<number> =>
  new Set(pairs.flatMap(([a = "", b = ""]) => [toPairKey(a, b), toPairKey(b, a)]));

/** Encodes two keys as one number: the distance looks up thousands of pairs without building strings. */
const toPairKey = (a: string, b: string): number => a.charCodeAt(0) * 65_536 + b.charCodeAt(0);

const NEIGHBOURS = toPairKeys(
  LAYOUTS.flatMap((rows) =>
    rows.flatMap((row, at) => [...listRowPairs(row), ...listPairsBetween(row, rows[at + 1] ?? "")]),
  ),
);

export const areNeighbours = (a: string, b: string): boolean => NEIGHBOURS.has(toPairKey(a, b));

const ROWS = [
  ...new Set([...LAYOUTS.flatMap((rows) => rows.slice(1)), "abcdefghijklmnopqrstuvwxyz"]),
];
const HELD_DOWN = 1;

/** One bit for each kind of step between keys: forwards or backwards along each row or the alphabet, or the same key again. */
const STEPS: ReadonlyMap<number, number> = ROWS.reduce((steps, row, at) => {
  for (const [a = "", b = ""] of listRowPairs(row)) {
    const [onwards, back] = [toPairKey(a, b), toPairKey(b, a)];
    steps.set(onwards, (steps.get(onwards) ?? 0) | (2 << (2 * at)));
    steps.set(back, (steps.get(back) ?? 0) | (4 << (2 * at)));
  }
  return steps;
}, new Map<number, number>());

/** Returns the kinds of steps between two keys, as bits; a run keeps at least one bit throughout. */
export const findSteps = (a: string, b: string): number =>
  a === b ? HELD_DOWN : (STEPS.get(toPairKey(a, b)) ?? 0);

/** The keyboards on which most addresses are typed. Each row stands half a key to the right of the one above it. */
const LAYOUTS = [
  ["1234567890-", "qwertyuiop", "asdfghjkl", "zxcvbnm,."],
  ["1234567890", "qwertzuiop", "asdfghjkl", "yxcvbnm,.-"],
  ["1234567890", "azertyuiop", "qsdfghjklm", "wxcvbn,;"],
] as const;

const listRowPairs = (row: string): string[] =>
  Array.from(row)
    .slice(1)
    .map((key, column) => `${row[column]}${key}`);

/** Because of the half key, a key touches the one straight below it and the one to the left of that. */
const listPairsBetween = (upper: string, lower: string): string[] =>
  Array.from(upper).flatMap((key, column) =>
    [lower[column - 1], lower[column]].flatMap((below) => (below ? [`${key}${below}`] : [])),
  );

const toPairKeys = (pairs: readonly string[]): ReadonlySet<number> =>
  new Set(pairs.flatMap(([a = "", b = ""]) => [toPairKey(a, b), toPairKey(b, a)]));

/** Two keys as one number: the distance looks up thousands of pairs, and builds no strings for it. */
const toPairKey = (a: string, b: string): number => a.charCodeAt(0) * 65_536 + b.charCodeAt(0);

const NEIGHBOURS = toPairKeys(
  LAYOUTS.flatMap((rows) =>
    rows.flatMap((row, at) => [...listRowPairs(row), ...listPairsBetween(row, rows[at + 1] ?? "")]),
  ),
);

/** Whether a finger that aims at one key could hit the other. */
export const areNeighbours = (a: string, b: string): boolean => NEIGHBOURS.has(toPairKey(a, b));

const ROWS = [
  ...new Set([...LAYOUTS.flatMap((rows) => rows.slice(1)), "abcdefghijklmnopqrstuvwxyz"]),
];
const HELD_DOWN = 1;

/** One bit for each step from key to key: onwards or back along each row or the alphabet, or no step. */
const STEPS: ReadonlyMap<number, number> = ROWS.reduce((steps, row, at) => {
  for (const [a = "", b = ""] of listRowPairs(row)) {
    const [onwards, back] = [toPairKey(a, b), toPairKey(b, a)];
    steps.set(onwards, (steps.get(onwards) ?? 0) | (2 << (2 * at)));
    steps.set(back, (steps.get(back) ?? 0) | (4 << (2 * at)));
  }
  return steps;
}, new Map<number, number>());

/** The steps by which one key follows another, as bits; a run keeps at least one of them throughout. */
export const findSteps = (a: string, b: string): number =>
  a === b ? HELD_DOWN : (STEPS.get(toPairKey(a, b)) ?? 0);

// What a soak makes of what it measured.

export const computePercentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;

export const computeMedian = (values: readonly number[]): number => computePercentile(values, 0.5);

export type Timed = { readonly atMs: number; readonly value: number };

/** Blocks of a span, of equal length. Enough that some are undisturbed, and each with enough in it. */
const BLOCKS = 6;

/**
 * The figure of the best of the blocks. Other programs of the machine only ever make an answer later, and for a while; what
 * the service itself takes, it takes in every block. So noise leaves this alone, and growth does not.
 */
export const bestBlock = (
  all: readonly Timed[],
  [fromMs, toMs]: readonly [number, number],
  figure: (values: readonly number[]) => number,
): number => {
  const blockMs = (toMs - fromMs) / BLOCKS;
  const figures = Array.from({ length: BLOCKS }, (_, block) => {
    const startMs = fromMs + block * blockMs;
    return all.filter(({ atMs }) => atMs >= startMs && atMs < startMs + blockMs);
  })
    .filter((within) => within.length > 0)
    .map((within) => figure(within.map(({ value }) => value)));
  return figures.length === 0 ? Number.NaN : Math.min(...figures);
};

export type Growth = {
  readonly before: number;
  readonly after: number;
  /** Less than this is nothing, whatever it is a share of. */
  readonly least: number;
  /** By how much the machine itself became slower. A machine that became faster changes no figure. */
  readonly slower?: number;
};

/** What the later part of the calm may be of the earlier. */
export const GROWTH_MAX = 1.3;

export const growth = ({ before, after, least, slower = 1 }: Growth) => {
  const expected = before * Math.max(1, slower);
  const ratio = after / expected;
  // A figure that is missing is not proof that all is well.
  const isFlat = ratio <= GROWTH_MAX || after - expected <= least;
  return { ratio, grows: !isFlat };
};

/**
 * Whether two parts were measured by the same machine, more or less. What of an answer is the machine's doing can be taken
 * out where it changed by a third or so. Where it became many times faster, growth could hide behind it.
 */
export const isComparable = (slower: number): boolean =>
  slower <= MACHINE_CHANGE_MAX && slower >= 1 / MACHINE_CHANGE_MAX;

const MACHINE_CHANGE_MAX = 1.5;

import { measureEditDistance, RARITY_PER_EDIT } from "./edit-distance.ts";
import { getRepeatedHalf, isSecondLevel, removeDigitsBehind, WHOLE_PART } from "./typo-readings.ts";

// A missing top-level domain has no domains, so the writer meant another ending.

/** The endings of most mail domains, the most common first, as domains are registered (DNIB's quarterly briefs). */
const COMMON_ENDINGS: readonly string[] = `
  com de net co.uk org nl fr ru com.br it com.au eu edu ca pl ch es jp co.jp in co.in us be se at cz dk info no fi gov
  com.mx co.za co.nz com.ar com.tr pt gr ie hu ro kr co.kr cn com.cn tw com.tw uk org.uk ac.uk io biz mx ar cl ua il
  co.il id co.id my com.my sg com.sg ph com.ph th co.th vn com.vn hk com.hk lt lv ee sk si hr rs bg me tv cc ai app dev`
  .trim()
  .split(/\s+/);

/** Two slips could change any ending into any other. */
const COST_MAX = 1;
const LETTERS = 26;

export type CorrectedDomain = { readonly domain: string; readonly weight: number };

/** Tells whether a label is one slip from a common ending, so that the writer meant that ending unless the root has this one. */
export const isNearCommonEnding = (label: string): boolean =>
  COMMON_ENDINGS.some((meant) => measureEditDistance(label, meant) <= COST_MAX);

/**
 * Returns the likely domains when the ending does not exist, and the weight of the text being no domain at all. No domains when the ending
 * is itself common, or near no common one.
 */
export const correctEnding = (
  typed: string,
): { readonly corrected: readonly CorrectedDomain[]; readonly unlikeAny: number } => {
  const weights = new Map<string, number>();
  if (COMMON_ENDINGS.includes(getLast(typed))) return { corrected: [], unlikeAny: 0 };
  for (const { name, ending, cost } of listSplits(typed))
    for (const [rank, meant] of COMMON_ENDINGS.entries()) {
      if (meant.includes(".") !== ending.includes(".")) continue;
      const slips = measureEditDistance(ending, meant);
      if (slips > COST_MAX) continue;
      const domain = `${name}.${meant}`;
      const weight = RARITY_PER_EDIT ** -(cost + slips) / (rank + 1);
      weights.set(domain, Math.max(weight, weights.get(domain) ?? 0));
    }
  return {
    corrected: [...weights].map(([domain, weight]) => ({ domain, weight })),
    unlikeAny: LETTERS ** -getLast(removePunctuation(typed)).length,
  };
};

type Split = { readonly name: string; readonly ending: string; readonly cost: number };

const listSplits = (typed: string): readonly Split[] => {
  const plain = removePunctuation(typed);
  const readings = [
    { text: plain, cost: plain === typed ? 0 : WHOLE_PART },
    { text: removeDigitsBehind(plain), cost: WHOLE_PART },
    { text: unrepeatEnding(plain), cost: WHOLE_PART },
  ];
  return readings
    .filter(({ text }, index) => readings.findIndex((other) => other.text === text) === index)
    .flatMap(({ text, cost }) => {
      const at = getEndingAt(text);
      const name = text.slice(0, at);
      return HOST_NAME.test(name) ? [{ name, ending: text.slice(at + 1), cost }] : [];
    });
};

const removePunctuation = (typed: string): string => typed.replace(/(?<![.,;:>)])[.,;:>)]+$/, "");

const getLast = (text: string): string => text.slice(text.lastIndexOf(".") + 1);

const unrepeatEnding = (text: string): string => {
  const ending = getLast(text);
  return text.slice(0, text.length - ending.length) + (getRepeatedHalf(ending) ?? ending);
};

const HOST_NAME = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/** Returns where the ending starts, with its dot: one label, or two as in "co.uk". The length when there is no ending. */
export const getEndingAt = (domain: string): number => {
  const last = domain.lastIndexOf(".");
  if (last < 0) return domain.length;
  const before = domain.lastIndexOf(".", last - 1);
  return before > 0 && isSecondLevel(domain.slice(before + 1, last)) ? before : last;
};

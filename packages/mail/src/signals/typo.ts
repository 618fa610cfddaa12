import { measureEditDistance, RARITY_PER_EDIT } from "./edit-distance.ts";
import {
  getRepeatedHalf,
  isSecondLevel,
  listReadings,
  type Reading,
  removeDigitsBehind,
  toLetterBits,
  WHOLE_PART,
} from "./typo-readings.ts";

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

type CorrectedDomain = { readonly domain: string; readonly weight: number };

/** Tells whether a label is one slip from a common ending, so that the writer meant that ending unless the root has this one. */
export const isNearCommonEnding = (label: string): boolean =>
  COMMON_ENDINGS.some((meant) => measureEditDistance(label, meant) <= COST_MAX);

/**
 * Returns the likely domains when the ending does not exist, and the weight of the text being no domain at all. No domains when the ending
 * is itself common, or near no common one.
 */
const correctEnding = (
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
const getEndingAt = (domain: string): number => {
  const last = domain.lastIndexOf(".");
  if (last < 0) return domain.length;
  const before = domain.lastIndexOf(".", last - 1);
  return before > 0 && isSecondLevel(domain.slice(before + 1, last)) ? before : last;
};

export type TypoAdvice = { readonly suggestion: string | null; readonly confidence: number | null };

export type TypoSignals = {
  readonly mailWorks: boolean | "undecided";
  /**
   * The provider that a typosquat imitates: people type the squat by mistake, its mail works, and the squatter reads it. Null when no list
   * has the domain.
   */
  readonly squatOf: string | null;
  /** The last label looks like a slip of a common ending, but exists: `.cm`, `.co`, `.cam`. */
  readonly hasRareEnding: boolean;
};

const NOTHING: TypoAdvice = { suggestion: null, confidence: null };

/**
 * A wrong ending after the right name ("gmail.de") is an error of memory, almost as rare as two slips. People remember endings that exist;
 * an ending that cannot exist is only explained by slips.
 */
const WRONG_ENDING = 1.75;
/**
 * Slips come together, so a slip in the name and another in the ending are rarer than two in the same part. People also look at the first
 * key of a word, so a wrong first key is rarer. Each is about ten times rarer.
 */
const RARE_SLIP = 0.75;
/**
 * A dead domain may belong to a firm that closed. The chance that such a name exists by coincidence falls by five with each letter: 2.3
 * bits a letter, between running text (about 1.5) and random letters (4.7).
 */
const CHANCE_PER_LETTER = 5;
/** An ending other than .com has about a tenth of the names of .com, if it exists at all. */
const CHANCE_ELSEWHERE = 0.1;
/** A suggestion with less confidence would more often be wrong than right. */
const CONFIDENCE_MIN = 0.5;
const CONFIDENCE_MAX = 0.99;
/** RFC 1035 §2.3.4, without the root's dot. */
const DOMAIN_LENGTH_MAX = 253;

/**
 * Suggests the intended address for a domain without working mail, or for a known squat; an undecided domain gets no suggestion.
 * `providers` are mail domains in lower case, the most popular first. docs/scores.md explains the confidence.
 */
export const suggestTypo = (
  address: { readonly local: string; readonly domain: string },
  signals: TypoSignals,
  providers: readonly string[],
): TypoAdvice => {
  const { mailWorks, squatOf, hasRareEnding } = signals;
  const typed = address.domain.toLowerCase();
  const index = getIndex(providers);
  if (typed.length > DOMAIN_LENGTH_MAX || index.domains.has(typed)) return NOTHING;
  // The list names the imitated domain, because a squat exists to look like it.
  if (squatOf !== null) return toAdvice(address.local, squatOf, CONFIDENCE_MAX);
  if (mailWorks !== false) return NOTHING;

  const { corrected, unlikeAny } = correctEnding(typed);
  const cannotExist = !hasRareEnding && corrected.length > 0;
  const weights = weighProviders(typed, index, cannotExist);
  const chance = CHANCE_PER_LETTER ** -getEndingAt(typed);
  if (cannotExist) addFirms(weights, corrected, chance);
  const other = chance * (cannotExist ? unlikeAny : typed.endsWith(".com") ? 1 : CHANCE_ELSEWHERE);
  const [best, weight] = findHeaviest(weights);
  const all = [...weights.values()].reduce((sum, one) => sum + one, other);
  const confidence = Math.min(CONFIDENCE_MAX, roundToHundredths(weight / all));
  return confidence < CONFIDENCE_MIN ? NOTHING : toAdvice(address.local, best, confidence);
};

const toAdvice = (local: string, domain: string, confidence: number): TypoAdvice => ({
  suggestion: `${local}@${domain}`,
  confidence,
});

const roundToHundredths = (value: number): number => Math.round(value * 100) / 100;

/** Adds a firm's possible domains below each likely ending; returns the weight of no domain at all. */
const addFirms = (
  weights: Map<string, number>,
  firms: readonly CorrectedDomain[],
  chance: number,
): void => {
  for (const { domain, weight } of firms)
    weights.set(domain, (weights.get(domain) ?? 0) + chance * weight);
};

const findHeaviest = (weights: ReadonlyMap<string, number>): readonly [string, number] =>
  [...weights].reduce((best, one) => (one[1] > best[1] ? one : best), ["", 0] as const);

const weighProviders = (
  typed: string,
  index: ProviderIndex,
  cannotExist: boolean,
): Map<string, number> => {
  const readings = listReadings(typed);
  const weights = new Map<string, number>();
  for (const provider of index.providers) {
    const cost = measureCost(provider, readings, cannotExist);
    if (cost < Infinity)
      weights.set(provider.domain, provider.popularity * RARITY_PER_EDIT ** -cost);
  }
  return weights;
};

const measureCost = (
  provider: ProviderEntry,
  readings: readonly Reading[],
  cannotExist: boolean,
): number => {
  let least = Infinity;
  for (const reading of readings) {
    if (provider.name === reading.name && !cannotExist)
      least = Math.min(least, reading.cost + WRONG_ENDING);
    if (areMoreThanTwo(reading.letters & ~provider.letters)) continue;
    if (areMoreThanTwo(provider.letters & ~reading.letters)) continue;
    const slips = measureEditDistance(reading.text, provider.domain);
    least = Math.min(least, reading.cost + slips + measureSurcharge(provider, reading, slips));
  }
  return least;
};

const measureSurcharge = (provider: ProviderEntry, reading: Reading, slips: number): number => {
  const areApart =
    slips > 1 &&
    reading.name !== null &&
    reading.name !== provider.name &&
    reading.ending !== provider.ending;
  return areApart || isFirstReplaced(reading.text, provider.domain) ? RARE_SLIP : 0;
};

/** Another key replaced the first letter. A first letter that was left out or swapped is an ordinary slip. */
const isFirstReplaced = (typed: string, meant: string): boolean =>
  typed[0] !== meant[0] && typed[0] !== meant[1] && typed[1] !== meant[0];

const areMoreThanTwo = (bits: number): boolean => {
  const withoutOne = bits & (bits - 1);
  return (withoutOne & (withoutOne - 1)) !== 0;
};

type ProviderEntry = {
  readonly domain: string;
  readonly name: string;
  readonly ending: string;
  readonly letters: number;
  /** The popularity is one over the place in the list (Zipf): the tenth provider has about a tenth of the first provider's users. */
  readonly popularity: number;
};

type ProviderIndex = {
  readonly domains: ReadonlySet<string>;
  readonly providers: readonly ProviderEntry[];
};

/** The cache keeps an index as long as its list, because thousands of searches use the same list. */
const indexes = new WeakMap<readonly string[], ProviderIndex>();

const getIndex = (providers: readonly string[]): ProviderIndex => {
  const cached = indexes.get(providers);
  if (cached) return cached;
  const domains = new Set(providers);
  const index = {
    domains,
    providers: [...domains].map((domain, rank) => ({
      domain,
      name: domain.slice(0, domain.indexOf(".")),
      ending: domain.slice(domain.indexOf(".") + 1),
      letters: toLetterBits(domain),
      popularity: 1 / (rank + 1),
    })),
  };
  indexes.set(providers, index);
  return index;
};

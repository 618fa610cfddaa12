import { measureEditDistance } from "./edit-distance.ts";

/** The whole address that was probably meant, and its probability, 0 to 1; both null without a suggestion. */
export type TypoAdvice = { readonly suggestion: string | null; readonly confidence: number | null };

export type TypoSignals = {
  readonly mailWorks: boolean | "undecided";
  /** On a list of domains that live from other people's typos: their mail works, and the squatter reads it. */
  readonly isSquat: boolean;
};

const NOTHING: TypoAdvice = { suggestion: null, confidence: null };

/** Each slip is thirty times rarer than none: about the rate of copy typists per word of this length. */
const RARITY_PER_EDIT = 30;
/** A wrong ending after the right name ("gmail.de") is an error of memory: almost as rare as two slips. */
const WRONG_ENDING = 1.75;
/** A repeated part, or "www." in front, is one slip, however many letters it has. */
const WHOLE_PART = 1;
/**
 * A dead domain may be a firm that closed. The chance that its name is here by coincidence falls by five with each
 * letter: 2.3 bits a letter, between running text (about 1.5) and random letters (4.7).
 */
const CHANCE_PER_LETTER = 5;
/** An ending other than .com has about a tenth of the names of .com, if it exists at all. */
const CHANCE_ELSEWHERE = 0.1;
/** Below this a suggestion would more often be wrong than right. */
const CONFIDENCE_MIN = 0.5;
/** Only the writer can be sure. */
const CONFIDENCE_MAX = 0.99;
/** RFC 1035 §2.3.4, without the root's dot. */
const DOMAIN_LENGTH_MAX = 253;

/**
 * `providers` are mail domains in lower case, the most popular first. A suggestion is made only where it helps: for a
 * domain without working mail, or a known squat. An undecided domain gets none. docs/scores.md explains the confidence.
 */
export const suggestTypo = (
  address: { readonly local: string; readonly domain: string },
  signals: TypoSignals,
  providers: readonly string[],
): TypoAdvice => {
  if (signals.mailWorks !== false && !signals.isSquat) return NOTHING;
  const typed = address.domain.toLowerCase();
  const index = getIndex(providers);
  if (typed.length > DOMAIN_LENGTH_MAX || index.domains.has(typed)) return NOTHING;

  const { best, bestWeight, allWeights } = weigh(typed, index);
  if (best === null) return NOTHING;
  // A squat exists because it looks like another domain, so it is no firm that closed.
  const other = signals.isSquat ? 0 : estimateChance(typed);
  const confidence = Math.min(CONFIDENCE_MAX, roundToHundredths(bestWeight / (allWeights + other)));
  if (confidence < CONFIDENCE_MIN) return NOTHING;
  return { suggestion: `${address.local}@${best}`, confidence };
};

const estimateChance = (typed: string): number =>
  CHANCE_PER_LETTER ** -getFirstLabel(typed).length *
  (typed.endsWith(".com") ? 1 : CHANCE_ELSEWHERE);

const roundToHundredths = (value: number): number => Math.round(value * 100) / 100;

const weigh = (typed: string, index: ProviderIndex) => {
  let best: string | null = null;
  let bestWeight = 0;
  let allWeights = 0;
  const readings = listReadings(typed);
  for (const provider of index.providers) {
    const slips = measureDistance(provider, readings);
    if (slips === Infinity) continue;
    const weight = provider.popularity * RARITY_PER_EDIT ** -slips;
    allWeights += weight;
    if (weight <= bestWeight) continue;
    bestWeight = weight;
    best = provider.domain;
  }
  return { best, bestWeight, allWeights };
};

const measureDistance = (provider: ProviderEntry, readings: readonly Reading[]): number => {
  let fewest = Infinity;
  for (const { text, name, letters, cost: slips } of readings) {
    if (provider.name === name) fewest = Math.min(fewest, slips + WRONG_ENDING);
    // Two slips add at most two letters and remove at most two: this check avoids most of the alignments.
    if (areMoreThanTwo(letters & ~provider.letters)) continue;
    if (areMoreThanTwo(provider.letters & ~letters)) continue;
    fewest = Math.min(fewest, slips + measureEditDistance(text, provider.domain));
  }
  return fewest;
};

/** One way to read the typed domain. `name` is the part before its ending, or null when it has no known ending. */
type Reading = {
  readonly text: string;
  readonly name: string | null;
  readonly letters: number;
  readonly cost: number;
};

/** The domain as typed; and without a repeated part or "www.". */
const listReadings = (typed: string): readonly Reading[] => {
  const [name = "", ...endings] = typed.split(".");
  const once = [
    getRepeatedHalf(typed),
    [getRepeatedHalf(name) ?? name, ...endings].join("."),
    typed.replace(/^www\./, ""),
  ];
  const others = new Set(once.filter((text) => text !== null && text !== typed));
  return [
    createReading(typed, 0),
    ...[...others].map((text) => createReading(text ?? "", WHOLE_PART)),
  ];
};

const createReading = (text: string, slips: number): Reading => ({
  text,
  name: hasEnding(text) ? getFirstLabel(text) : null,
  letters: toLetterBits(text),
  cost: slips,
});

/** "gmailgmail" and "gmail.com.gmail.com" repeat one part. */
const getRepeatedHalf = (text: string): string | null => {
  const middle = text.length >> 1;
  const second = text.slice(text.length % 2 === 0 || text[middle] !== "." ? middle : middle + 1);
  const first = text.slice(0, middle);
  return first !== "" && first === second ? first : null;
};

const getFirstLabel = (domain: string): string => domain.split(".", 1)[0] ?? "";

const SECOND_LEVEL: ReadonlySet<string> = new Set(["com", "co", "net", "org"]);

/** One label, or two as in "com.br", or the name again; before a longer tail the first label is only a host name. */
const hasEnding = (domain: string): boolean => {
  const [name = "", ...ending] = domain.split(".");
  if (ending.length === 1) return true;
  const [middle = ""] = ending;
  return ending.length === 2 && (SECOND_LEVEL.has(middle) || middle === name);
};

/** Which letters occur, one bit each; signs and digits share the six bits that are left. */
const toLetterBits = (text: string): number => {
  let letters = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text.charCodeAt(at) - 97;
    letters |= 1 << (letter >= 0 && letter < 26 ? letter : 26 + (text.charCodeAt(at) % 6));
  }
  return letters;
};

/** Takes off the lowest bit twice, and sees whether any is left. */
const areMoreThanTwo = (bits: number): boolean => {
  const withoutOne = bits & (bits - 1);
  return (withoutOne & (withoutOne - 1)) !== 0;
};

type ProviderEntry = {
  readonly domain: string;
  readonly name: string;
  readonly letters: number;
  /** One over the place in the list (Zipf): the tenth provider has about a tenth of the first one's users. */
  readonly popularity: number;
};

type ProviderIndex = {
  readonly domains: ReadonlySet<string>;
  readonly providers: readonly ProviderEntry[];
};

/** The same list is searched thousands of times, so its index is kept as long as the list. */
const indexes = new WeakMap<readonly string[], ProviderIndex>();

const getIndex = (providers: readonly string[]): ProviderIndex => {
  const cached = indexes.get(providers);
  if (cached) return cached;
  const domains = new Set(providers);
  const index = {
    domains,
    providers: [...domains].map((domain, rank) => ({
      domain,
      name: getFirstLabel(domain),
      letters: toLetterBits(domain),
      popularity: 1 / (rank + 1),
    })),
  };
  indexes.set(providers, index);
  return index;
};

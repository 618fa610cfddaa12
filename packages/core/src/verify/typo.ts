import { slipsBetween } from "./slips.ts";

/** The whole address that was probably meant, and how probably, 0 to 1; both null when nothing helps. */
export type TypoAdvice = { readonly suggestion: string | null; readonly confidence: number | null };

export type TypoFacts = {
  readonly mailWorks: boolean | "undecided";
  /** On a list of domains that live from other people's typos: their mail works, and is read by strangers. */
  readonly knownSquat: boolean;
};

const NOTHING: TypoAdvice = { suggestion: null, confidence: null };

/** Each slip is thirty times rarer than none: about what copy typists do per word of this length. */
const RARITY_PER_SLIP = 30;
/** A wrong ending behind the right name ("gmail.de") is knowledge at fault: almost as rare as two slips. */
const WRONG_ENDING = 1.75;
/** A part said twice or "www." in front is one slip, however many letters it has. */
const WHOLE_PART = 1;
/**
 * A dead domain may be a firm that closed. The chance that its name only happens to stand here falls by five
 * with each letter: 2.3 bits a letter, between running text (about 1.5) and letters drawn blindly (4.7).
 */
const CHANCE_PER_LETTER = 5;
/** An ending other than .com holds about a tenth of the names that .com holds, if it exists at all. */
const CHANCE_ELSEWHERE = 0.1;
/** Below this the reader would more often be sent wrong than right. */
const CONFIDENCE_MIN = 0.5;
/** Nobody but the writer can be sure. */
const CONFIDENCE_MAX = 0.99;
/** RFC 1035 §2.3.4, without the root's dot. */
const DOMAIN_LENGTH_MAX = 253;

/**
 * `providers` are mail domains in lower case, the most popular first. Advice is given only where it helps: for
 * a domain without working mail, or a known squat. What is undecided is left alone.
 * docs/scores.md says how the confidence is made.
 */
export const suggestTypo = (
  address: { readonly local: string; readonly domain: string },
  facts: TypoFacts,
  providers: readonly string[],
): TypoAdvice => {
  if (facts.mailWorks !== false && !facts.knownSquat) return NOTHING;
  const typed = address.domain.toLowerCase();
  const shelf = shelfOf(providers);
  if (typed.length > DOMAIN_LENGTH_MAX || shelf.domains.has(typed)) return NOTHING;

  const { best, bestWeight, allWeights } = weigh(typed, shelf);
  if (best === null) return NOTHING;
  // A squat is there because it looks like something else, so it is no firm that closed.
  const other = facts.knownSquat ? 0 : chanceOf(typed);
  const confidence = Math.min(CONFIDENCE_MAX, hundredths(bestWeight / (allWeights + other)));
  if (confidence < CONFIDENCE_MIN) return NOTHING;
  return { suggestion: `${address.local}@${best}`, confidence };
};

const chanceOf = (typed: string): number =>
  CHANCE_PER_LETTER ** -nameOf(typed).length * (typed.endsWith(".com") ? 1 : CHANCE_ELSEWHERE);

const hundredths = (value: number): number => Math.round(value * 100) / 100;

const weigh = (typed: string, shelf: Shelf) => {
  let best: string | null = null;
  let bestWeight = 0;
  let allWeights = 0;
  const readings = readingsOf(typed);
  for (const provider of shelf.providers) {
    const slips = slipsTo(provider, readings);
    if (slips === Infinity) continue;
    const weight = provider.popularity * RARITY_PER_SLIP ** -slips;
    allWeights += weight;
    if (weight <= bestWeight) continue;
    bestWeight = weight;
    best = provider.domain;
  }
  return { best, bestWeight, allWeights };
};

const slipsTo = (provider: Provider, readings: readonly Reading[]): number => {
  let fewest = Infinity;
  for (const { text, name, letters, slips } of readings) {
    if (provider.name === name) fewest = Math.min(fewest, slips + WRONG_ENDING);
    // Two slips bring in at most two letters and lose at most two: this spares most of the alignments.
    if (areMoreThanTwo(letters & ~provider.letters)) continue;
    if (areMoreThanTwo(provider.letters & ~letters)) continue;
    fewest = Math.min(fewest, slips + slipsBetween(text, provider.domain));
  }
  return fewest;
};

/** One way to read what was typed. `name` is what stands before its ending, or null when no ending is seen. */
type Reading = {
  readonly text: string;
  readonly name: string | null;
  readonly letters: number;
  readonly slips: number;
};

/** As typed; and, where a part was said twice or a web address given, without that. */
const readingsOf = (typed: string): readonly Reading[] => {
  const [name = "", ...rest] = typed.split(".");
  const once = [
    halfOf(typed),
    [halfOf(name) ?? name, ...rest].join("."),
    typed.replace(/^www\./, ""),
  ];
  const others = new Set(once.filter((text) => text !== null && text !== typed));
  return [readingOf(typed, 0), ...[...others].map((text) => readingOf(text ?? "", WHOLE_PART))];
};

const readingOf = (text: string, slips: number): Reading => ({
  text,
  name: hasEnding(text) ? nameOf(text) : null,
  letters: lettersOf(text),
  slips,
});

/** "gmailgmail" and "gmail.com.gmail.com" are one thing said twice. */
const halfOf = (text: string): string | null => {
  const middle = text.length >> 1;
  const second = text.slice(text.length % 2 === 0 || text[middle] !== "." ? middle : middle + 1);
  const first = text.slice(0, middle);
  return first !== "" && first === second ? first : null;
};

const nameOf = (domain: string): string => domain.split(".", 1)[0] ?? "";

const SECOND_LEVEL: ReadonlySet<string> = new Set(["com", "co", "net", "org"]);

/** One label, or two as in "com.br", or the name again; a longer tail makes the first label a mere host name. */
const hasEnding = (domain: string): boolean => {
  const [name = "", ...ending] = domain.split(".");
  if (ending.length === 1) return true;
  const [middle = ""] = ending;
  return ending.length === 2 && (SECOND_LEVEL.has(middle) || middle === name);
};

/** Which letters occur, one bit each; signs and digits share the six bits that are left. */
const lettersOf = (text: string): number => {
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

type Provider = {
  readonly domain: string;
  readonly name: string;
  readonly letters: number;
  /** One over the place in the list (Zipf): the tenth provider has about a tenth of the first one's users. */
  readonly popularity: number;
};

type Shelf = { readonly domains: ReadonlySet<string>; readonly providers: readonly Provider[] };

/** The same list is asked about thousands of times, so what follows from it is kept as long as the list is. */
const shelves = new WeakMap<readonly string[], Shelf>();

const shelfOf = (providers: readonly string[]): Shelf => {
  const known = shelves.get(providers);
  if (known) return known;
  const domains = new Set(providers);
  const shelf = {
    domains,
    providers: [...domains].map((domain, place) => ({
      domain,
      name: nameOf(domain),
      letters: lettersOf(domain),
      popularity: 1 / (place + 1),
    })),
  };
  shelves.set(providers, shelf);
  return shelf;
};

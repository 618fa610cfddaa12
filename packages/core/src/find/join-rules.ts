import { PARTICLES } from "@mailproof/mail/signals/person-name";

/** One word of a name in a to z. Its parts are joined by a hyphen in the name, or are its syllables. */
export type Word = readonly string[];

export type JoinRule = readonly [join: (words: readonly Word[]) => string, weight: number];

export const joinWords = (words: readonly Word[]): string => words.flat().join("");
const joinBy = (separator: string) => (words: readonly Word[]) => words.flat().join(separator);
const getFirstWord = (words: readonly Word[]): string => words.flat()[0] ?? "";
const getLastWord = (words: readonly Word[]): string => words.flat().at(-1) ?? "";
const joinWithoutParticles = (words: readonly Word[]): string =>
  joinWords(words.map((word) => word.slice(countParticles(word))).slice(countParticleWords(words)));

/* The ways to join the parts of a name into one local part. The weights are judgements (docs/scores.md). */

/** The ways to write names such as Jean-Luc. */
const HYPHENATED_GIVEN: readonly JoinRule[] = [
  [joinBy("-"), 0.5],
  [joinWords, 0.28],
  [getFirstWord, 0.22],
];

/** The ways to write names such as Anna Maria. */
const SEVERAL_GIVEN: readonly JoinRule[] = [
  [getFirstWord, 0.68],
  [joinWords, 0.16],
  [joinBy("-"), 0.08],
  [joinBy("."), 0.08],
];

/** The ways to write names such as Min-jun, whose owner writes the name as one word. */
const SYLLABLES: readonly JoinRule[] = [
  [joinWords, 0.82],
  [joinBy("-"), 0.12],
  [joinBy("."), 0.06],
];

/** The ways to write names such as Smith-Jones. */
const HYPHENATED_FAMILY: readonly JoinRule[] = [
  [joinBy("-"), 0.48],
  [joinWords, 0.26],
  [getFirstWord, 0.11],
  [getLastWord, 0.09],
  [joinBy("."), 0.06],
];

/** The ways to write names such as García López. */
const SEVERAL_FAMILY: readonly JoinRule[] = [
  [getFirstWord, 0.42],
  [joinWords, 0.22],
  [getLastWord, 0.16],
  [joinBy("-"), 0.12],
  [joinBy("."), 0.08],
];

/** The ways to write names such as Van der Berg and Al-Hashimi. */
const WITH_PARTICLES: readonly JoinRule[] = [
  [joinWords, 0.54],
  [joinWithoutParticles, 0.18],
  [joinBy("."), 0.1],
  [joinBy("-"), 0.1],
  [joinBy("_"), 0.08],
];

/** Names such as Da Silva Santos: countries differ in which of the names a person uses. */
const WITH_PARTICLES_AND_SEVERAL: readonly JoinRule[] = [
  [getLastWord, 0.35],
  [(words) => joinWords(words.slice(0, countParticleWords(words) + 1)), 0.3],
  [(words) => words[countParticleWords(words)]?.at(-1) ?? "", 0.2],
  [joinWords, 0.15],
];

const ONE_WORD: readonly JoinRule[] = [[joinWords, 1]];

export const chooseGivenRules = (
  words: readonly Word[],
  hasSyllables: boolean,
): readonly JoinRule[] => {
  if (words.flat().length < 2) return ONE_WORD;
  if (hasSyllables) return SYLLABLES;
  return words.length === 1 ? HYPHENATED_GIVEN : SEVERAL_GIVEN;
};

export const chooseFamilyRules = (words: readonly Word[]): readonly JoinRule[] => {
  if (words.flat().length < 2) return ONE_WORD;
  if (countParticleWords(words) > 0 || countParticles(words[0] ?? []) > 0)
    return words.length - countParticleWords(words) > 1
      ? WITH_PARTICLES_AND_SEVERAL
      : WITH_PARTICLES;
  return words.length === 1 ? HYPHENATED_FAMILY : SEVERAL_FAMILY;
};

/** Words that start a family name. In an address, some of them are given names or separate words. */
const BEGINNINGS: ReadonlySet<string> = new Set([
  ...PARTICLES,
  ..."abu bar bat ben bint ibn ni nic san santa santo dalla dello lo vom zum zur af".split(" "),
]);

/** Counts the leading particles. The last word is the name itself, even if it looks like a particle. */
const countParticleWords = (words: readonly Word[]): number => {
  const count = words.findIndex((word) => word.length > 1 || !BEGINNINGS.has(word[0] ?? ""));
  return count === -1 ? words.length - 1 : count;
};

const countParticles = (word: Word): number =>
  word.length > 1 && BEGINNINGS.has(word[0] ?? "") ? 1 : 0;

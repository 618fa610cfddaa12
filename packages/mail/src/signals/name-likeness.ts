import { COMMON_WORDS, FAMILY_NAMES, GIVEN_NAMES } from "./name-words.ts";
import { NAMES_BY_COUNTRY } from "./names-by-country.ts";

/** RFC 5321 §4.5.3.1.1. Longer text is cut, so that the cost has a bound. */
const LOCAL_LENGTH_MAX = 64;
const BEYOND_ASCII = /[^\p{ASCII}]/u;

/** Returns the local part without its subaddress ("+news", RFC 5233), in lower case, without accents, at most 64 long. */
export const toBareLocal = (local: string): string => {
  const cut = local.slice(0, LOCAL_LENGTH_MAX);
  const folded = BEYOND_ASCII.test(cut) ? cut.normalize("NFD").replaceAll(/\p{M}/gu, "") : cut;
  const plus = folded.indexOf("+");
  return (plus > 0 ? folded.slice(0, plus) : folded).toLowerCase();
};

const LETTERS = 26;
/** The end of a word counts as a letter. */
const EDGE = LETTERS;
const SYMBOLS = LETTERS + 1;

/** The weight of a shorter context where the longer one is rare (Dirichlet smoothing). */
const TRUST = 12;
/** The bits of a letter or digit drawn at random from the 36. */
const BLIND_BITS = Math.log2(36);
/** People write a dot between two words; in random text it would be as rare as a letter. */
const SEPARATOR_BITS = 2;
const SEPARATORS_MAX = 2;
/** A year or a street number at the end is common; names have no digits elsewhere. */
const DIGITS_AT_END_BITS = 1;
const DIGITS_AT_END_MAX = 4;
const DIGITS_ELSEWHERE_BITS = 6;
/** The cost of reading the first letter as an initial; a shorter word leaves too little of a name after it. */
const INITIAL_BITS = 1;
const INITIAL_BEFORE = 4;
/** Characters such as # or = are rare in names. */
const OTHER_CHAR_BITS = 3;
/** This number of saved bits doubles the odds: letters depend on each other, so one bit each would be overconfident. */
const BITS_PER_DOUBLING = 4;

/**
 * Scores how much a local part resembles names and words, 0 to 1; 0.5 when nothing speaks for either side. The score counts how many bits a
 * model of names saves against a model of random letters.
 */
export const scoreNameLikeness = (local: string): number =>
  1 / (1 + 2 ** (-countBitsSaved(toBareLocal(local)) / BITS_PER_DOUBLING));

const PIECES = /[a-z]+|[0-9]+|[._-]|./gsu;

const countBitsSaved = (bare: string): number => {
  let saved = 0;
  let separators = 0;
  for (const { 0: piece, index } of bare.matchAll(PIECES)) {
    if (/^[a-z]/.test(piece)) saved += countWordBits(piece);
    else if (/^[0-9]/.test(piece))
      saved -= getDigitBits(piece, index + piece.length === bare.length);
    else if (/^[._-]/.test(piece))
      saved += BLIND_BITS - (++separators <= SEPARATORS_MAX ? SEPARATOR_BITS : 2 * BLIND_BITS);
    // The model knows no other alphabets, so their letters count for neither side.
    else if (!/^\p{L}/u.test(piece)) saved -= OTHER_CHAR_BITS;
  }
  return saved;
};

const getDigitBits = (digits: string, atEnd: boolean): number =>
  atEnd && digits.length <= DIGITS_AT_END_MAX ? DIGITS_AT_END_BITS : DIGITS_ELSEWHERE_BITS;

/** An initial may be any letter, so it proves nothing, alone or before a name ("jsmith"). */
const countWordBits = (word: string): number => {
  if (word.length === 1) return 0;
  const asInitial =
    word.length > INITIAL_BEFORE ? countSpellingBits(word.slice(1)) - INITIAL_BITS : -Infinity;
  return Math.max(countSpellingBits(word), asInitial);
};

const countSpellingBits = (word: string): number => {
  let saved = word.length * BLIND_BITS;
  visitTrigrams(word, (before, last, letter) => {
    const at = (before * SYMBOLS + last) * SYMBOLS + letter;
    saved += LETTER_BITS[at] ||= Math.log2(estimateShare(before, last, letter));
  });
  return saved;
};

/** Visits every letter of a word with the two before it; the word's edges count as letters. */
const visitTrigrams = (
  word: string,
  visit: (before: number, last: number, letter: number) => void,
): void => {
  let [before, last] = [EDGE, EDGE];
  for (let at = 0; at <= word.length; at++) {
    const letter = at < word.length ? word.charCodeAt(at) - 97 : EDGE;
    visit(before, last, letter);
    before = last;
    last = letter;
  }
};

type Counts = Readonly<Record<"one" | "two" | "three" | "afterOne" | "afterTwo", Int32Array>> & {
  all: number;
};

/** The counts are computed when the module loads: the word lists are the only source, and no generated copy can differ. */
const countLetters = (words: Iterable<string>): Counts => {
  const counts = {
    one: new Int32Array(SYMBOLS),
    two: new Int32Array(SYMBOLS ** 2),
    three: new Int32Array(SYMBOLS ** 3),
    afterOne: new Int32Array(SYMBOLS),
    afterTwo: new Int32Array(SYMBOLS ** 2),
    all: 0,
  };
  for (const word of words)
    visitTrigrams(word, (before, last, letter) => {
      const two = last * SYMBOLS + letter;
      addOne(counts.one, letter);
      addOne(counts.two, two);
      addOne(counts.three, before * SYMBOLS ** 2 + two);
      addOne(counts.afterOne, last);
      addOne(counts.afterTwo, before * SYMBOLS + last);
      counts.all += 1;
    });
  return counts;
};

const addOne = (counts: Int32Array, at: number): void => {
  counts[at] = (counts[at] ?? 0) + 1;
};

const LETTER_COUNTS = countLetters(
  new Set([...GIVEN_NAMES, ...FAMILY_NAMES, ...COMMON_WORDS, ...NAMES_BY_COUNTRY]),
);

/** The logarithm of each share, by its three letters. 0 until it is first needed, and negative from then on. */
const LETTER_BITS = new Float64Array(SYMBOLS ** 3);

/** Estimates how likely a letter follows two others; where that context is rare, the last letter alone counts more. */
const estimateShare = (before: number, last: number, letter: number): number => {
  const two = last * SYMBOLS + letter;
  const alone = smooth(LETTER_COUNTS.one[letter], LETTER_COUNTS.all, 1 / SYMBOLS);
  const afterOne = smooth(LETTER_COUNTS.two[two], LETTER_COUNTS.afterOne[last], alone);
  const context = before * SYMBOLS + last;
  return smooth(
    LETTER_COUNTS.three[before * SYMBOLS ** 2 + two],
    LETTER_COUNTS.afterTwo[context],
    afterOne,
  );
};

const smooth = (count = 0, seen = 0, shorter = 0): number =>
  (count + TRUST * shorter) / (seen + TRUST);

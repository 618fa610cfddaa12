import { COMMON_WORDS, FAMILY_NAMES, GIVEN_NAMES } from "./name-words.ts";

/** RFC 5321 §4.5.3.1.1. What is longer is cut, so that no input costs more than a long one. */
const LOCAL_LENGTH_MAX = 64;

/** What is left when a subaddress ("+news", RFC 5233) is taken off, lower-cased, accents off, at most 64 long. */
export const bareLocal = (local: string): string => {
  const folded = local.slice(0, LOCAL_LENGTH_MAX).normalize("NFD").replaceAll(/\p{M}/gu, "");
  const plus = folded.indexOf("+");
  return (plus > 0 ? folded.slice(0, plus) : folded).toLowerCase();
};

const LETTERS = 26;
/** The end of a word is a letter of its own. */
const EDGE = LETTERS;
const SYMBOLS = LETTERS + 1;

/** How many times a shorter context is believed for what the longer one has not seen (Dirichlet smoothing). */
const TRUST = 4;
/** A letter or digit drawn blindly from the 36. */
const BLIND_BITS = Math.log2(36);
/** A dot between two words is what people write; drawn blindly it would be as rare as a letter. */
const SEPARATOR_BITS = 2;
const SEPARATORS_MAX = 2;
/** A year or a number of the house at the end surprises little; other digits stand where no name has them. */
const DIGITS_AT_END_BITS = 1;
const DIGITS_AT_END_MAX = 4;
const DIGITS_ELSEWHERE_BITS = 6;
/** Signs such as # or = are rare in names. */
const SIGN_BITS = 3;
/** So many bits saved double the odds: letters are not independent, and one bit each would be too sure. */
const BITS_PER_DOUBLING = 4;

/**
 * How much a local part reads like names and words, 0 to 1; 0.5 where nothing speaks either way. Measured in
 * bits: how much shorter it can be told by someone who knows names than by someone who draws letters blindly.
 */
export const nameLikeness = (local: string): number =>
  1 / (1 + 2 ** (-bitsSaved(bareLocal(local)) / BITS_PER_DOUBLING));

const PIECES = /[a-z]+|[0-9]+|[._-]|./gsu;

const bitsSaved = (bare: string): number => {
  let saved = 0;
  let separators = 0;
  for (const { 0: piece, index } of bare.matchAll(PIECES)) {
    if (/^[a-z]/.test(piece)) saved += savedByWord(piece);
    else if (/^[0-9]/.test(piece)) saved -= digitBits(piece, index + piece.length === bare.length);
    else if (/^[._-]/.test(piece))
      saved += BLIND_BITS - (++separators <= SEPARATORS_MAX ? SEPARATOR_BITS : 2 * BLIND_BITS);
    // Of other alphabets the model knows nothing, so they speak for neither side.
    else if (!/^\p{L}/u.test(piece)) saved -= SIGN_BITS;
  }
  return saved;
};

const digitBits = (digits: string, atEnd: boolean): number =>
  atEnd && digits.length <= DIGITS_AT_END_MAX ? DIGITS_AT_END_BITS : DIGITS_ELSEWHERE_BITS;

const savedByWord = (word: string): number => {
  // An initial may be any letter, so it tells nothing.
  if (word.length === 1) return 0;
  let saved = 0;
  let context = EDGE * SYMBOLS + EDGE;
  for (let at = 0; at < word.length; at++) {
    const letter = word.charCodeAt(at) - 97;
    saved += BLIND_BITS - bitsAfter(context, letter);
    context = (context % SYMBOLS) * SYMBOLS + letter;
  }
  return saved - bitsAfter(context, EDGE);
};

const bitsAfter = (context: number, letter: number): number =>
  MODEL[context * SYMBOLS + letter] ?? BLIND_BITS;

/**
 * For each two letters, how many bits the third costs. Trained when the file is loaded, which takes about a
 * millisecond: so the words are the only table, and no generated one can differ from them.
 */
const train = (words: Iterable<string>): Float64Array => {
  const threes = new Float64Array(SYMBOLS ** 3);
  const twos = new Float64Array(SYMBOLS ** 2);
  const ones = new Float64Array(SYMBOLS);
  for (const word of words) {
    let context = EDGE * SYMBOLS + EDGE;
    for (const letter of [...Array.from(word, (sign) => sign.charCodeAt(0) - 97), EDGE]) {
      add(threes, context * SYMBOLS + letter);
      add(twos, (context % SYMBOLS) * SYMBOLS + letter);
      add(ones, letter);
      context = (context % SYMBOLS) * SYMBOLS + letter;
    }
  }
  const blind = new Float64Array(SYMBOLS).fill(1 / SYMBOLS);
  const afterNone = smoothed(ones, blind);
  const afterOne = smoothed(twos, afterNone);
  return smoothed(threes, afterOne).map((share) => -Math.log2(share));
};

const add = (counts: Float64Array, at: number): void => {
  counts[at] = (counts[at] ?? 0) + 1;
};

/** Shares per context, leaning on those of the context that is one letter shorter. */
const smoothed = (counts: Float64Array, shorter: Float64Array): Float64Array =>
  counts.map((count, at) => {
    const start = at - (at % SYMBOLS);
    let seen = 0;
    for (let letter = 0; letter < SYMBOLS; letter++) seen += counts[start + letter] ?? 0;
    return (count + TRUST * (shorter[at % shorter.length] ?? 0)) / (seen + TRUST);
  });

const MODEL = train(new Set([...GIVEN_NAMES, ...FAMILY_NAMES, ...COMMON_WORDS]));

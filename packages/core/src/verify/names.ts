import { isBot } from "./bot.ts";
import { bareLocal, nameLikeness } from "./likeness.ts";
import { COMMON_WORDS, FAMILY_NAMES, GIVEN_NAMES } from "./name-words.ts";

/** `gender` is always "unknown": there is no table behind it whose licence and whose guesses we would stand by. */
export type Names = {
  readonly first_name: string | null;
  readonly last_name: string | null;
  /** Empty when nothing is known. */
  readonly full_name: string;
  readonly gender: string;
};

const given: ReadonlySet<string> = new Set(GIVEN_NAMES);
const family: ReadonlySet<string> = new Set(FAMILY_NAMES);
const words: ReadonlySet<string> = new Set(COMMON_WORDS);
/** Words that belong to the family name behind them. */
export const PARTICLES: ReadonlySet<string> = new Set(
  "al bin da das de del della den der di dos du el la le ten ter van von zu".split(" "),
);
/** "maria.de.la.cruz" has four parts; more are a sentence. */
const PARTS_MAX = 4;
const LOCAL_LENGTH_MAX = 64;
/** "xk.qz" has the form of two names and the letters of none. */
const LIKENESS_MIN = 0.15;

/** The person's name as far as the local part tells it. What it does not tell is null, not guessed. */
export const namesOf = (local: string, isRole: boolean): Names => {
  if (isRole || local.length > LOCAL_LENGTH_MAX) return named(null, null);
  if (isBot(local) || nameLikeness(local) < LIKENESS_MIN) return named(null, null);
  const parts = partsOf(local);
  if (parts.length === 0 || parts.length > PARTS_MAX || !parts.every(isNamePart))
    return named(null, null);

  const [one = "", two = ""] = parts;
  if (parts.length === 1) return named(given.has(fold(one)) ? one : null, null);
  if (parts.length === 2 && isInitial(one)) return named(null, family.has(fold(two)) ? two : null);
  if (parts.length === 2 && isInitial(two)) return named(given.has(fold(one)) ? one : null, null);
  return fromSeveral(parts);
};

/** With dots or underscores, a hyphen joins a double name (jean-luc.picard); alone, it parts two names. */
const partsOf = (local: string): readonly string[] => {
  const plus = local.indexOf("+");
  const untagged = plus > 0 ? local.slice(0, plus) : local;
  const plain = untagged.normalize("NFC").replaceAll(/\p{N}/gu, "");
  const parts = plain.split(/[._]+/).map(trimHyphens).filter(Boolean);
  return parts.length === 1 ? plain.split(/[._-]+/).filter(Boolean) : parts;
};

const trimHyphens = (part: string): string => part.split("-").filter(Boolean).join("-");

const isInitial = (part: string): boolean => /^\p{L}$/u.test(part);

/** Letters, in one alphabet's marks, with an apostrophe or a hyphen inside; and no word that is nobody's name. */
const isNamePart = (part: string): boolean =>
  /^\p{L}[\p{L}\p{M}]*(?:['-][\p{L}\p{M}]+)*$/u.test(part) && !isMereWord(fold(part));

const isMereWord = (part: string): boolean =>
  words.has(part) && !given.has(part) && !family.has(part) && !PARTICLES.has(part);

const fold = (part: string): string => bareLocal(part);

const fromSeveral = (parts: readonly string[]): Names => {
  const initials = parts.filter(isInitial).length;
  const [first = "", ...rest] = parts;
  // A middle initial is common; anything else with initials is a code.
  if (
    initials > 0 &&
    (initials > 1 || parts.length < 3 || isInitial(first) || isInitial(rest.at(-1) ?? ""))
  )
    return named(null, null);

  const [second = ""] = rest;
  if (parts.length === 2 && isOnlyFamily(first) && isOnlyGiven(second)) return named(second, first);
  const particle = rest.findIndex((part) => PARTICLES.has(fold(part)));
  const lastFrom = particle >= 0 && particle < rest.length - 1 ? particle : rest.length - 1;
  return named(first, rest.slice(lastFrom).join(" "), rest.slice(0, lastFrom));
};

const isOnlyFamily = (part: string): boolean => family.has(fold(part)) && !given.has(fold(part));
const isOnlyGiven = (part: string): boolean => given.has(fold(part)) && !family.has(fold(part));

const named = (
  first: string | null,
  last: string | null,
  middle: readonly string[] = [],
): Names => {
  const [firstName, lastName] = [first && written(first), last && written(last)];
  return {
    first_name: firstName,
    last_name: lastName,
    full_name: [firstName, ...middle.map(written), lastName].filter(Boolean).join(" "),
    gender: "unknown",
  };
};

/** A capital at each beginning, also after an apostrophe or a hyphen; particles before a name stay small. */
const written = (name: string): string =>
  name
    .toLowerCase()
    .split(" ")
    .map((word, at, all) => (isLeading(word, at, all) ? word : capitalised(word)))
    .join(" ");

const isLeading = (word: string, at: number, all: readonly string[]): boolean =>
  PARTICLES.has(word) && at < all.length - 1;

const capitalised = (word: string): string =>
  word.replaceAll(/(?<=^|['-])\p{L}/gu, (letter) => letter.toUpperCase());

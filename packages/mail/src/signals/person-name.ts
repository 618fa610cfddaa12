import { isBot } from "./bot.ts";
import { scoreNameLikeness, toBareLocal } from "./name-likeness.ts";
import { COMMON_WORDS, FAMILY_NAMES, GIVEN_NAMES } from "./name-words.ts";

/** `gender` is always "unknown": no table has a licence and an accuracy that we would vouch for. */
export type PersonName = {
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly full_name: string;
  readonly gender: string;
};

const givenNames: ReadonlySet<string> = new Set(GIVEN_NAMES);
const familyNames: ReadonlySet<string> = new Set(FAMILY_NAMES);
const commonWords: ReadonlySet<string> = new Set(COMMON_WORDS);
export const PARTICLES: ReadonlySet<string> = new Set(
  "al bin da das de del della den der di dos du el la le ten ter van von zu".split(" "),
);
const PARTS_MAX = 4;
const LOCAL_LENGTH_MAX = 64;
/** "xk.qz" looks like two names, but its letters do not. */
const LIKENESS_MIN = 0.15;

/** Reads a person's name from the local part. A part that the local part does not show is null, never guessed. */
export const parsePersonName = (local: string, isRole: boolean): PersonName => {
  if (isRole || local.length > LOCAL_LENGTH_MAX) return createPersonName(null, null);
  if (isBot(local) || scoreNameLikeness(local) < LIKENESS_MIN) return createPersonName(null, null);
  const parts = splitLocal(local);
  if (parts.length === 0 || parts.length > PARTS_MAX || !parts.every(isNamePart))
    return createPersonName(null, null);

  const [one = "", two = ""] = parts;
  if (parts.length === 1)
    return createPersonName(givenNames.has(foldLetters(one)) ? one : null, null);
  if (parts.length === 2 && isInitial(one))
    return createPersonName(null, familyNames.has(foldLetters(two)) ? two : null);
  if (parts.length === 2 && isInitial(two))
    return createPersonName(givenNames.has(foldLetters(one)) ? one : null, null);
  return parseSeveralParts(parts);
};

/** With dots or underscores, a hyphen joins a double name (jean-luc.picard); without them, it separates two names. */
const splitLocal = (local: string): readonly string[] => {
  const plus = local.indexOf("+");
  const untagged = plus > 0 ? local.slice(0, plus) : local;
  const plain = untagged.normalize("NFC").replaceAll(/\p{N}/gu, "");
  const parts = plain.split(/[._]+/).map(trimHyphens).filter(Boolean);
  return parts.length === 1 ? plain.split(/[._-]+/).filter(Boolean) : parts;
};

const trimHyphens = (part: string): string => part.split("-").filter(Boolean).join("-");

const isInitial = (part: string): boolean => /^\p{L}$/u.test(part);

/** A name part has letters of one alphabet, perhaps an apostrophe or a hyphen inside, and is no common word. */
const isNamePart = (part: string): boolean =>
  /^\p{L}[\p{L}\p{M}]*(?:['-][\p{L}\p{M}]+)*$/u.test(part) && !isCommonWord(foldLetters(part));

const isCommonWord = (part: string): boolean =>
  commonWords.has(part) && !givenNames.has(part) && !familyNames.has(part) && !PARTICLES.has(part);

const foldLetters = (part: string): string => toBareLocal(part);

const parseSeveralParts = (parts: readonly string[]): PersonName => {
  const initials = parts.filter(isInitial).length;
  const [first = "", ...others] = parts;
  // A middle initial is common; any other combination with initials is a code.
  if (
    initials > 0 &&
    (initials > 1 || parts.length < 3 || isInitial(first) || isInitial(others.at(-1) ?? ""))
  )
    return createPersonName(null, null);

  const [second = ""] = others;
  if (parts.length === 2 && isOnlyFamily(first) && isOnlyGiven(second))
    return createPersonName(second, first);
  const particle = others.findIndex((part) => PARTICLES.has(foldLetters(part)));
  const lastFrom = particle >= 0 && particle < others.length - 1 ? particle : others.length - 1;
  return createPersonName(first, others.slice(lastFrom).join(" "), others.slice(0, lastFrom));
};

const isOnlyFamily = (part: string): boolean =>
  familyNames.has(foldLetters(part)) && !givenNames.has(foldLetters(part));
const isOnlyGiven = (part: string): boolean =>
  givenNames.has(foldLetters(part)) && !familyNames.has(foldLetters(part));

const createPersonName = (
  first: string | null,
  last: string | null,
  middle: readonly string[] = [],
): PersonName => {
  const [firstName, lastName] = [first && capitalizeName(first), last && capitalizeName(last)];
  return {
    first_name: firstName,
    last_name: lastName,
    full_name: [firstName, ...middle.map(capitalizeName), lastName].filter(Boolean).join(" "),
    gender: "unknown",
  };
};

const capitalizeName = (name: string): string =>
  name
    .toLowerCase()
    .split(" ")
    .map((word, at, all) => (isLeadingParticle(word, at, all) ? word : capitalizeWord(word)))
    .join(" ");

const isLeadingParticle = (word: string, at: number, all: readonly string[]): boolean =>
  PARTICLES.has(word) && at < all.length - 1;

const capitalizeWord = (word: string): string =>
  word.replaceAll(/(?<=^|['-])\p{L}/gu, (letter) => letter.toUpperCase());

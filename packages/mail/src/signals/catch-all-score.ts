import { scoreBotLikeness } from "./bot.ts";
import { scoreNameLikeness, toBareLocal } from "./name-likeness.ts";

export type CatchAllSignals = {
  readonly isRole: boolean;
  /** The domain's likely pattern for mailboxes, such as "first.last" or "flast"; null when unknown. */
  readonly pattern: string | null;
  readonly mail?: { readonly delivered: number; readonly bounced: number };
};

export type CatchAllPart = {
  readonly part: "base" | "likeness" | "pattern" | "role" | "digits" | "bot" | "mail";
  readonly value: number;
};

/**
 * The weights. Every sum of them lies between 0 and 0.95 without a clamp: a part always shows its whole effect, and no result claims
 * certainty. Mail moves that sum towards the delivered share, so it stays in between. docs/scores.md gives the reason for each.
 */
const BASE = 0.4;
const LIKENESS = 0.15;
const FITS_WITH_SEPARATOR = 0.25;
const FITS_WITHOUT = 0.1;
const MISFITS = -0.1;
const ROLE = 0.15;
const PER_DIGIT = -0.01;
const DIGITS_COUNTED_MAX = 5;
const BOT = -0.1;
/** The number of addresses whose mail counts as much as the whole local part. */
const MAIL_HALF_WEIGHT = 20;
const MAIL_MIN = 5;
const SUM_MAX = 0.95;

export const scoreCatchAll = (local: string, signals: CatchAllSignals): number =>
  roundToHundredths(listCatchAllParts(local, signals).reduce((sum, { value }) => sum + value, 0));

export const listCatchAllParts = (
  local: string,
  signals: CatchAllSignals,
): readonly CatchAllPart[] => {
  const bare = toBareLocal(local);
  const digits = bare.replaceAll(/[^0-9]/g, "").length;
  const parts: readonly CatchAllPart[] = [
    { part: "base", value: BASE },
    { part: "likeness", value: LIKENESS * (2 * scoreNameLikeness(bare) - 1) },
    { part: "pattern", value: scorePattern(bare, signals) },
    { part: "role", value: signals.isRole ? ROLE : 0 },
    { part: "digits", value: PER_DIGIT * Math.min(digits, DIGITS_COUNTED_MAX) },
    { part: "bot", value: BOT * scoreBotLikeness(bare) },
  ];
  const rounded = parts.map(({ part, value }) => ({ part, value: roundToHundredths(value) }));
  const sum = rounded.reduce((total, { value }) => total + value, 0);
  return [...rounded, { part: "mail", value: roundToHundredths(scoreMail(sum, signals)) }];
};

const scoreMail = (sum: number, { mail }: CatchAllSignals): number => {
  const { delivered, bounced } = mail ?? { delivered: 0, bounced: 0 };
  const sent = delivered + bounced;
  if (sent < MAIL_MIN) return 0;
  const share = Math.min(SUM_MAX, delivered / sent);
  return (sent / (sent + MAIL_HALF_WEIGHT)) * (share - sum);
};

/** Adds 0 because minus zero would show as "-0" in the evidence. */
const roundToHundredths = (value: number): number => Math.round(value * 100) / 100 + 0;

const scorePattern = (bare: string, { isRole, pattern }: CatchAllSignals): number => {
  const segments = pattern === null ? null : parsePattern(pattern);
  if (segments === null) return 0;
  // No domain names "info" after a person, so a role that does not match the pattern loses nothing.
  if (!matchesSegments(bare, segments)) return isRole ? 0 : MISFITS;
  return segments.length > 1 ? FITS_WITH_SEPARATOR : FITS_WITHOUT;
};

/** One part between separators: its least number of letters, and whether it may have more. */
type PatternSegment = {
  readonly lettersMin: number;
  readonly isOpen: boolean;
  readonly endsWith: string;
};

const SEPARATORS = /[._-]/;

/** "first.last" has two segments, "flast" one. Null for a pattern of unknown words. */
const parsePattern = (pattern: string): readonly PatternSegment[] | null => {
  // A cut last name, as in flast6, only makes the segment shorter.
  const plain = pattern.toLowerCase().replaceAll(/[{}0-9]/g, "");
  if (!/^(?:(?:first|last|f|l)+(?:[._-]|$))+$/.test(plain) || SEPARATORS.test(plain.at(-1) ?? ""))
    return null;
  return [...plain.matchAll(/([a-z]+)([._-]?)/g)].map(([, words = "", endsWith = ""]) => {
    const initials = words.replaceAll(/first|last/g, "").length;
    const names = (words.match(/first|last/g) ?? []).length;
    return { lettersMin: initials + 2 * names, isOpen: names > 0, endsWith };
  });
};

/** A second Ann Lee is ann.lee2, which still follows the pattern. */
const NAMESAKE = /(?<=\p{L})[0-9]{1,2}$/u;

const matchesSegments = (bare: string, segments: readonly PatternSegment[]): boolean => {
  let remaining = bare.replace(NAMESAKE, "");
  for (const { lettersMin, isOpen, endsWith } of segments) {
    const end = endsWith === "" ? remaining.length : remaining.indexOf(endsWith);
    const segment = remaining.slice(0, Math.max(0, end));
    if (!/^[\p{L}']+$/u.test(segment) || end < lettersMin || (!isOpen && end > lettersMin))
      return false;
    remaining = remaining.slice(end + endsWith.length);
  }
  return remaining === "";
};

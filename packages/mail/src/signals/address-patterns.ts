/**
 * How companies make an address from a name, in the contract's notation: `first` and `last` are the names, `f`, `m` and `l` their first
 * letters; `last6` is a last name cut after six letters, as where a login has at most seven. Each value is the share of companies that use
 * the pattern. Shares from 0.02 on were counted, by domain and not by person, in 427 employers of 7,498 authors of open-source software,
 * who more often than others chose their own address; the rarer ones are judgements. docs/scores.md shows them all.
 */
export const PATTERNS = {
  "first.last": 0.46,
  flast: 0.12,
  first: 0.07,
  last: 0.03,
  firstlast: 0.03,
  "f.last": 0.02,
  firstl: 0.02,
  "last.first": 0.015,
  first_last: 0.012,
  lastf: 0.012,
  fl: 0.008,
  "first.l": 0.008,
  "first-last": 0.006,
  flast7: 0.006,
  flast6: 0.006,
  lastfirst: 0.005,
  f_last: 0.003,
  first_l: 0.003,
  last_first: 0.003,
  "l.first": 0.003,
} as const satisfies Record<string, number>;

/** The share of addresses without a pattern: a login that the person chose, a number, a nickname. */
export const NO_PATTERN = 0.16;

/** The variant with the middle initial, for people who have a middle name. Most other people at such a company have the first form. */
const WITH_MIDDLE = {
  "first.last": "first.m.last",
  flast: "fmlast",
  "f.last": "f.m.last",
  firstlast: "firstmlast",
  first_last: "first_m_last",
  "last.first": "last.first.m",
  fl: "fml",
} as const satisfies Partial<Record<keyof typeof PATTERNS, string>>;

export type BasePattern = keyof typeof PATTERNS;
export type Pattern = BasePattern | (typeof WITH_MIDDLE)[keyof typeof WITH_MIDDLE];

export const BASE_PATTERNS = Object.keys(PATTERNS) as readonly BasePattern[];

const BY_BASE: ReadonlyMap<BasePattern, Pattern> = new Map(
  Object.entries(WITH_MIDDLE) as [BasePattern, Pattern][],
);
const BY_VARIANT: ReadonlyMap<Pattern, BasePattern> = new Map(
  [...BY_BASE].map(([base, variant]) => [variant, base]),
);

export const PATTERN_NAMES: readonly Pattern[] = [...BASE_PATTERNS, ...BY_VARIANT.keys()];

export const addMiddle = (pattern: BasePattern): Pattern | undefined => BY_BASE.get(pattern);

/** Returns the pattern that a company with first.m.last uses for people without a middle name. */
export const removeMiddle = (pattern: Pattern): BasePattern =>
  BY_VARIANT.get(pattern) ?? (pattern as BasePattern);

const TOKENS = /first|last[67]?|f|m|l/g;

export type PatternToken = "first" | "last" | "last6" | "last7" | "f" | "m" | "l";

export const listTokens = (pattern: Pattern): readonly PatternToken[] =>
  (pattern.match(TOKENS) ?? []) as PatternToken[];

export const buildLocal = (
  pattern: Pattern,
  parts: Readonly<Partial<Record<PatternToken, string>>>,
): string => pattern.replaceAll(TOKENS, (token) => parts[token as PatternToken] ?? "");

/** The part of a name that a pattern contains. Many people share a given name; few share both names. */
export type NameCoverage = "both" | "one and a letter" | "one";

/** A pattern with a cut name counts as a single name: John Anderson cut to janders may also be James Anders. */
export const getNameCoverage = (pattern: Pattern): NameCoverage => {
  const tokens = listTokens(pattern).filter((token) => token !== "m");
  const whole = tokens.filter((token) => token === "first" || token === "last").length;
  if (whole === 2) return "both";
  return whole === 1 && tokens.length === 2 ? "one and a letter" : "one";
};

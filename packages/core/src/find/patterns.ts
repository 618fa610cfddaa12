/**
 * How companies make an address of a name, in the contract's notation: `first` and `last` stand for the names, `f` and
 * `l` for their first letters. Beside each: how often it occurs where nothing is known of a domain. The shares are
 * judgements and add up to 1; docs/scores.md shows them.
 */
export const PATTERNS = {
  "first.last": 0.42,
  flast: 0.19,
  first: 0.12,
  "f.last": 0.07,
  firstlast: 0.05,
  first_last: 0.03,
  "last.first": 0.025,
  firstl: 0.02,
  lastf: 0.015,
  last: 0.015,
  "first-last": 0.01,
  "first.l": 0.01,
  first_l: 0.005,
  f_last: 0.005,
  lastfirst: 0.005,
  last_first: 0.005,
  "l.first": 0.005,
} as const satisfies Record<string, number>;

export type Pattern = keyof typeof PATTERNS;

export const PATTERN_NAMES = Object.keys(PATTERNS) as readonly Pattern[];

const TOKENS = /first|last|f|l/g;

/** The address's local part, from names in plain letters. */
export const buildLocal = (pattern: Pattern, first: string, last: string): string =>
  pattern.replaceAll(TOKENS, (token) => {
    const name = token.startsWith("f") ? first : last;
    return token.length === 1 ? name.slice(0, 1) : name;
  });

export const needsWholeName = (pattern: Pattern, name: "first" | "last"): boolean =>
  pattern.includes(name);

/** How much of a name a pattern carries. Many people share a given name; few share both. */
export type NameCoverage = "both" | "one and a letter" | "one";

export const getNameCoverage = (pattern: Pattern): NameCoverage => {
  const tokens = pattern.match(TOKENS) ?? [];
  if (tokens.length < 2) return "one";
  return tokens.every((token) => token.length > 1) ? "both" : "one and a letter";
};

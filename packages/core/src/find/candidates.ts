import { findMailProvider } from "@mailproof/mail/mail-providers";
import {
  addMiddle,
  BASE_PATTERNS,
  type BasePattern,
  buildLocal,
  getNameCoverage,
  listTokens,
  NO_PATTERN,
  PATTERNS,
  type Pattern,
  type PatternToken,
} from "@mailproof/mail/signals/address-patterns";
import { countFinds, NO_PATTERN_COUNTS, type PatternCounts } from "../calibration/naming.ts";
import { listNameForms, looksSwapped, type NameForm, type PersonForms } from "./name-forms.ts";
import type { Person } from "./spelling/spell-word.ts";

/** `share`: the likelihood of this form among all forms of this person's address. */
export type Candidate = {
  readonly local: string;
  readonly pattern: Pattern;
  readonly share: number;
};

/** Known facts about a domain before the first session with its mail server. */
export type DomainKnowledge = {
  readonly patternCounts: PatternCounts;
  readonly mailHost: string | null;
};

/** The most candidates that a session tries. The remaining candidates together are too unlikely to be worth more recipients. */
export const CANDIDATES_MAX = 16;

/** One proven find weighs as much as all prior assumptions. */
const TRUST_IN_PRIORS = 1;

/** Lists the likeliest candidates first; none when no address can be made from the name. */
export const listCandidates = (
  person: Person,
  domain: string,
  { patternCounts, mailHost }: DomainKnowledge,
): readonly Candidate[] => {
  const shares = estimateShares(patternCounts, mailHost);
  const all = listNameOrders(person).flatMap(({ as, weight }) => {
    const forms = listNameForms(as, domain);
    if (!forms) return [];
    return shares
      .flatMap((one) => splitByMiddle(one, forms, patternCounts))
      .flatMap((one) => buildCandidates(one, forms, weight));
  });
  return rankCandidates(all).slice(0, CANDIDATES_MAX);
};

/** Tests whether an address can be made from the name: some names have no usable letters, and some are too long. */
export const isUsable = (person: Person, domain: string): boolean =>
  listCandidates(person, domain, { patternCounts: NO_PATTERN_COUNTS, mailHost: null }).length > 0;

type PatternShare<P extends Pattern = Pattern> = { readonly pattern: P; readonly share: number };

/** The shares add up to less than 1: the rest is addresses that no pattern makes. */
const estimateShares = (
  patternCounts: PatternCounts,
  mailHost: string | null,
): readonly PatternShare<BasePattern>[] => {
  const fitting = BASE_PATTERNS.map((pattern) => ({
    pattern,
    prior: PATTERNS[pattern] * (isTooSmallFor(pattern, mailHost) ? IN_LARGE : 1),
  }));
  const priors = fitting.reduce((sum, { prior }) => sum + prior, 0);
  const seen = [...patternCounts.values()].reduce((sum, count) => sum + count, 0);
  return fitting.map(({ pattern, prior }) => ({
    pattern,
    share:
      ((TRUST_IN_PRIORS * (1 - NO_PATTERN) * prior) / priors + countFinds(patternCounts, pattern)) /
      (TRUST_IN_PRIORS + seen),
  }));
};

/** A company that is known to write a middle initial is likelier to write another. */
const TRUST_IN_MIDDLE = 2;

const splitByMiddle = (
  { pattern, share }: PatternShare<BasePattern>,
  { middles, middleShare }: PersonForms,
  patternCounts: PatternCounts,
): readonly PatternShare[] => {
  const variant = addMiddle(pattern);
  if (variant === undefined || middles.length === 0) return [{ pattern, share }];
  const seen = patternCounts.get(variant) ?? 0;
  const withMiddle = (TRUST_IN_MIDDLE * middleShare + seen) / (TRUST_IN_MIDDLE + seen);
  return [
    { pattern, share: share * (1 - withMiddle) },
    { pattern: variant, share: share * withMiddle },
  ];
};

/** Companies of some size have a mail gateway: a company with two Anns seldom gives one of them ann@. */
const IN_LARGE = 0.25;

const isTooSmallFor = (pattern: Pattern, mailHost: string | null): boolean =>
  mailHost !== null && getNameCoverage(pattern) === "one" && findMailProvider(mailHost).isGateway;

const SWAPPED = 0.7;

const listNameOrders = (
  person: Person,
): readonly { readonly as: Person; readonly weight: number }[] =>
  looksSwapped(person)
    ? [
        { as: { first: person.last, last: person.first }, weight: SWAPPED },
        { as: person, weight: 1 - SWAPPED },
      ]
    : [{ as: person, weight: 1 }];

const buildCandidates = (
  { pattern, share }: PatternShare,
  forms: PersonForms,
  weight: number,
): readonly Candidate[] => {
  let ways: readonly PatternWay[] = [{ parts: {}, weight: share * weight }];
  for (const token of listTokens(pattern))
    ways = ways.flatMap((way) =>
      FORMS_OF[token](forms).map((form) => ({
        parts: { ...way.parts, [token]: form.text },
        weight: way.weight * form.weight,
      })),
    );
  return ways.map(({ parts, weight: likelihood }) => ({
    local: buildLocal(pattern, parts),
    pattern,
    share: likelihood,
  }));
};

type PatternWay = {
  readonly parts: Readonly<Partial<Record<PatternToken, string>>>;
  readonly weight: number;
};

const cutForms = (forms: readonly NameForm[], length: number): readonly NameForm[] =>
  forms.map(({ text, weight }) => ({
    text: text.replaceAll(/[._-]/g, "").slice(0, length),
    weight,
  }));

const FORMS_OF: Readonly<Record<PatternToken, (forms: PersonForms) => readonly NameForm[]>> = {
  first: ({ first }) => first,
  last: ({ last }) => last,
  last6: ({ last }) => cutForms(last, 6),
  last7: ({ last }) => cutForms(last, 7),
  f: ({ initials }) => initials,
  m: ({ middles }) => middles,
  l: ({ last }) => cutForms(last, 1),
};

const LOCAL_LENGTH_MAX = 64; // RFC 5321 §4.5.3.1.1

/** Two patterns that give the same address count together, under the likelier pattern. */
const rankCandidates = (all: readonly Candidate[]): readonly Candidate[] => {
  const byLocal = new Map<string, Candidate>();
  for (const one of all.toSorted((a, b) => b.share - a.share)) {
    if (one.local.length > LOCAL_LENGTH_MAX) continue;
    const earlier = byLocal.get(one.local) ?? { ...one, share: 0 };
    byLocal.set(one.local, { ...earlier, share: earlier.share + one.share });
  }
  return [...byLocal.values()].toSorted((a, b) => b.share - a.share);
};

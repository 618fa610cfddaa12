import { findMailProvider } from "../mail/mail-providers.ts";
import { findUsualPattern, NO_PATTERN_COUNTS, type PatternCounts } from "./items.ts";
import {
  listNameForms,
  looksSwapped,
  type NameForm,
  type Person,
  type PersonForms,
} from "./name-forms.ts";
import {
  buildLocal,
  getNameCoverage,
  needsWholeName,
  PATTERN_NAMES,
  PATTERNS,
  type Pattern,
} from "./patterns.ts";

/** `share`: how likely this form is, among all forms in which this person's address may be made. */
export type Candidate = {
  readonly local: string;
  readonly pattern: Pattern;
  readonly share: number;
};

/** What is known of a domain before its mail server is asked. */
export type DomainKnowledge = {
  readonly patternCounts: PatternCounts;
  readonly mailHost: string | null;
};

/** The most candidates that are asked about. The others together are too unlikely to be worth the questions. */
export const CANDIDATES_MAX = 16;

/** One proven find weighs as much as all assumptions before it. */
const TRUST_IN_PRIORS = 1;

/** The likeliest first. Empty: no address can be made of the name. */
export const listCandidates = (
  person: Person,
  domain: string,
  { patternCounts: naming, mailHost }: DomainKnowledge,
): readonly Candidate[] => {
  const shares = estimateShares(naming, mailHost);
  const all = listNameOrders(person).flatMap(({ as, weight }) => {
    const forms = listNameForms(as, domain);
    return forms ? shares.flatMap((one) => buildCandidates(one, forms, weight)) : [];
  });
  return rankCandidates(all).slice(0, CANDIDATES_MAX);
};

/** Whether an address can be made of the name: some have no usable letters, and some are too long. */
export const isUsable = (person: Person): boolean =>
  listCandidates(person, "", { patternCounts: NO_PATTERN_COUNTS, mailHost: null }).length > 0;

/** Whether a domain has shown this pattern more than once, and no other as often. */
export const isUsualPattern = (naming: PatternCounts, pattern: Pattern): boolean => {
  const seen = naming.get(pattern) ?? 0;
  return seen >= USUAL_FINDS_MIN && findUsualPattern(naming) === pattern;
};

const USUAL_FINDS_MIN = 2;

type PatternShare = { readonly pattern: Pattern; readonly share: number };

const estimateShares = (
  naming: PatternCounts,
  mailHost: string | null,
): readonly PatternShare[] => {
  const fitting = PATTERN_NAMES.map((pattern) => ({
    pattern,
    prior: PATTERNS[pattern] * (isTooSmallFor(pattern, mailHost) ? IN_LARGE : 1),
  }));
  const priors = fitting.reduce((sum, { prior }) => sum + prior, 0);
  const seen = [...naming.values()].reduce((sum, count) => sum + count, 0);
  return fitting.map(({ pattern, prior }) => ({
    pattern,
    share:
      ((TRUST_IN_PRIORS * prior) / priors + (naming.get(pattern) ?? 0)) / (TRUST_IN_PRIORS + seen),
  }));
};

/** Companies of some size have a gateway: where two Anns work, neither is just ann@. */
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
): Candidate[] => {
  const firsts = needsWholeName(pattern, "first") ? forms.first : toInitials(forms.first);
  const lasts = needsWholeName(pattern, "last") ? forms.last : toInitials(forms.last);
  return firsts.flatMap((first) =>
    lasts.map((last) => ({
      local: buildLocal(pattern, first.text, last.text),
      pattern,
      share: share * first.weight * last.weight * weight,
    })),
  );
};

const toInitials = (forms: readonly NameForm[]): readonly NameForm[] =>
  forms.map(({ text, weight }) => ({ text: text.slice(0, 1), weight }));

const LOCAL_LENGTH_MAX = 64; // RFC 5321 §4.5.3.1.1

/** Two patterns that give one address count together, under the likelier one. */
const rankCandidates = (all: readonly Candidate[]): readonly Candidate[] => {
  const byLocal = new Map<string, Candidate>();
  for (const one of all.toSorted((a, b) => b.share - a.share)) {
    if (one.local.length > LOCAL_LENGTH_MAX) continue;
    const earlier = byLocal.get(one.local) ?? { ...one, share: 0 };
    byLocal.set(one.local, { ...earlier, share: earlier.share + one.share });
  }
  return [...byLocal.values()].toSorted((a, b) => b.share - a.share);
};

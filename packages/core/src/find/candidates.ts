import { type Provider, providerOf } from "../mail/smtp/limits.ts";
import { type Naming, NOTHING_KNOWN } from "./items.ts";
import { type Form, formsOf, looksSwapped, type Person, type PersonForms } from "./names.ts";
import {
  carriedBy,
  localBy,
  needsWhole,
  PATTERN_NAMES,
  PATTERNS,
  type Pattern,
} from "./patterns.ts";

/** `share`: how likely it is, of all the ways in which this person's address may be made. */
export type Candidate = {
  readonly local: string;
  readonly pattern: Pattern;
  readonly share: number;
};

/** What is known of a domain before anybody is asked. */
export type Known = { readonly naming: Naming; readonly mailHost: string | null };

/** So many are asked about at most. Those beyond are together less likely than the search is a nuisance. */
export const CANDIDATES_MAX = 16;

/** One proven find weighs as much as everything that we thought before. */
const TRUST_IN_PRIORS = 1;

/** The likeliest first. Empty: the name leaves nothing that an address could be made of. */
export const candidatesFor = (
  person: Person,
  domain: string,
  { naming, mailHost }: Known,
): readonly Candidate[] => {
  const shares = sharesOf(naming, mailHost);
  const all = ordersOf(person).flatMap(({ as, weight }) => {
    const forms = formsOf(as, domain);
    return forms ? shares.flatMap((one) => madeBy(one, forms, weight)) : [];
  });
  return likeliest(all).slice(0, CANDIDATES_MAX);
};

/** Whether its letters make an address at all: some have none, and some make it too long. */
export const isUsable = (person: Person): boolean =>
  candidatesFor(person, "", { naming: NOTHING_KNOWN, mailHost: null }).length > 0;

/** Whether a domain has shown that it names its mailboxes so: more than once, and nothing else as often. */
export const isHabit = (naming: Naming, pattern: Pattern): boolean => {
  const seen = naming.get(pattern) ?? 0;
  return seen >= HABIT_FINDS && habitOf(naming) === pattern;
};

const HABIT_FINDS = 2;

/** The pattern that was met most often, if any was. */
export const habitOf = (naming: Naming): Pattern | null =>
  [...naming].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? null;

type Share = { readonly pattern: Pattern; readonly share: number };

const sharesOf = (naming: Naming, mailHost: string | null): readonly Share[] => {
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

/** Who filters mail for companies of some size: where two Anns work, neither is just ann@. */
const LARGE: ReadonlySet<Provider> = new Set<Provider>([
  "mimecast",
  "proofpoint",
  "barracuda",
  "cisco",
  "symantec",
]);
const IN_LARGE = 0.25;

const isTooSmallFor = (pattern: Pattern, mailHost: string | null): boolean =>
  mailHost !== null && carriedBy(pattern) === "one" && LARGE.has(providerOf(mailHost));

const SWAPPED = 0.7;

const ordersOf = (person: Person): readonly { readonly as: Person; readonly weight: number }[] =>
  looksSwapped(person)
    ? [
        { as: { first: person.last, last: person.first }, weight: SWAPPED },
        { as: person, weight: 1 - SWAPPED },
      ]
    : [{ as: person, weight: 1 }];

const madeBy = ({ pattern, share }: Share, forms: PersonForms, weight: number): Candidate[] => {
  const firsts = needsWhole(pattern, "first") ? forms.first : initialsOf(forms.first);
  const lasts = needsWhole(pattern, "last") ? forms.last : initialsOf(forms.last);
  return firsts.flatMap((first) =>
    lasts.map((last) => ({
      local: localBy(pattern, first.text, last.text),
      pattern,
      share: share * first.weight * last.weight * weight,
    })),
  );
};

const initialsOf = (forms: readonly Form[]): readonly Form[] =>
  forms.map(({ text, weight }) => ({ text: text.slice(0, 1), weight }));

const LOCAL_LENGTH_MAX = 64; // RFC 5321 §4.5.3.1.1

/** Two ways to one address count together, under the name of the likelier one. */
const likeliest = (all: readonly Candidate[]): readonly Candidate[] => {
  const byLocal = new Map<string, Candidate>();
  for (const one of all.toSorted((a, b) => b.share - a.share)) {
    if (one.local.length > LOCAL_LENGTH_MAX) continue;
    const known = byLocal.get(one.local) ?? { ...one, share: 0 };
    byLocal.set(one.local, { ...known, share: known.share + one.share });
  }
  return [...byLocal.values()].toSorted((a, b) => b.share - a.share);
};

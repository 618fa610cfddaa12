import { chanceFrom, oneOf, weighted } from "./chance.ts";
import type { Manner, Rule } from "./manner.ts";
import { FAMILY, GIVEN } from "./names.ts";

export type Person = {
  readonly first: string;
  readonly last: string;
  readonly local: string;
};

/** One of the ordinary companies. All of it follows from its number, so every lab has the same ones. */
export type Company = {
  readonly label: string;
  readonly pattern: Pattern;
  /** Accepts every recipient; its people are real all the same, and only the lab knows them. */
  readonly catchAll: boolean;
  /** Names of mail hosts, best first, relative to the lab's zone. */
  readonly mailHosts: readonly string[];
};

export type Pattern = keyof typeof PATTERNS;

const PATTERNS = {
  "first.last": (first: string, last: string) => `${first}.${last}`,
  flast: (first: string, last: string) => `${first.slice(0, 1)}${last}`,
  first: (first: string) => first,
  "f.last": (first: string, last: string) => `${first.slice(0, 1)}.${last}`,
  first_last: (first: string, last: string) => `${first}_${last}`,
  "last.first": (first: string, last: string) => `${last}.${first}`,
} as const;

/** How often each occurs, roughly as among real companies. */
const PATTERN_SHARES: readonly (readonly [Pattern, number])[] = [
  ["first.last", 45],
  ["flast", 22],
  ["first", 16],
  ["f.last", 9],
  ["first_last", 4],
  ["last.first", 4],
];

const CATCH_ALL_PERCENT = 15;
const SMALL_HOSTERS = 40;
/** Everybody answers for these (RFC 2142). */
const ROLES = ["info", "postmaster", "abuse"] as const;

export const COMPANIES_BELOW = "companies";
export const companyLabel = (number: number): string => `c${String(number).padStart(4, "0")}`;

export const companyOf = (number: number): Company => {
  const label = companyLabel(number);
  const chance = chanceFrom(label);
  const pattern = weighted(PATTERN_SHARES, chance());
  const catchAll = chance() * 100 < CATCH_ALL_PERCENT;
  return { label, pattern, catchAll, mailHosts: hostsFor(label, chance) };
};

/** Most companies rent their mail from few: two large hosts, some small hosters, and every tenth runs its own. */
const hostsFor = (label: string, chance: () => number): readonly string[] => {
  const share = chance() * 100;
  if (share < 35) return ["mx1.bighost", "mx2.bighost"];
  if (share < 55) return ["mx1.otherhost", "mx2.otherhost"];
  if (share < 90) return [`mx.hoster${Math.floor(chance() * SMALL_HOSTERS)}`];
  return [`mx.${label}.${COMPANIES_BELOW}`];
};

/** Who works at a company, by its domain or label: the mailboxes that exist there, besides the roles. */
export const peopleOf = (domain: string): readonly Person[] => {
  const known = peopleByLabel.get(labelOf(domain));
  if (known) return known;
  const number = Number(/^c(\d{4,})$/.exec(labelOf(domain))?.[1] ?? "0");
  if (number === 0) return [];
  const { label, pattern } = companyOf(number);
  const chance = chanceFrom(`people of ${label}`);
  const byLocal = new Map<string, Person>();
  const size = 5 + Math.floor(55 * chance() ** 2);
  for (let index = 0; index < size; index += 1) {
    const first = oneOf(GIVEN, chance());
    const last = oneOf(FAMILY, chance());
    const local = PATTERNS[pattern](first, last);
    if (!byLocal.has(local)) byLocal.set(local, { first, last, local });
  }
  const found = [...byLocal.values()];
  peopleByLabel.set(label, found);
  return found;
};

const peopleByLabel = new Map<string, readonly Person[]>();
const labelOf = (domain: string): string => domain.toLowerCase().split(".")[0] ?? "";

/** A host of companies relays for its own customers only, and knows the people of each. */
const companyRule = (companies: ReadonlyMap<string, Company>): Rule => {
  const locals = new Map<string, ReadonlySet<string>>();
  const localsOf = (domain: string) => {
    const known = locals.get(domain) ?? new Set(peopleOf(domain).map(({ local }) => local));
    locals.set(domain, known);
    return known;
  };
  return ({ local, domain }) => {
    const company = companies.get(domain);
    if (!company) return "554 5.7.1 Relay access denied";
    const [name = ""] = local.toLowerCase().split("+");
    const exists = ROLES.includes(name as (typeof ROLES)[number]) || localsOf(domain).has(name);
    return company.catchAll || exists ? "250 2.1.5 Ok" : "550 5.1.1 No such user here";
  };
};

/** Without TLS: a bulk run is to measure the engine, not the handshakes of both ends on one machine. */
export const companyManner = (companies: ReadonlyMap<string, Company>): Manner => ({
  rcpt: companyRule(companies),
});

import { chanceFrom, oneOf, weighted } from "./chance.ts";
import type { Person } from "./companies.ts";
import { HARD_FAMILY, HARD_GIVEN, type Hard } from "./hard-names.ts";
import type { Manner, Rule } from "./manner.ts";
import { FAMILY, GIVEN } from "./names.ts";

/** Companies for whoever looks for people: many ways to make an address, and names that are not written as they are said. */
export const FIRMS = 200;

export type Firm = {
  readonly number: number;
  readonly pattern: FirmPattern;
  readonly kind: Kind;
  /** Which of two habits it has for all names that could be written either way. */
  readonly habit: 0 | 1;
};

export type FirmPattern = keyof typeof LOCALS;
export type Kind = (typeof KINDS)[number][0];

const initial = (name: string): string => name.slice(0, 1);

const LOCALS = {
  "first.last": (first: string, last: string) => `${first}.${last}`,
  flast: (first: string, last: string) => `${initial(first)}${last}`,
  first: (first: string) => first,
  "f.last": (first: string, last: string) => `${initial(first)}.${last}`,
  firstlast: (first: string, last: string) => `${first}${last}`,
  first_last: (first: string, last: string) => `${first}_${last}`,
  "last.first": (first: string, last: string) => `${last}.${first}`,
  firstl: (first: string, last: string) => `${first}${initial(last)}`,
  lastf: (first: string, last: string) => `${last}${initial(first)}`,
  first_l: (first: string, last: string) => `${first}_${initial(last)}`,
  "first.l": (first: string, last: string) => `${first}.${initial(last)}`,
  "first-last": (first: string, last: string) => `${first}-${last}`,
} as const;

/** More of the rare ones than among real companies: a search is to be tried where it is hard. */
const SHARES: readonly (readonly [FirmPattern, number])[] = [
  ["first.last", 36],
  ["flast", 18],
  ["first", 12],
  ["f.last", 8],
  ["firstlast", 6],
  ["first_last", 4],
  ["last.first", 4],
  ["firstl", 4],
  ["lastf", 3],
  ["first-last", 2],
  ["first.l", 2],
  ["first_l", 1],
];

const KINDS = [
  ["checks", 75],
  ["catch_all", 15],
  ["refuses us", 5],
  ["puts us off", 5],
] as const;

const HOSTS = 10;
const HARD_PERCENT = 20;

export const firmLabel = (number: number): string => `f${String(number).padStart(3, "0")}.firms`;
export const firmHost = ({ number }: Firm): string => `mx${number % HOSTS}.firms`;

export const firmOf = (number: number): Firm => {
  const chance = chanceFrom(firmLabel(number));
  return {
    number,
    pattern: weighted(SHARES, chance()),
    kind: weighted(KINDS, chance()),
    habit: chance() < 0.5 ? 0 : 1,
  };
};

/** Who works there. Two whose addresses would be the same never do. */
export const staffOf = (firm: Firm): readonly Person[] => {
  const chance = chanceFrom(`staff of ${firmLabel(firm.number)}`);
  const named = (plain: readonly string[], hard: readonly Hard[]) => {
    if (chance() * 100 >= HARD_PERCENT) return said(oneOf(plain, chance()));
    const [name, ...written] = hard[Math.floor(chance() * hard.length)] ?? ["", ""];
    return { name, written: written[firm.habit] ?? written[0] };
  };
  const byLocal = new Map<string, Person>();
  for (let left = 8 + Math.floor(chance() * 24); left > 0; left -= 1) {
    const first = named(GIVEN, HARD_GIVEN);
    const last = named(FAMILY, HARD_FAMILY);
    const local = LOCALS[firm.pattern](first.written, last.written);
    if (!byLocal.has(local)) byLocal.set(local, { first: first.name, last: last.name, local });
  }
  return [...byLocal.values()];
};

const said = (plain: string) => ({
  name: plain.slice(0, 1).toUpperCase() + plain.slice(1),
  written: plain,
});

const ANSWERS: Readonly<Record<Exclude<Kind, "checks">, string>> = {
  catch_all: "250 2.1.5 Ok",
  "refuses us": "550 5.7.1 Service unavailable; client host blocked using a local blocklist",
  "puts us off": "450 4.7.1 Greylisted, please try again later",
};

export const firmManner = (firms: ReadonlyMap<string, Firm>): Manner => {
  const locals = new Map<string, ReadonlySet<string>>();
  const localsOf = (domain: string, firm: Firm) => {
    const known = locals.get(domain) ?? new Set(staffOf(firm).map(({ local }) => local));
    locals.set(domain, known);
    return known;
  };
  const rcpt: Rule = ({ local, domain }) => {
    const firm = firms.get(domain);
    if (!firm) return "554 5.7.1 Relay access denied";
    if (firm.kind !== "checks") return ANSWERS[firm.kind];
    const exists = localsOf(domain, firm).has(local.toLowerCase());
    return exists ? "250 2.1.5 Ok" : "550 5.1.1 No such user here";
  };
  return { rcpt };
};

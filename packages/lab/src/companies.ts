import type { HostBehavior, Rule } from "./host-behavior.ts";
import {
  createLocalsOf,
  createRandom,
  LAB_FAMILY_NAMES,
  LAB_GIVEN_NAMES,
  type LabPattern,
  type LabPerson,
  LOCALS,
  pickOne,
  pickWeighted,
} from "./person-names.ts";

/** An ordinary company. Its number determines everything, so every lab has the same companies. */
export type Company = {
  readonly label: string;
  readonly pattern: LabPattern;
  readonly catchAll: boolean;
  readonly mailHosts: readonly string[];
};

/** The share of each pattern in percent, roughly as among real companies. */
const PATTERN_SHARES: readonly (readonly [LabPattern, number])[] = [
  ["first.last", 45],
  ["flast", 22],
  ["first", 16],
  ["f.last", 9],
  ["first_last", 4],
  ["last.first", 4],
];

const CATCH_ALL_PERCENT = 15;
const SMALL_HOSTERS = 40;
/** Every company has these mailboxes (RFC 2142). */
const ROLES = ["info", "postmaster", "abuse"] as const;

export const COMPANIES_LABEL = "companies";
export const formatCompanyLabel = (number: number): string => `c${String(number).padStart(4, "0")}`;

export const getCompany = (number: number): Company => {
  const label = formatCompanyLabel(number);
  const random = createRandom(label);
  const pattern = pickWeighted(PATTERN_SHARES, random());
  const catchAll = random() * 100 < CATCH_ALL_PERCENT;
  return { label, pattern, catchAll, mailHosts: pickMailHosts(label, random) };
};

/** Most companies rent their mail from few hosts: two large ones and some small hosters; every tenth runs its own. */
const pickMailHosts = (label: string, random: () => number): readonly string[] => {
  const share = random() * 100;
  if (share < 35) return ["mx1.bighost", "mx2.bighost"];
  if (share < 55) return ["mx1.otherhost", "mx2.otherhost"];
  if (share < 90) return [`mx.hoster${Math.floor(random() * SMALL_HOSTERS)}`];
  return [`mx.${label}.${COMPANIES_LABEL}`];
};

export const getPeople = (domain: string): readonly LabPerson[] => {
  const cached = peopleByLabel.get(getLabel(domain));
  if (cached) return cached;
  const number = Number(/^c(\d{4,})$/.exec(getLabel(domain))?.[1] ?? "0");
  if (number === 0) return [];
  const { label, pattern } = getCompany(number);
  const random = createRandom(`people of ${label}`);
  const byLocal = new Map<string, LabPerson>();
  const size = 5 + Math.floor(55 * random() ** 2);
  for (let index = 0; index < size; index += 1) {
    const first = pickOne(LAB_GIVEN_NAMES, random());
    const last = pickOne(LAB_FAMILY_NAMES, random());
    const local = LOCALS[pattern](first, last);
    if (!byLocal.has(local)) byLocal.set(local, { first, last, local });
  }
  const people = [...byLocal.values()];
  peopleByLabel.set(label, people);
  return people;
};

const peopleByLabel = new Map<string, readonly LabPerson[]>();
const getLabel = (domain: string): string => domain.toLowerCase().split(".")[0] ?? "";

/** A host of companies relays for its own customers only, and knows the people of each. */
const createCompanyRule = (companies: ReadonlyMap<string, Company>): Rule => {
  const hasLocal = createLocalsOf(getPeople);
  return ({ local, domain }) => {
    const company = companies.get(domain);
    if (!company) return "554 5.7.1 Relay access denied";
    const [name = ""] = local.toLowerCase().split("+");
    const exists = ROLES.includes(name as (typeof ROLES)[number]) || hasLocal(domain, name);
    return company.catchAll || exists ? "250 2.1.5 Ok" : "550 5.1.1 No such user here";
  };
};

/** Company hosts have no TLS: a bulk run should measure the engine, not the handshakes of both ends on one machine. */
export const createCompanyBehavior = (companies: ReadonlyMap<string, Company>): HostBehavior => ({
  rcpt: createCompanyRule(companies),
});

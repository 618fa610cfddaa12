import { getCompany, getPeople } from "@mailproof/lab/companies";
import type { LabStatus } from "@mailproof/lab/domain";
import { allDomains } from "@mailproof/lab/domains";
import { LAB_ZONE } from "@mailproof/lab/lab";

export type Chance = () => number;

export const drawBelow = (chance: Chance, most: number): number => Math.floor(chance() * most);

export const pickOne = <T>(all: readonly T[], chance: Chance): T =>
  all[drawBelow(chance, all.length)] as T;

// Addresses of the lab, and what the lab's own tables say of each.

export type Expected = { readonly email: string; readonly status: LabStatus };

/** What an answer is beside the truth. Only `wrong` is a lie: who does not know says so. */
export type Judged = "right" | "undecided" | "wrong";

const COMPANIES = 500;

export const companyBy = (chance: Chance) => {
  const { label, catchAll } = getCompany(1 + drawBelow(chance, COMPANIES));
  return { domain: domainOf(label), catchAll };
};

const domainOf = (label: string): string => `${label}.companies.${LAB_ZONE}`;

/** People of the lab's companies, some of them asked for repeatedly; `missingShare` of all have no mailbox there. */
export const pickEmail = (chance: Chance, missingShare: number): Expected => {
  const { domain, catchAll } = companyBy(chance);
  const existing = pickOne(getPeople(domain), chance).local;
  if (chance() < missingShare)
    return {
      email: `nonexistent${drawBelow(chance, 1_000_000)}@${domain}`,
      status: catchAll ? "catch_all" : "invalid",
    };
  const tag = chance() < 0.5 ? "" : `+${drawBelow(chance, 1_000_000)}`;
  return { email: `${existing}${tag}@${domain}`, status: catchAll ? "catch_all" : "valid" };
};

/** One of every situation that the lab has: hosts that hang up, defer, lie, or never reply. */
export const oddities: readonly Expected[] = allDomains.flatMap(({ name, examples }) =>
  examples.map(([local, status]) => ({ email: `${local}@${name}.${LAB_ZONE}`, status })),
);

/** `risky` is the answer where a server accepted and it is unknown whether it accepts every recipient. */
const OPEN: ReadonlySet<string> = new Set(["pending", "unknown", "risky"]);

export const judge = (expected: LabStatus, status: string): Judged => {
  if (status === expected) return "right";
  if (OPEN.has(status)) return "undecided";
  // The tables say what one attempt comes to. A later one may find out more, but never that a mailbox is gone.
  return OPEN.has(expected) && status !== "invalid" ? "right" : "wrong";
};

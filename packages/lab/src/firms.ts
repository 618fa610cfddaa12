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

/** A spoken name, and a company's possible spelling; with two spellings the company's habit decides. Written by hand. */
type HardName = readonly [spoken: string, written: string, ...otherwise: string[]];

const HARD_GIVEN: readonly HardName[] = [
  ["Jürgen", "juergen", "jurgen"],
  ["Björn", "bjoern", "bjorn"],
  ["Søren", "soeren", "soren"],
  ["Åsa", "aasa", "asa"],
  ["Zoë", "zoe"],
  ["José", "jose"],
  ["François", "francois"],
  ["Łukasz", "lukasz"],
  ["İbrahim", "ibrahim"],
  ["Jiří", "jiri"],
  ["Siân", "sian"],
  ["Jean-Luc", "jean-luc", "jeanluc"],
  ["Anne-Marie", "anne-marie", "annemarie"],
  ["Anna Maria", "anna", "annamaria"],
  ["Mary Jane", "mary", "maryjane"],
  ["John F.", "john"],
  ["Dr. Ruth", "ruth"],
];

const HARD_FAMILY: readonly HardName[] = [
  ["Müller", "mueller", "muller"],
  ["Jäger", "jaeger", "jager"],
  ["Østergård", "oestergaard", "ostergard"],
  ["Özdemir", "oezdemir", "ozdemir"],
  ["Weiß", "weiss"],
  ["Łaski", "laski"],
  ["Núñez", "nunez"],
  ["Čapek", "capek"],
  ["Nguyễn", "nguyen"],
  ["Þórsson", "thorsson"],
  ["Çelik", "celik"],
  ["O'Brien", "obrien"],
  ["O’Neill", "oneill"],
  ["D'Angelo", "dangelo"],
  ["van der Berg", "vanderberg", "berg"],
  ["de la Cruz", "delacruz", "cruz"],
  ["von Trapp", "vontrapp", "trapp"],
  ["al-Hashimi", "alhashimi", "al-hashimi"],
  ["Smith-Jones", "smith-jones", "smithjones"],
  ["García López", "garcia", "garcialopez"],
  ["King Jr.", "king"],
];

/** Companies for address searches: many address patterns, and names whose spelling differs from their sound. */
export const FIRMS = 200;

export type Firm = {
  readonly number: number;
  readonly pattern: LabPattern;
  readonly kind: FirmKind;
  readonly habit: 0 | 1;
};

export type FirmKind = (typeof FIRM_KINDS)[number][0];

/** Rare patterns are more frequent than among real companies, because tests need the hard cases. */
const PATTERN_SHARES: readonly (readonly [LabPattern, number])[] = [
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

const FIRM_KINDS = [
  ["checks", 75],
  ["catch_all", 15],
  ["refuses us", 5],
  ["puts us off", 5],
] as const;

const HOSTS = 10;
const HARD_PERCENT = 20;

export const formatFirmLabel = (number: number): string =>
  `f${String(number).padStart(3, "0")}.firms`;
export const getFirmHost = ({ number }: Firm): string => `mx${number % HOSTS}.firms`;

export const getFirm = (number: number): Firm => {
  const random = createRandom(formatFirmLabel(number));
  return {
    number,
    pattern: pickWeighted(PATTERN_SHARES, random()),
    kind: pickWeighted(FIRM_KINDS, random()),
    habit: random() < 0.5 ? 0 : 1,
  };
};

/** Returns a company's people. No two of them have the same address. */
export const getStaff = (firm: Firm): readonly LabPerson[] => {
  const random = createRandom(`staff of ${formatFirmLabel(firm.number)}`);
  const pickName = (plain: readonly string[], hard: readonly HardName[]) => {
    if (random() * 100 >= HARD_PERCENT) return toPlainName(pickOne(plain, random()));
    const [name, ...written] = hard[Math.floor(random() * hard.length)] ?? ["", ""];
    return { name, written: written[firm.habit] ?? written[0] };
  };
  const byLocal = new Map<string, LabPerson>();
  for (let left = 8 + Math.floor(random() * 24); left > 0; left -= 1) {
    const first = pickName(LAB_GIVEN_NAMES, HARD_GIVEN);
    const last = pickName(LAB_FAMILY_NAMES, HARD_FAMILY);
    const local = LOCALS[firm.pattern](first.written, last.written);
    if (!byLocal.has(local)) byLocal.set(local, { first: first.name, last: last.name, local });
  }
  return [...byLocal.values()];
};

const toPlainName = (plain: string) => ({
  name: plain.slice(0, 1).toUpperCase() + plain.slice(1),
  written: plain,
});

const REPLIES: Readonly<Record<Exclude<FirmKind, "checks">, string>> = {
  catch_all: "250 2.1.5 Ok",
  "refuses us": "550 5.7.1 Service unavailable; client host blocked using a local blocklist",
  "puts us off": "450 4.7.1 Greylisted, please try again later",
};

export const createFirmBehavior = (firms: ReadonlyMap<string, Firm>): HostBehavior => {
  const hasLocal = createLocalsOf((domain) => {
    const firm = firms.get(domain);
    return firm ? getStaff(firm) : [];
  });
  const rcpt: Rule = ({ local, domain }) => {
    const firm = firms.get(domain);
    if (!firm) return "554 5.7.1 Relay access denied";
    if (firm.kind !== "checks") return REPLIES[firm.kind];
    return hasLocal(domain, local.toLowerCase()) ? "250 2.1.5 Ok" : "550 5.1.1 No such user here";
  };
  return { rcpt };
};

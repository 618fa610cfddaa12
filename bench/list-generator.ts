import { LAB_FAMILY_NAMES, LAB_GIVEN_NAMES } from "@mailproof/lab/person-names";
import { createRandom } from "../test/simulation/random.ts";

// A customer's list as lists are: most people at a few large providers and the rest all over, some entered
// twice, cells that are no address, and notes with commas, quotes and line breaks. The same for the same seed.

export type ListShape = {
  readonly seed: number;
  readonly rows: number;
  /** Of 100 rows, how many repeat an address of an earlier one, and how many hold none. */
  readonly duplicatePercent: number;
  readonly invalidPercent: number;
  /** Draws a domain. Every draw comes from `chance`. */
  readonly domain: (random: Random) => string;
  /** Who it is, for lists of people who are really there. `number` keeps them apart. */
  readonly person?: (number: number, random: Random) => string;
  /** Of the columns only the first so many: half a million whole rows are more than an upload may have. */
  readonly columns?: number;
};

/** The counts that a reader of the list must come to. */
export type ListCounts = {
  readonly rows: number;
  readonly duplicates: number;
  readonly invalid: number;
  readonly unique: number;
};

type Random = () => number;

/** The text in pieces of some rows, its header first; in the end what was in it. */
export function* generateList(shape: ListShape): Generator<string, ListCounts> {
  const random = createRandom(shape.seed);
  let [unique, duplicates, invalid] = [0, 0, 0];
  let text = `${HEADER.slice(0, shape.columns).join(",")}\r\n`;
  for (let row = 1; row <= shape.rows; row += 1) {
    const draw = random() * 100;
    let email: string;
    if (draw < shape.invalidPercent) {
      invalid += 1;
      email = pick(NO_ADDRESSES, random);
    } else if (unique > 0 && draw < shape.invalidPercent + shape.duplicatePercent) {
      duplicates += 1;
      email = respell(createAddress(shape, Math.floor(random() * unique)), random);
    } else {
      email = createAddress(shape, unique);
      unique += 1;
    }
    text += formatRecord(row, email, random, shape.columns);
    if (text.length < PIECE_LENGTH) continue;
    yield text;
    text = "";
  }
  yield text;
  return { rows: shape.rows, duplicates, invalid, unique };
}

/** The list as it is uploaded; its counts are returned at the end. */
export async function* toBytes(
  list: Generator<string, ListCounts>,
  onCounts: (counts: ListCounts) => void,
): AsyncGenerator<Uint8Array> {
  let next = list.next();
  for (; !next.done; next = list.next()) yield Buffer.from(next.value);
  onCounts(next.value);
}

const PIECE_LENGTH = 65_536;
const HEADER = [
  "id",
  "first name",
  "last name",
  "E-Mail",
  "company",
  "city",
  "signed up",
  "notes",
  "referrer",
];

const NO_ADDRESSES = [
  "",
  "n/a",
  "-",
  "john.doe",
  "john.doe@",
  "@example.com",
  "john doe@example.com",
  "john@example",
  "john..doe@example.com",
  "john@example.com; jane@example.com",
  "http://www.example.com/john",
];

/** Follows from its number alone, so that an earlier one can be repeated and none need be remembered. */
const createAddress = ({ seed, domain, person }: ListShape, number: number): string => {
  const random = createRandom(Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b));
  if (person) return person(number, random);
  const given = pick(LAB_GIVEN_NAMES, random);
  const family = pick(LAB_FAMILY_NAMES, random);
  const local = random() < 0.7 ? `${given}.${family}` : `${given.slice(0, 1)}${family}`;
  // No name has a digit in it, so the number keeps all of them apart.
  return `${local}${number}@${domain(random)}`;
};

const respell = (address: string, random: Random): string => {
  const draw = random();
  if (draw < 0.5) return address;
  if (draw < 0.7) return address.toUpperCase();
  if (draw < 0.85) return ` ${address}`;
  return `${address.slice(0, 1).toUpperCase()}${address.slice(1)}`;
};

const COMPANIES = [
  "Acme",
  "Müller & Söhne",
  '"Zum Anker"',
  "Globex, Inc.",
  "Łódź Tekstylia",
  "東京商事",
  "Initech",
  "Umbrella",
  "Hooli",
  "Stark Industries",
];
const CITIES = ["Berlin", "Zürich", "Paris", "São Paulo", "Kraków", "大阪", "Lagos", "Oslo"];
const NOTES = [
  "",
  "",
  "",
  "",
  "",
  "met at the fair",
  "came by recommendation of a friend",
  "asked for a price list, and for a call back",
  'wrote "maybe next year"',
  "two lines:\r\nprefers mail, not the phone",
];
const REFERRERS = ["https://example.com/newsletter", "autumn offer", "trade fair"];

const formatRecord = (row: number, email: string, random: Random, columns?: number): string => {
  const month = String(1 + Math.floor(random() * 12)).padStart(2, "0");
  const day = String(1 + Math.floor(random() * 28)).padStart(2, "0");
  const cells = [
    `C-${String(row).padStart(9, "0")}`,
    pick(LAB_GIVEN_NAMES, random),
    pick(LAB_FAMILY_NAMES, random),
    email,
    pick(COMPANIES, random),
    pick(CITIES, random),
    `20${10 + Math.floor(random() * 16)}-${month}-${day}T08:30:00Z`,
    pick(NOTES, random),
    pick(REFERRERS, random),
  ];
  return `${cells.slice(0, columns).map(quoteCell).join(",")}\r\n`;
};

const quoteCell = (cell: string): string =>
  /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;

const pick = <T>(some: readonly T[], random: Random): T =>
  some[Math.floor(random() * some.length)] as T;

/** Shares as they are in lists of consumers; what is left goes to the tail. */
const HEAD: readonly (readonly [domain: string, percent: number])[] = [
  ["gmail.com", 34],
  ["yahoo.com", 9],
  ["hotmail.com", 7],
  ["outlook.com", 6],
  ["icloud.com", 4],
  ["gmx.de", 3],
  ["web.de", 3],
  ["aol.com", 2],
  ["orange.fr", 1],
  ["bücher.example", 1],
];
const TAIL = 60_000;

/** Most at a few providers; the others at many domains, of which some are far more common than others. */
export const pickDomain = (random: Random): string => {
  let draw = random() * 100;
  for (const [domain, percent] of HEAD) {
    if (draw < percent) return domain;
    draw -= percent;
  }
  return `company-${Math.floor(TAIL * random() ** 3)}.example.com`;
};

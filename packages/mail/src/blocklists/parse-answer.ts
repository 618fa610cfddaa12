import { type DnsOutcome, getRecords, isAbsent, isFault } from "../dns/dns.ts";
import type { ListCodes, ListMeaning } from "./lists.ts";

export type BlocklistVerdict =
  | { readonly kind: "listed"; readonly codes: readonly string[]; readonly meaning: ListMeaning }
  | { readonly kind: "not_listed" }
  | { readonly kind: "inconclusive"; readonly why: string };

type ParsedCode = ListMeaning | "good" | "error" | "unknown";

/**
 * Reads a list's answer (RFC 5782 §2.1). An address alone is not a listing: refusals, parked zones and lists of the whole world also answer
 * with an address.
 */
export const parseAnswer = (codes: ListCodes, outcome: DnsOutcome<string>): BlocklistVerdict => {
  if (isAbsent(outcome)) return { kind: "not_listed" };
  if (isFault(outcome)) return { kind: "inconclusive", why: outcome.kind };
  const addresses = getRecords(outcome);
  const read = addresses.map((address) => findMeanings(codes, address));
  // A real code next to an error still counts, because the list did answer.
  const [gravest] = read
    .flat()
    .filter((one) => typeof one === "object")
    .toSorted((a, b) => b.costPoints - a.costPoints);
  if (gravest)
    return {
      kind: "listed",
      codes: addresses.filter((_, at) => hasMeaning(read[at])),
      meaning: gravest,
    };
  return read.every((of) => of.every((one) => one === "good"))
    ? { kind: "not_listed" }
    : { kind: "inconclusive", why: read.flat().includes("error") ? "refused" : "unknown_code" };
};

/** Tells whether an answer is a listing, with a known code or not, as the list must give for its test entry. */
export const isCode = (codes: ListCodes, outcome: DnsOutcome<string>): boolean =>
  getRecords(outcome).some(
    (address) => address.startsWith("127.") && !findMeanings(codes, address).includes("error"),
  );

const hasMeaning = (read: readonly ParsedCode[] | undefined): boolean =>
  read?.some((one) => typeof one === "object") ?? false;

/**
 * Spamhaus reports faults as 127.255.255.x: .250 and .251 the key, .252 the zone, .254 an open resolver, .255 too many questions. SURBL and
 * URIBL refuse with 127.0.0.1; no list may use it for a listing.
 */
const ERROR = /^127\.255\.|^127\.0\.0\.1$|^127\.0\.1\.255$/;
/** RFC 5782 §2.1 leaves the choice of codes to the list. */
const LISTING = /^127\./;
const OWN_CODE = /^127\.0\.0\.(\d+)$/;

const findMeanings = (codes: ListCodes, address: string): readonly ParsedCode[] => {
  if (ERROR.test(address)) return ["error"];
  if (codes.kind === "bits")
    return findBitMeanings(codes.meanings, Number(OWN_CODE.exec(address)?.[1] ?? 0));
  const meaning = codes.meanings[address];
  if (meaning) return [meaning];
  if (codes.good?.includes(address)) return ["good"];
  return [codes.others && LISTING.test(address) ? codes.others : "unknown"];
};

/** The first bit is a refusal, whatever other bits are set. */
const findBitMeanings = (
  meanings: Readonly<Record<number, ListMeaning>>,
  octet: number,
): readonly ParsedCode[] => {
  if ((octet & 1) === 1) return ["error"];
  const set = Object.entries(meanings).filter(([bit]) => (octet & Number(bit)) !== 0);
  return set.length > 0 ? set.map(([, meaning]) => meaning) : ["unknown"];
};

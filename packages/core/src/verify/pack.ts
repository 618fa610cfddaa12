import type { Json } from "../ports/table.ts";
import { listStoredKeys } from "./fields.ts";
import { RESULT_FIELDS, type Verification } from "./result.ts";

// The stored form of a result: in the result cache, in the answer of a claim, and half a million times in the pages of a job,
// so it is short. It starts with its version; older versions must stay readable.

const VERSION = 1;

export type PackedVerification = readonly Json[];

/** Each flag is stored as a bit in the order of this table, so a new field must be last. */
const CHECKS = listStoredKeys(RESULT_FIELDS.verification.fields);
const FLAGS = listStoredKeys(RESULT_FIELDS.flags.fields);

// The two literals below list every field again: a loop over the table takes five times as long for a row, and an export reads
// half a million rows. The types and the test that reads the table ensure that no field is missing.

export const pack = (result: Verification): PackedVerification => {
  const { enrichment, ai, evidence, receipt, receiptClaims } = result;
  return [
    VERSION,
    result.email,
    result.status,
    result.score,
    result.reason,
    result.subStatus,
    result.provider,
    toBits(CHECKS, result.verification),
    toBits(FLAGS, result.flags),
    [enrichment.first_name, enrichment.last_name, enrichment.full_name, enrichment.gender],
    ai ? [ai.typoSuggestion, ai.typoConfidence, ai.catchAllConfidence] : null,
    result.retry,
    result.verifiedAt,
    // The evidence is for one reader and expires soon, so it keeps its own names. An absent value is null when another follows.
    ...(evidence || receipt || receiptClaims ? [(evidence as unknown as Json) ?? null] : []),
    ...(receipt || receiptClaims ? [receipt ?? null] : []),
    ...(receiptClaims === undefined ? [] : [receiptClaims]),
  ];
};

export type PackedValues = readonly [
  version: number,
  email: string,
  status: Verification["status"],
  score: number,
  reason: string,
  subStatus: string | null,
  provider: string | null,
  checks: number,
  flags: number,
  names: readonly [string | null, string | null, string, Verification["enrichment"]["gender"]],
  ai: readonly [string | null, number | null, number] | null,
  retry: Verification["retry"],
  verifiedAt: string,
  evidence?: Verification["evidence"] | null,
  receipt?: string | null,
  receiptClaims?: string,
];

export const readPackedValues = (packed: PackedVerification): PackedValues =>
  packed as unknown as PackedValues;

export const unpack = (packed: PackedVerification): Verification => {
  if (packed[0] !== VERSION) throw new Error("a stored result has an unknown version");
  // The version guarantees the shape: only `pack` writes these rows, and one export reads half a million.
  const row = readPackedValues(packed);
  const [, email, status, score, reason, subStatus, provider, checks, flags, names, ai] = row;
  const [, , , , , , , , , , , retry, verifiedAt, evidence, receipt, claims] = row;
  const [first_name, last_name, full_name, gender] = names;
  return {
    email,
    status,
    score,
    reason,
    subStatus,
    provider,
    verification: CHECKS_BY_BITS[checks] ?? fromBits(CHECKS, checks),
    flags: FLAGS_BY_BITS[flags] ?? fromBits(FLAGS, flags),
    enrichment: { first_name, last_name, full_name, gender },
    ...(ai && { ai: { typoSuggestion: ai[0], typoConfidence: ai[1], catchAllConfidence: ai[2] } }),
    ...(evidence && { evidence }),
    ...(receipt && { receipt }),
    ...(claims !== undefined && { receiptClaims: claims }),
    retry,
    verifiedAt,
  };
};

const toBits = <N extends string>(names: readonly N[], set: Readonly<Record<N, boolean>>): number =>
  names.reduce((bits, name, at) => bits | (set[name] ? 1 << at : 0), 0);

const fromBits = <N extends string>(names: readonly N[], bits: number): Record<N, boolean> =>
  Object.fromEntries(names.map((name, at) => [name, (bits & (1 << at)) !== 0])) as Record<
    N,
    boolean
  >;

/** Shared objects for the 64 and 128 combinations, of which most rows use a dozen: an export would otherwise create a million objects. */
const listCombinations = <N extends string>(
  names: readonly N[],
): readonly Readonly<Record<N, boolean>>[] =>
  Array.from({ length: 1 << names.length }, (_, bits) => Object.freeze(fromBits(names, bits)));

const CHECKS_BY_BITS = listCombinations(CHECKS);
const FLAGS_BY_BITS = listCombinations(FLAGS);

import { isInRuns } from "../rows/kept-passes.ts";
import { type AddressedPiece, getKindAt, getRowAt, type RowKind } from "../rows/row-index.ts";
import { type PackedValues } from "../verify/pack.ts";
import { STATUSES, type Status } from "../verify/result.ts";
import { SEND_ADVICES, type SendAdvice, toSendAdvice } from "../verify/send-advice.ts";

// The only reader of row filters: for pages of rows, counts, exports, and rows to verify again.

/** Values of one field are alternatives; different fields must all match. */
export type RowFilter = {
  readonly send?: readonly SendAdvice[];
  readonly status?: readonly Status[];
  readonly reason?: readonly string[];
  readonly provider?: readonly string[];
  readonly domain?: readonly string[];
  readonly score?: readonly { readonly from: number; readonly to: number }[];
  /** Whether the list that the job continues has the address, too. */
  readonly origin?: readonly Origin[];
};

export const ORIGINS = ["new", "earlier"] as const;
export type Origin = (typeof ORIGINS)[number];

type Field = keyof RowFilter;
type Term = readonly [field: Field, value: string];

const FIELDS: readonly string[] = [
  "send",
  "status",
  "reason",
  "provider",
  "domain",
  "score",
  "origin",
] satisfies readonly Field[];
const SCORE = /^(\d{1,3})(?:-(\d{1,3}))?$/;

const toTerm = (text: string): Term => {
  const colon = text.indexOf(":");
  return [text.slice(0, colon).trim() as Field, text.slice(colon + 1).trim()];
};

const isTerm = ([field, value]: Term): boolean => {
  if (field === "status") return STATUSES.some((status) => status === value);
  if (field === "send") return SEND_ADVICES.some((advice) => advice === value);
  if (field === "origin") return ORIGINS.some((origin) => origin === value);
  if (field === "score") return SCORE.test(value);
  return FIELDS.includes(field) && value !== "";
};

const toValue = ([field, value]: Term): unknown => {
  if (field === "domain") return value.toLowerCase();
  if (field !== "score") return value;
  const [, from, to = from] = SCORE.exec(value) ?? [];
  return { from: Number(from), to: Number(to) };
};

const splitTerms = (text: string): readonly Term[] => text.split(",").map(toTerm);

/** A row filter is a list of terms such as `status:valid`, separated by commas. */
export const isRowFilter = (text: string): boolean => splitTerms(text).every(isTerm);

export const parseRowFilter = (text: string): RowFilter => {
  const filter: Record<string, unknown> = {};
  for (const [field, same] of Map.groupBy(splitTerms(text), ([name]) => name))
    filter[field] = same.map(toValue);
  return filter;
};

/** The address is not part of a row's kind. */
export const matchesKind =
  ({ send, status, reason, provider, score }: RowFilter) =>
  ([itsStatus, itsScore, itsReason, itsProvider]: RowKind): boolean =>
    (!send || send.includes(toSendAdvice(itsStatus))) &&
    (!status || status.includes(itsStatus)) &&
    (!reason || reason.includes(itsReason)) &&
    (!provider || (itsProvider !== null && provider.includes(itsProvider))) &&
    (!score || score.some(({ from, to }) => from <= itsScore && itsScore <= to));

/** Undefined when every row passes. `known`: the runs of rows of its chunk that the earlier list has. */
export const createOriginTest = (
  { origin }: RowFilter,
  known: readonly number[] | undefined,
): ((row: number) => boolean) | undefined =>
  origin && ((row) => origin.includes(toOrigin(known, row)));

export const toOrigin = (known: readonly number[] | undefined, row: number): Origin =>
  isInRuns(known, row) ? "earlier" : "new";

/** Undefined when every address passes. The test takes an address in lower case. `text`: a part of the address, in any case. */
export const createAddressTest = (
  { domain }: RowFilter,
  text?: string | null,
): ((address: string) => boolean) | undefined => {
  const part = text?.toLowerCase();
  if (!domain && part === undefined) return undefined;
  const domains = domain && new Set(domain);
  return (address) =>
    (part === undefined || address.includes(part)) &&
    domains?.has(getDomainText(address)) !== false;
};

export const getDomainText = (address: string): string =>
  address.slice(address.lastIndexOf("@") + 1);

/** `text`: a part of the row's address, in any case. */
export const createRowTest = (
  filter: RowFilter,
  text?: string | null,
): ((values: PackedValues) => boolean) => {
  const isKind = matchesKind(filter);
  const isAddress = createAddressTest(filter, text);
  return ([, email, status, score, reason, , provider]) =>
    isKind([status, score, reason, provider]) && isAddress?.(email.toLowerCase()) !== false;
};

/** Tests the row at a position of the piece, by the same rules. Undefined when no row passes. */
export const createPieceTest = (
  piece: AddressedPiece,
  filter: RowFilter,
  text: string | undefined,
): ((at: number) => boolean) | undefined => {
  const allowed = piece.kinds.map(matchesKind(filter));
  if (!allowed.includes(true) || !piece.texts.includes(text?.toLowerCase() ?? "")) return undefined;
  const isAddress = createAddressTest(filter, text);
  const addresses = isAddress ? piece.listAddresses() : [];
  const replaced = new Set(piece.replaced);
  const isOrigin = createOriginTest(filter, piece.known);
  return (at) =>
    isOrigin?.(getRowAt(piece, at)) !== false &&
    allowed[getKindAt(piece, at)] === true &&
    !replaced.has(at) &&
    isAddress?.(addresses[at] ?? "") !== false;
};

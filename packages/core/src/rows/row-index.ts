import * as v from "valibot";
import { paginateQuery } from "../lib/paginate-query.ts";
import { prefetch } from "../lib/prefetch.ts";
import type { Item, KeyRange, Table, Write } from "../ports/table.ts";
import type { Verification } from "../verify/result.ts";
import { type Chunk, iterateChunks } from "./chunks.ts";
import type { Job } from "./items.ts";
import { type ResultPass, readResultRows, type VerifiedRow } from "./results.ts";

// Layout. An index that finds and sorts the rows of a job without reading its pages: one piece for each pass, written in the
// transaction that makes its rows count. A list has few combinations of status, score, reason and provider, so a row is
// one character, the number of its combination. Separate items store the addresses: only a search for a text and an
// order by address read them. The index is not compressed: a search reads all of it, and inflating takes longer.
//
//   pk                sk                             what
//   INDEX#<job>       <five digits>#<four digits>    the rows of a pass of a chunk, in the order of its pages
//   ADDRESSES#<job>   the same                       their addresses in lower case

/** The fields of a row that a filter and an order can use. */
export type RowKind = readonly [
  status: Verification["status"],
  score: number,
  reason: string,
  provider: string | null,
];

export type IndexPiece = {
  readonly chunk: number;
  /** Numbers the pieces of a chunk. */
  readonly pass: number;
  /** Identifies the result pages that contain the rows of this piece. */
  readonly token: string;
  readonly kinds: readonly RowKind[];
  /** A character for each row: its kind. */
  readonly kindByRow: string;
  /** The positions of rows that a later pass replaced. */
  readonly replaced?: readonly number[];
  /** The child that verified these rows again and stores their evidence. */
  readonly child?: string;
  /** The rows of the piece's chunk that an earlier list also contains, in the form of the chunk. */
  readonly known?: readonly number[];
  /** Most rows are consecutive: the positions at which a new run begins, each with its row number. The first is position 0. */
  readonly gaps: readonly number[];
};

const FIRST_KIND = 0x23;
/** Skips the quote, the backslash and surrogates. */
const toKindCharacter = (kind: number): string =>
  String.fromCharCode(FIRST_KIND + kind + (FIRST_KIND + kind >= BACKSLASH ? 1 : 0));
const BACKSLASH = 0x5c;

/** The position of the row's kind. */
export const getKindAt = ({ kindByRow }: Pick<IndexPiece, "kindByRow">, at: number): number => {
  const code = kindByRow.charCodeAt(at);
  return code - FIRST_KIND - (code > BACKSLASH ? 1 : 0);
};

export const getRowAt = ({ gaps }: Pick<IndexPiece, "gaps">, at: number): number => {
  let [low, high] = [0, gaps.length / 2 - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((gaps[middle * 2] ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return (gaps[low * 2 + 1] ?? 0) + at - (gaps[low * 2] ?? 0);
};

/** The position of the row in the piece. Undefined when another piece contains the row, or a later pass replaced it. */
export const findRow = (
  piece: Pick<IndexPiece, "gaps" | "kindByRow" | "replaced">,
  row: number,
): number | undefined => {
  const at = findPosition(piece, row);
  return at === undefined || piece.replaced?.includes(at) ? undefined : at;
};

/** The position of the row in the piece, even if a later pass has replaced the row. */
export const findPosition = (
  piece: Pick<IndexPiece, "gaps" | "kindByRow">,
  row: number,
): number | undefined => {
  let [low, high] = [0, piece.kindByRow.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (getRowAt(piece, middle) < row) low = middle + 1;
    else high = middle;
  }
  return getRowAt(piece, low) === row ? low : undefined;
};

export type IndexedJob = Pick<Job, "id" | "kind" | "total" | "chunkRows">;

const toPieceSk = (chunk: number, pass: number): string =>
  `${String(chunk).padStart(5, "0")}#${String(pass).padStart(4, "0")}`;

const toRange = (first: number, last: number): KeyRange => ({
  from: toPieceSk(first, 0),
  to: toPieceSk(last, PASSES_MAX),
});
const PASSES_MAX = 9_999;

/** The pieces of one chunk. */
export const toChunkRange = (chunk: number): KeyRange => toRange(chunk, chunk);

export const toIndexPartition = (job: string): string => `INDEX#${job}`;
export const toAddressesPartition = (job: string): string => `ADDRESSES#${job}`;

type IndexedPass = Pick<IndexPiece, "chunk" | "token" | "pass" | "child" | "known"> & {
  readonly job: Pick<Job, "id">;
};

/** The writes that make the rows of a pass findable. */
export const buildIndexWrites = (
  { job, ...pass }: IndexedPass,
  rows: readonly VerifiedRow[],
  expiresAt: number,
): readonly Write[] => {
  if (rows.length === 0) return [];
  const sk = toPieceSk(pass.chunk, pass.pass);
  const piece = createPiece(pass, rows);
  const texts = joinTexts(rows.map(({ result }) => result.email));
  return [
    { put: { pk: toIndexPartition(job.id), sk, ...piece, expires_at: expiresAt } },
    { put: { pk: toAddressesPartition(job.id), sk, texts, expires_at: expiresAt } },
  ];
};

/** The writes that mark these rows of earlier passes as replaced by a later pass. */
export const buildReplacedWrites = (
  job: string,
  pieces: readonly IndexPiece[],
  rows: readonly VerifiedRow[],
): readonly Write[] =>
  pieces.flatMap((piece) => {
    const positions = rows.flatMap(({ row }) => findRow(piece, row) ?? []);
    const { pass, chunk } = piece;
    return positions.length > 0
      ? [
          {
            update: { pk: toIndexPartition(job), sk: toPieceSk(chunk, pass) },
            set: { replaced: [...(piece.replaced ?? []), ...positions] },
          },
        ]
      : [];
  });

const createPiece = (pass: Omit<IndexedPass, "job">, rows: readonly VerifiedRow[]): IndexPiece => {
  const kinds: RowKind[] = [];
  const positions = new Map<string, number>();
  let kindByRow = "";
  for (const { result } of rows) {
    const { status, score, reason, provider } = result;
    const name = `${status} ${score} ${reason} ${provider}`;
    const earlier = positions.get(name);
    const kind = earlier ?? kinds.push([status, score, reason, provider]) - 1;
    if (earlier === undefined) positions.set(name, kind);
    kindByRow += toKindCharacter(kind);
  }
  return { ...pass, kinds, kindByRow, gaps: findGaps(rows) };
};

const findGaps = (rows: readonly VerifiedRow[]): readonly number[] =>
  rows.flatMap(({ row }, at) => (at > 0 && row === (rows[at - 1]?.row ?? 0) + 1 ? [] : [at, row]));

/** No address contains this character, and JSON does not escape it. */
const BETWEEN_TEXTS = "\u007F";

/** All addresses of a piece as one text: JSON reads it faster than a list. */
export const joinTexts = (emails: readonly string[]): string =>
  emails.map((email) => email.toLowerCase().replaceAll(BETWEEN_TEXTS, " ")).join(BETWEEN_TEXTS);

export const splitTexts = (texts: string): readonly string[] => texts.split(BETWEEN_TEXTS);

export const readTexts = (item: Item): string => v.parse(v.string(), item["texts"]);

/** The pieces of one chunk, without addresses. */
export const readChunkPieces = (
  table: Table,
  job: string,
  chunk: number,
): Promise<readonly IndexPiece[]> => {
  const query = { pk: toIndexPartition(job), sk: toChunkRange(chunk) };
  return Array.fromAsync(paginateQuery(table, query), readPiece);
};

/** The rows of a pass that a later one replaced. */
export const findReplacedRows = async (
  table: Table,
  { job, chunk, token }: ResultPass,
): Promise<ReadonlySet<number>> => {
  const pieces = await readChunkPieces(table, job, chunk);
  const piece = pieces.find((one) => one.token === token);
  return new Set(piece?.replaced?.map((at) => getRowAt(piece, at)));
};

/** The rows of a chunk that have or had a result. */
export const findIndexedRows = async (
  table: Table,
  { job, chunk }: Pick<Chunk, "job" | "chunk">,
): Promise<ReadonlySet<number>> => {
  const rows = new Set<number>();
  for (const piece of await readChunkPieces(table, job, chunk))
    for (let at = 0; at < piece.kindByRow.length; at++) rows.add(getRowAt(piece, at));
  return rows;
};

/** Skips the codec, because only `buildIndexWrites` writes these items and a search reads a thousand of them. */
const readPiece = (item: Item): IndexPiece => item as unknown as IndexPiece;

/** A piece with its addresses in lower case; empty when the caller did not read them, or they are gone. */
export type AddressedPiece = IndexPiece & {
  /** All addresses as one text, so one search excludes a whole piece. */
  readonly texts: string;
  /** One address for each row. */
  readonly listAddresses: () => readonly string[];
};

const withAddresses = (piece: IndexPiece, texts: string): AddressedPiece => {
  let addresses: readonly string[] | undefined;
  return { ...piece, texts, listAddresses: () => (addresses ??= splitTexts(texts)) };
};

/** Searching so many rows takes about 3 ms, and they have at most 6 MB of addresses. */
const SLICE_ROWS = 8_000;
/** The number of slices read ahead: each slice is a request of 10 ms on AWS. */
const SLICES_AHEAD = 2;

/**
 * The index in the order of the chunks, and of the passes of each, a slice at a time: a list has up to half a million rows,
 * and a reader never holds more than three slices.
 */
export async function* readSlices(
  table: Table,
  job: IndexedJob,
  { hasAddresses }: { readonly hasAddresses: boolean },
): AsyncGenerator<readonly AddressedPiece[]> {
  if (job.kind === "single") return yield* buildSlices(table, job);
  const rows = Math.max(1, job.chunkRows);
  const size = Math.max(1, Math.floor(SLICE_ROWS / rows));
  const chunks = Math.max(1, Math.ceil(job.total / rows));
  const starts = Array.from({ length: Math.ceil(chunks / size) }, (_, at) => at * size);
  yield* prefetch(starts, SLICES_AHEAD, async (from) => {
    const sk = toRange(from, from + size - 1);
    const readItems = (pk: string) => Array.fromAsync(paginateQuery(table, { pk, sk }));
    const [pieces, addresses] = await Promise.all([
      readItems(toIndexPartition(job.id)),
      hasAddresses ? readItems(toAddressesPartition(job.id)) : [],
    ]);
    const texts = new Map(addresses.map((item) => [item.sk, readTexts(item)]));
    return pieces.map((item) => withAddresses(readPiece(item), texts.get(item.sk) ?? ""));
  });
}

/** The whole index without addresses: a kilobyte for a chunk. */
export const readPieces = async (table: Table, job: IndexedJob): Promise<readonly IndexPiece[]> =>
  (await Array.fromAsync(readSlices(table, job, { hasAddresses: false }))).flat();

/** The job of a single address stores no index: this builds one from the row itself. */
async function* buildSlices(
  table: Table,
  job: IndexedJob,
): AsyncGenerator<readonly AddressedPiece[]> {
  for await (const chunk of iterateChunks(table, job.id))
    for (const [pass, token] of chunk.passes.entries()) {
      const rows = await readResultRows(table, { ...chunk, passes: [token] });
      if (rows.length === 0) continue;
      const texts = joinTexts(rows.map(({ result }) => result.email));
      yield [withAddresses(createPiece({ chunk: chunk.chunk, token, pass }, rows), texts)];
    }
}

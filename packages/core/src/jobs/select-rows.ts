import type { Verification } from "../verify/result.ts";
import { getKindAt, type IndexPiece, type RowIndex, type RowKind } from "./row-index.ts";
import {
  createTexts,
  getEnd,
  getPiece,
  getRow,
  type Pieces,
  POSITIONS,
  type RowRef,
  type Searched,
  type Texts,
  toRowAt,
} from "./row-refs.ts";
import { type RowOrder, type RowPosition, SORTED } from "./sort-rows.ts";

// Finds and sorts rows of a job by its index: which rows match, how many, and where one page of them is stored. A job has
// up to half a million, and callers wait, so nothing here makes an object for each row, and no more is sorted than the
// page needs (sort-rows.ts).

/** Values of one field are alternatives; different fields must all match. */
export type RowFilter = {
  readonly status?: readonly Verification["status"][];
  readonly reason?: readonly string[];
  readonly provider?: readonly string[];
  readonly score?: readonly { readonly from: number; readonly to: number }[];
};

export type RowSelection = {
  readonly filter: RowFilter;
  /** Matches addresses that contain this text. Undefined: every address. */
  readonly text: string | undefined;
  readonly order: RowOrder;
};

/** Where a row is stored: the chunk, the pages, and the position in them. */
export type FoundRow = {
  readonly chunk: number;
  readonly token: string;
  readonly at: number;
  readonly row: number;
};

export type SelectedRows = {
  readonly matching: number;
  readonly found: readonly FoundRow[];
  /** Undefined: there are no more rows. */
  readonly next: RowPosition | undefined;
};

type Start = { readonly after: RowPosition } | { readonly offset: number };

export const selectRows = async (
  index: RowIndex,
  { filter, text, order }: RowSelection,
  start: Start,
  limit: number,
  pause: () => Promise<void>,
): Promise<SelectedRows> => {
  const { pieces } = index;
  const needsTexts = text !== undefined || order.by === "email";
  const addresses = needsTexts ? await index.readAddresses() : [];
  const texts = createTexts(pieces, addresses);
  await pause();
  const rows = listMatches({ pieces, texts }, filter, text?.toLowerCase());
  await pause();
  const sorted = SORTED[order.by]({ pieces, texts, rows, isDescending: order.isDescending });
  const from = "offset" in start ? start.offset : sorted.countUpTo(start.after);
  const page = sorted.slice(from, from + limit);
  const last = page.at(-1);
  const isEnd = from + page.length >= rows.length;
  return {
    matching: rows.length,
    found: page.map((ref) => toFoundRow(pieces, ref)),
    next: last === undefined || isEnd ? undefined : sorted.toPosition(last),
  };
};

const toFoundRow = (pieces: Pieces, ref: RowRef): FoundRow => {
  const { chunk, token } = getPiece(pieces, ref);
  return { chunk, token, at: toRowAt(ref), row: getRow(pieces, ref) };
};

/** Whether a row is of a kind that passes the filter. */
export const matchesKind =
  ({ status, reason, provider, score }: RowFilter) =>
  ([itsStatus, itsScore, itsReason, itsProvider]: RowKind): boolean =>
    (!status || status.includes(itsStatus)) &&
    (!reason || reason.includes(itsReason)) &&
    (!provider || (itsProvider !== null && provider.includes(itsProvider))) &&
    (!score || score.some(({ from, to }) => from <= itsScore && itsScore <= to));

/** The rows that match, in the order of the list. */
const listMatches = (
  { pieces, texts }: Searched,
  filter: RowFilter,
  text: string | undefined,
): RowRef[] => {
  const matches: RowRef[] = [];
  const isMatch = matchesKind(filter);
  let chunkStart = 0;
  pieces.forEach((piece, pieceAt) => {
    if (pieces[pieceAt - 1]?.chunk !== piece.chunk) chunkStart = matches.length;
    const before = matches.length;
    addMatches(matches, { piece, pieceAt, texts }, isMatch, text);
    // A later pass of the chunk has rows between those of an earlier one.
    if (before === chunkStart || matches.length === before) return;
    const inChunk = matches.splice(chunkStart);
    for (const ref of inChunk.toSorted((a, b) => getRow(pieces, a) - getRow(pieces, b)))
      matches.push(ref);
  });
  return matches;
};

type SearchedPiece = {
  readonly piece: IndexPiece;
  readonly pieceAt: number;
  readonly texts: Texts;
};

const addMatches = (
  matches: RowRef[],
  { piece, pieceAt, texts }: SearchedPiece,
  isMatch: (kind: RowKind) => boolean,
  text: string | undefined,
): void => {
  const { kinds, kindByRow, replaced = [] } = piece;
  const left = new Set(replaced);
  const allowed = kinds.map(isMatch);
  if (!allowed.includes(true)) return;
  const ref = pieceAt * POSITIONS;
  if (text === undefined) {
    for (let at = 0; at < kindByRow.length; at++)
      if (allowed[getKindAt(piece, at)] && !left.has(at)) matches.push(ref + at);
    return;
  }
  const own = texts(pieceAt);
  let at = 0;
  for (let found = own.text.indexOf(text); found >= 0; ) {
    while (getEnd(own, at) < found) at++;
    if (allowed[getKindAt(piece, at)] && !left.has(at)) matches.push(ref + at);
    // Once for each address.
    found = own.text.indexOf(text, getEnd(own, at));
  }
};

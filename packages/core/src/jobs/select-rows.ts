import { createPieceTest, type RowFilter } from "./row-filter.ts";
import type { IndexPiece, RowIndex } from "./row-index.ts";
import {
  createTexts,
  findText,
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
  const needsTexts = text !== undefined || filter.domain !== undefined || order.by === "email";
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

/** The rows that match, in the order of the list. */
const listMatches = (
  { pieces, texts }: Searched,
  filter: RowFilter,
  text: string | undefined,
): RowRef[] => {
  const matches: RowRef[] = [];
  let chunkStart = 0;
  pieces.forEach((piece, pieceAt) => {
    if (pieces[pieceAt - 1]?.chunk !== piece.chunk) chunkStart = matches.length;
    const before = matches.length;
    addMatches(matches, { piece, pieceAt, texts }, filter, text);
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
  filter: RowFilter,
  text: string | undefined,
): void => {
  const { isAny, test } = createPieceTest(piece, filter);
  if (!isAny) return;
  const ref = pieceAt * POSITIONS;
  const own = text !== undefined || filter.domain ? texts(pieceAt) : undefined;
  if (text === undefined || !own) {
    for (let at = 0; at < piece.kindByRow.length; at++) if (test(at, own)) matches.push(ref + at);
    return;
  }
  findText(own, text, (at) => {
    if (test(at, own)) matches.push(ref + at);
  });
};

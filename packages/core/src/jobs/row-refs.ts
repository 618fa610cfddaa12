import { BETWEEN_TEXTS, getRowAt, type IndexPiece } from "./row-index.ts";

// How the rows of an index are named while they are selected: by numbers, without an object for each.

/** A row: the number of its piece, and its position in it. A chunk has at most 500 rows, and so has a piece. */
export type RowRef = number;
const POSITION_BITS = 13;
export const POSITIONS = 2 ** POSITION_BITS;
export const toPieceAt = (ref: RowRef): number => ref >>> POSITION_BITS;
export const toRowAt = (ref: RowRef): number => ref & (POSITIONS - 1);

export type Pieces = readonly IndexPiece[];

/** The addresses of a piece, and where each of them starts in the text: no text is cut out before it is needed. */
export type PieceTexts = { readonly text: string; readonly starts: Uint32Array };

const createPieceTexts = (text: string, rows: number): PieceTexts => {
  const starts = new Uint32Array(rows + 1);
  for (let at = 1; at < rows; at++) starts[at] = text.indexOf(BETWEEN_TEXTS, starts[at - 1]) + 1;
  starts[rows] = text.length + 1;
  return { text, starts };
};

/** Excludes what stands between two texts. */
export const getEnd = ({ starts }: PieceTexts, at: number): number => (starts[at + 1] ?? 0) - 1;

/** Calls for the position of each address that contains the text. */
export const findText = (own: PieceTexts, text: string, onFound: (at: number) => void): void => {
  let at = 0;
  for (let found = own.text.indexOf(text); found >= 0; ) {
    while (getEnd(own, at) < found) at++;
    onFound(at);
    // Once for each address.
    found = own.text.indexOf(text, getEnd(own, at));
  }
};

export const getPiece = (pieces: Pieces, ref: RowRef): IndexPiece =>
  pieces[toPieceAt(ref)] as IndexPiece;

export const getRow = (pieces: Pieces, ref: RowRef): number =>
  getRowAt(getPiece(pieces, ref), toRowAt(ref));

/** The texts of a piece are looked into when they are first asked for. */
export type Texts = (pieceAt: number) => PieceTexts;

export const createTexts = (pieces: Pieces, addresses: readonly string[]): Texts => {
  const looked: PieceTexts[] = [];
  return (pieceAt) =>
    (looked[pieceAt] ??= createPieceTexts(
      addresses[pieceAt] ?? "",
      pieces[pieceAt]?.kindByRow.length ?? 0,
    ));
};

export type Searched = { readonly pieces: Pieces; readonly texts: Texts };

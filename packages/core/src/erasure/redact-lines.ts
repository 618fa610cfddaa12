import { crc32 } from "node:zlib";
import type { Subject } from "../accounts/subject.ts";
import type { ChunkOffsets } from "../intake/input-blob.ts";
import { ERASED } from "../rows/results.ts";
import type { Verification } from "../verify/result.ts";

// Erases an address from the lines of a list. A line keeps its length, so stored offsets stay valid: spaces after the last
// cell, which JSON permits, replace the removed text.

/**
 * Undefined when the result does not show the address. The row stays, because the job counts it and the account paid for it;
 * its status identifies no person.
 */
export const redactResult = (result: Verification, subject: Subject): Verification | undefined => {
  const { email, ai, evidence: _, receipt: __, receiptClaims: ___, enrichment, ...others } = result;
  if (subject.matches(email))
    return {
      ...others,
      email: ERASED,
      enrichment: { ...enrichment, first_name: null, last_name: null, full_name: "" },
      ...(ai && { ai: { ...ai, typoSuggestion: null, typoConfidence: null } }),
    };
  if (!ai?.typoSuggestion || !subject.matches(ai.typoSuggestion)) return undefined;
  return { ...result, ai: { ...ai, typoSuggestion: null, typoConfidence: null } };
};

type Row = readonly [row: number, emailOrWhy: number | string, ...cells: string[]];

type RedactRow = (row: Row) => Row | undefined;

/** Redacts a row of the input: all cells of the person's own row, or the cells in another person's row that mention the address. */
export const redactInputRow =
  (subject: Subject): RedactRow =>
  ([row, email, ...cells]) => {
    if (typeof email === "string" && subject.matches(email))
      return [row, "", ...cells.map(() => "")];
    if (!cells.some(subject.isMentionedIn)) return undefined;
    return [row, email, ...cells.map((cell) => (subject.isMentionedIn(cell) ? "" : cell))];
  };

/** Redacts a row that was not verified, such as a duplicate of the person's row. */
export const redactExcludedRow =
  (subject: Subject): RedactRow =>
  ([row, why, ...cells]) =>
    cells.some(subject.isMentionedIn) ? [row, why, ...cells.map(() => "")] : undefined;

const LINE_FEED = 10;

/** Yields the content with every row redacted. Calls `onRow` for each row that changes. */
export async function* redactLines(
  content: AsyncIterable<Uint8Array>,
  { subject, redactRow, onRow }: LineOptions,
): AsyncGenerator<Uint8Array> {
  let partial = Buffer.alloc(0);
  for await (const piece of content) {
    const bytes = Buffer.concat([partial, piece]);
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    partial = Buffer.from(bytes.subarray(end));
    if (end > 0) yield redactBlock(bytes.subarray(0, end), { subject, redactRow, onRow });
  }
  if (partial.length > 0) yield partial;
}

export type LineOptions = {
  readonly subject: Subject;
  readonly redactRow: RedactRow;
  readonly onRow: () => void;
};

const redactBlock = (block: Buffer, { subject, redactRow, onRow }: LineOptions): Buffer => {
  const redacted = Buffer.from(block);
  for (let from = 0; from < block.length; ) {
    const to = block.indexOf(LINE_FEED, from);
    const line = block.toString("utf8", from, to);
    // Parses only lines that may contain the address: a list has half a million lines.
    if (mayShow(subject, line)) {
      const row = redactRow(JSON.parse(line) as Row);
      if (row) {
        onRow();
        pad(JSON.stringify(row), to - from).copy(redacted, from);
      }
    }
    from = to + 1;
  }
  return redacted;
};

/** A quick check: every spelling of the address contains the domain in one of its two forms. */
const mayShow = ({ address, canonical }: Subject, line: string): boolean => {
  const lower = line.toLowerCase();
  const [domain, display] = [address?.domain ?? canonical, address?.display ?? canonical];
  return lower.includes(domain) || lower.includes(display.slice(display.lastIndexOf("@") + 1));
};

const pad = (json: string, length: number): Buffer => {
  const spaces = length - Buffer.byteLength(json);
  if (spaces < 0) throw new Error("a redacted row is longer than it was");
  return Buffer.from(`${json.slice(0, -1)}${" ".repeat(spaces)}]`);
};

export async function* sumChunks(
  content: AsyncIterable<Uint8Array>,
  chunks: ChunkOffsets,
  checksums: number[],
): AsyncGenerator<Uint8Array> {
  let [at, chunk, sum] = [0, 0, 0];
  for await (const piece of content) {
    for (let from = 0; from < piece.length; ) {
      const end = chunks[chunk + 1] ?? Number.POSITIVE_INFINITY;
      const part = piece.subarray(from, from + Math.min(piece.length - from, end - at));
      sum = crc32(part, sum);
      at += part.length;
      from += part.length;
      if (at < end) continue;
      checksums.push(sum);
      sum = 0;
      chunk += 1;
    }
    yield piece;
  }
}

import { isAddress } from "@mailproof/mail/address";
import { parseAddressCell } from "@mailproof/mail/address-cell";
import { isAscii } from "@mailproof/mail/syntax";
import type { Blobs } from "../ports/blobs.ts";
import { type ByteText, toByteText } from "./byte-text.ts";
import {
  createExcludedWriter,
  type EncodedExcludedRow,
  type ExcludedBlob,
  type ExcludedWriter,
  toExcludedKey,
} from "./excluded-rows.ts";
import { ROW_TOO_LONG, SETTLED_ELSEWHERE } from "./exclusion.ts";
import { type EncodedRow, type WrittenInput, writeInput } from "./input-blob.ts";
import {
  createJunkFault,
  createNoAddressesFault,
  createTooLargeFault,
  createTooManyFault,
  type IntakeFault,
  type ListFormat,
  type ListOptions,
  type ListRow,
  type OpenedList,
  openList,
} from "./open-list.ts";
import { createTextSet, type TextSet } from "./text-set.ts";
import { createTopDomains, type TopDomains } from "./top-domains.ts";
import { createSettledCounter, type SettledCounter } from "./vendors.ts";

/** The result of ingesting a list: a written input that contains each address once. */
export type ListIntake = WrittenInput & {
  /** The number of submitted texts, including those that are not addresses. */
  readonly totalSubmitted: number;
  readonly duplicatesRemoved: number;
  readonly unique: number;
  /** In descending order of frequency. */
  readonly domains: readonly string[];
  /** Null when every row is verified. */
  readonly excluded: ExcludedBlob | null;
};

export type SkippedRow = { readonly row: number; readonly text: string; readonly reason: string };

export type FileIntake = ListIntake & {
  readonly kind: "ingested";
  readonly format: ListFormat;
  readonly invalidSkipped: number;
  /** The rows that were left out for the verdict of another service. */
  readonly settledSkipped: number;
  /** The addresses that `skipSettled` leaves out. */
  readonly settled: number;
  readonly isSettled: (canonical: string) => boolean;
  readonly skippedSample: readonly SkippedRow[];
  /** The row of an address in its canonical form; 0: the list does not have it. */
  readonly findRow: (canonical: string) => number;
};

export type FileIntakeOptions = ListOptions & {
  readonly key: string;
  readonly addressesMax: number;
  readonly bytesMax: number;
  readonly rowsPerChunk: number;
  /** Leaves out the rows whose address another service's verdict settles. */
  readonly skipSettled?: boolean | undefined;
  /** Receives each row that is verified, in order. */
  readonly onRow?: ((row: EncodedRow) => void) | undefined;
};

export type IntakePorts = {
  readonly blobs: Pick<Blobs, "put">;
  /** The intake calls `pause` after some rows, so that a long list delays no other request. Undefined means no pause. */
  readonly pause: () => Promise<void> | undefined;
};

/**
 * Reads a list once, from start to end, and holds little more in memory than its addresses. On a fault it stops and writes
 * nothing. It always closes the source.
 */
export const ingestFile = async (
  { blobs, pause }: IntakePorts,
  source: AsyncIterable<Uint8Array>,
  { key, addressesMax, bytesMax, rowsPerChunk, skipSettled, onRow, ...options }: FileIntakeOptions,
): Promise<FileIntake | IntakeFault> => {
  // Only an error aborts a put, and the adapter may wrap the error.
  let fault: IntakeFault | undefined;
  const refuse: Refuse = (found) => {
    fault = found;
    throw new Error(found.message);
  };
  const bytes = limitBytes(bytesMax, source, refuse);
  const writer = createExcludedWriter(blobs, toExcludedKey(key));
  try {
    const opened = await openList(bytes, options);
    if (opened.kind === "fault") return opened;
    const tally = createCounts();
    const domains = createTopDomains();
    const countMax = Math.min(addressesMax, Math.ceil(bytesMax / ADDRESS_BYTES_MIN)) + 1;
    const seen = createTextSet(countMax);
    const settled = createSettledCounter(opened.format.vendor, countMax);
    const rows = readAddresses(opened, {
      counts: tally,
      domains,
      seen,
      settled,
      skipSettled,
      writer,
      addressesMax,
      refuse,
      pause,
      onRow,
    });
    const written = await writeInput(blobs, key, rows, rowsPerChunk);
    const excluded = await writer.end();
    const { isAscii: areExcludedAscii, ...counts } = tally;
    return {
      kind: "ingested",
      ...written,
      ...counts,
      domains: domains.list(),
      isAscii: written.isAscii && areExcludedAscii,
      format: { ...opened.format, encoding: opened.encoding() },
      excluded,
      findRow: seen.find,
      settled: settled.count(),
      isSettled: settled.has,
    };
  } catch (error) {
    await writer.abort();
    if (fault) return fault;
    throw error;
  } finally {
    // A put may fail before it starts to read.
    await bytes.return(undefined);
  }
};

export type BatchIntakeOptions = { readonly key: string; readonly rowsPerChunk: number };

/** A text that is not an address stays in the input, and its result is `invalid`. */
export const ingestBatch = async (
  blobs: Pick<Blobs, "put">,
  emails: readonly string[],
  { key, rowsPerChunk }: BatchIntakeOptions,
): Promise<ListIntake> => {
  const seen = new Map<string, number>();
  const rows: EncodedRow[] = [];
  const repeats: EncodedExcludedRow[] = [];
  const domains = createTopDomains();
  for (const [index, email] of emails.entries()) {
    const text = email.trim();
    const parsed = parseAddressCell(text);
    // No canonical form starts with a space, so a text that is not an address never equals an address.
    const [shown, identity] = isAddress(parsed)
      ? [parsed.display, parsed.canonical]
      : [text, ` ${text}`];
    const firstRow = seen.get(identity);
    if (firstRow === undefined) {
      seen.set(identity, index + 1);
      if (isAddress(parsed)) domains.add(parsed.display);
      rows.push([index + 1, toByteText(shown), toByteText(email === shown ? "" : email)]);
    } else repeats.push([index + 1, firstRow, toByteText(email)]);
  }
  const writer = createExcludedWriter(blobs, toExcludedKey(key));
  if (repeats.length > 0) await writer.write(repeats);
  const excluded = await writer.end();
  const written = await writeInput(blobs, key, toIterable(rows), rowsPerChunk);
  const unique = rows.length;
  const totalSubmitted = emails.length;
  const duplicatesRemoved = totalSubmitted - unique;
  return {
    ...written,
    totalSubmitted,
    duplicatesRemoved,
    unique,
    domains: domains.list(),
    excluded,
  };
};

type Refuse = (fault: IntakeFault) => never;

async function* limitBytes(
  bytesMax: number,
  source: AsyncIterable<Uint8Array>,
  refuse: Refuse,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of source) {
    bytes += piece.length;
    if (bytes > bytesMax) refuse(createTooLargeFault(bytesMax));
    yield piece;
  }
}

type IntakeCounts = {
  totalSubmitted: number;
  duplicatesRemoved: number;
  invalidSkipped: number;
  settledSkipped: number;
  unique: number;
  isAscii: boolean;
  readonly skippedSample: SkippedRow[];
};

const createCounts = (): IntakeCounts => ({
  totalSubmitted: 0,
  duplicatesRemoved: 0,
  invalidSkipped: 0,
  settledSkipped: 0,
  unique: 0,
  isAscii: true,
  skippedSample: [],
});

type IntakeState = {
  readonly counts: IntakeCounts;
  readonly domains: TopDomains;
  readonly seen: TextSet;
  readonly settled: SettledCounter;
  readonly skipSettled: boolean | undefined;
  readonly writer: ExcludedWriter;
  readonly addressesMax: number;
  readonly refuse: Refuse;
  readonly pause: IntakePorts["pause"];
  readonly onRow: FileIntakeOptions["onRow"];
};

/** The shortest address with its line end; it bounds the number of addresses in a file. */
const ADDRESS_BYTES_MIN = 4;

/**
 * The intake gives up after 10,000 rows with text but no address. Rows with an empty cell do not count: a list that is sorted
 * by address starts with them.
 */
const TEXTS_BEFORE_ADDRESS_MAX = 10_000;

/** Reading 500 rows takes about a millisecond. */
const ROWS_WITHOUT_PAUSE = 500;

async function* readAddresses(
  { rows }: OpenedList,
  state: IntakeState,
): AsyncGenerator<readonly EncodedRow[]> {
  const { counts, domains, seen, settled, writer, addressesMax, refuse, pause, onRow } = state;
  let texts = 0;
  let withoutPause = 0;
  for await (const batch of rows) {
    const accepted: EncodedRow[] = [];
    const excluded: EncodedExcludedRow[] = [];
    counts.totalSubmitted += batch.length;
    for (const row of batch) {
      withoutPause += 1;
      if (withoutPause > ROWS_WITHOUT_PAUSE) {
        withoutPause = 1;
        await pause();
      }
      const parsed = parseAddressCell(row.email);
      if (!isAddress(parsed)) {
        const { fault } = row.cells.length === 0 ? ROW_TOO_LONG : parsed;
        counts.invalidSkipped += 1;
        if (row.email !== "") texts += 1;
        excluded.push([row.line, fault, ...row.cells]);
        if (counts.skippedSample.length < SKIPPED_SAMPLE_MAX)
          counts.skippedSample.push(toSkippedRow(row, fault));
        continue;
      }
      if (settled.add(parsed.canonical, row.line, row.cells) && state.skipSettled) {
        counts.settledSkipped += 1;
        excluded.push([row.line, SETTLED_ELSEWHERE.fault, ...row.cells]);
        continue;
      }
      const firstRow = seen.add(parsed.canonical, row.line);
      if (firstRow > 0) {
        counts.duplicatesRemoved += 1;
        excluded.push([row.line, firstRow, ...row.cells]);
      } else {
        const own = toInputRow(row, parsed.display);
        accepted.push(own);
        onRow?.(own);
        domains.add(parsed.display);
      }
    }
    counts.unique += accepted.length;
    if (counts.unique > addressesMax) refuse(createTooManyFault(addressesMax));
    const isJunk = counts.unique === 0 && texts > TEXTS_BEFORE_ADDRESS_MAX;
    if (isJunk) refuse(createJunkFault(counts.totalSubmitted));
    if (accepted.length > 0) yield accepted;
    if (excluded.length === 0) continue;
    counts.isAscii &&= excluded.every(([, , ...cells]) => cells.every(isAscii));
    await writer.write(excluded);
  }
  if (counts.unique === 0) refuse(createNoAddressesFault(counts.totalSubmitted));
}

/** Ten rows are enough to show the problem of a list. */
const SKIPPED_SAMPLE_MAX = 10;
const SKIPPED_TEXT_MAX = 100;

const toSkippedRow = ({ record: row, email }: ListRow, reason: string): SkippedRow => ({
  row,
  text: email.length > SKIPPED_TEXT_MAX ? `${email.slice(0, SKIPPED_TEXT_MAX - 1)}…` : email,
  reason,
});

/** Keeps all cells of the row; the e-mail cell is empty when it equals the address. */
const toInputRow = ({ line, cells, column }: ListRow, email: string): EncodedRow => {
  const address = toByteText(email);
  const row: [number, ByteText, ...ByteText[]] = [line, address];
  for (let at = 0; at < cells.length; at += 1) {
    const cell = cells[at] ?? "";
    row.push(at === column && cell === address ? "" : cell);
  }
  return row;
};

async function* toIterable(rows: readonly EncodedRow[]): AsyncGenerator<readonly EncodedRow[]> {
  yield rows;
}

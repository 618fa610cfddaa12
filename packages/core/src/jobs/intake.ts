import type { Blobs } from "../blobs.ts";
import { isAddress } from "../mail/address.ts";
import { isAscii } from "../mail/syntax.ts";
import type { World } from "../world.ts";
import { ROW_TOO_LONG, readAddressCell } from "./address-cell.ts";
import { type ByteText, toByteText } from "./byte-text.ts";
import {
  type ExcludedWriter,
  excludedKeyOf,
  excludedWriter,
  type WrittenExcludedRow,
} from "./excluded-rows.ts";
import { type WrittenInput, type WrittenRow, writeInput } from "./input-blob.ts";
import type { Excluded } from "./input-facts.ts";
import {
  isListFault,
  type ListFacts,
  type ListFault,
  type ListOptions,
  type ListRow,
  type OpenedList,
  openList,
} from "./list.ts";
import { type TextSet, textSet } from "./text-set.ts";

/** What came of a list: an input that is written and holds each address once. */
export type Intake = WrittenInput & {
  /** Those of no address among them. */
  readonly totalSubmitted: number;
  readonly duplicatesRemoved: number;
  /** The addresses that are left. */
  readonly unique: number;
  /** All other rows; null where there are none. */
  readonly excluded: Excluded | null;
};

/** A row that is not verified, for people: its text is cut short. */
export type SkippedRow = { readonly row: number; readonly text: string; readonly reason: string };

export type FileIntake = Intake & {
  readonly facts: ListFacts;
  readonly invalidSkipped: number;
  /** The first rows that hold no address. */
  readonly skippedSample: readonly SkippedRow[];
};

export type IntakeFault =
  | ListFault
  | { readonly fault: "no_addresses" | "too_many" | "too_large"; readonly message: string };

export type FileOptions = ListOptions & {
  /** Of the input that is written. */
  readonly key: string;
  readonly addressesMax: number;
  /** Of the file. */
  readonly bytesMax: number;
  readonly rowsPerChunk: number;
};

/**
 * Reads a list once, from its first byte to its last, and holds little more of it than its addresses. On a fault
 * nothing is written, and no more is read than shows the fault. In any case the source is closed.
 */
export const takeInFile = async (
  { blobs, sleep }: Pick<World, "sleep"> & { readonly blobs: Pick<Blobs, "put"> },
  source: AsyncIterable<Uint8Array>,
  { key, addressesMax, bytesMax, rowsPerChunk, ...options }: FileOptions,
): Promise<FileIntake | IntakeFault> => {
  // Only an error makes a store give up a put, and a store may wrap it into one of its own.
  let fault: IntakeFault | undefined;
  const refuse: Refuse = (found) => {
    fault = found;
    throw new Error(found.message);
  };
  const bytes = upTo(bytesMax, source, refuse);
  const excluding = excludedWriter(blobs, excludedKeyOf(key));
  try {
    const opened = await openList(bytes, options);
    if (isListFault(opened)) return opened;
    const tally = newTally();
    const seen = textSet(Math.min(addressesMax, Math.ceil(bytesMax / ADDRESS_BYTES_MIN)) + 1);
    const pause = () => sleep(0);
    const rows = addressesOf(opened, { tally, seen, excluding, addressesMax, refuse, pause });
    const written = await writeInput(blobs, key, rows, rowsPerChunk);
    const excluded = await excluding.end();
    const { isAscii: areExcludedAscii, ...counts } = tally;
    return {
      ...written,
      ...counts,
      isAscii: written.isAscii && areExcludedAscii,
      facts: { ...opened.facts, encoding: opened.encoding() },
      excluded,
    };
  } catch (error) {
    await excluding.abort();
    if (fault) return fault;
    throw error;
  } finally {
    // A put may fail before it begins to read.
    await bytes.return(undefined);
  }
};

export type BatchOptions = { readonly key: string; readonly rowsPerChunk: number };

/** What is no address stays in it, and is verified as what it is. */
export const takeInBatch = async (
  blobs: Pick<Blobs, "put">,
  emails: readonly string[],
  { key, rowsPerChunk }: BatchOptions,
): Promise<Intake> => {
  const seen = new Map<string, number>();
  const rows: WrittenRow[] = [];
  const repeats: WrittenExcludedRow[] = [];
  for (const [index, email] of emails.entries()) {
    const text = email.trim();
    const parsed = readAddressCell(text);
    // No canonical form begins with a blank, so a text that is no address never stands for one.
    const [shown, same] = isAddress(parsed)
      ? [parsed.display, parsed.canonical]
      : [text, ` ${text}`];
    const before = seen.get(same);
    if (before === undefined) {
      seen.set(same, index + 1);
      rows.push([index + 1, toByteText(shown), toByteText(email === shown ? "" : email)]);
    } else repeats.push([index + 1, before, toByteText(email)]);
  }
  const excluding = excludedWriter(blobs, excludedKeyOf(key));
  if (repeats.length > 0) await excluding.write(repeats);
  const excluded = await excluding.end();
  const written = await writeInput(blobs, key, only(rows), rowsPerChunk);
  const unique = rows.length;
  const totalSubmitted = emails.length;
  const duplicatesRemoved = totalSubmitted - unique;
  return { ...written, totalSubmitted, duplicatesRemoved, unique, excluded };
};

type Refuse = (fault: IntakeFault) => never;

async function* upTo(
  bytesMax: number,
  source: AsyncIterable<Uint8Array>,
  refuse: Refuse,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of source) {
    bytes += piece.length;
    if (bytes > bytesMax) refuse(tooLarge(bytesMax));
    yield piece;
  }
}

type Tally = {
  totalSubmitted: number;
  duplicatesRemoved: number;
  invalidSkipped: number;
  unique: number;
  /** Of the rows that are not verified. */
  isAscii: boolean;
  readonly skippedSample: SkippedRow[];
};

const newTally = (): Tally => ({
  totalSubmitted: 0,
  duplicatesRemoved: 0,
  invalidSkipped: 0,
  unique: 0,
  isAscii: true,
  skippedSample: [],
});

type Taking = {
  readonly tally: Tally;
  readonly seen: TextSet;
  readonly excluding: ExcludedWriter;
  readonly addressesMax: number;
  readonly refuse: Refuse;
  readonly pause: () => Promise<void>;
};

/** The shortest address and its line end: a small file has no room for many. */
const ADDRESS_BYTES_MIN = 4;

/**
 * A file of which so many rows hold a text and none of them is an address is not read to its end. Rows that hold none
 * do not count: a list that is sorted by its addresses may well begin with them.
 */
const TEXTS_BEFORE_ADDRESS_MAX = 10_000;

/** About ten milliseconds. */
const SKIPPED_WITHOUT_PAUSE = 4_000;

async function* addressesOf(
  { facts: { emailColumn }, rows }: OpenedList,
  { tally, seen, excluding, addressesMax, refuse, pause }: Taking,
): AsyncGenerator<readonly WrittenRow[]> {
  let texts = 0;
  let pauseAt = SKIPPED_WITHOUT_PAUSE;
  for await (const batch of rows) {
    const kept: WrittenRow[] = [];
    const excluded: WrittenExcludedRow[] = [];
    tally.totalSubmitted += batch.length;
    for (const row of batch) {
      const parsed = readAddressCell(row.email);
      if (!isAddress(parsed)) {
        const { fault } = row.cells.length === 0 ? ROW_TOO_LONG : parsed;
        tally.invalidSkipped += 1;
        if (row.email !== "") texts += 1;
        excluded.push([row.line, fault, ...row.cells]);
        if (tally.skippedSample.length < SKIPPED_SAMPLE_MAX)
          tally.skippedSample.push(skippedRow(row, fault));
        continue;
      }
      const before = seen.add(parsed.canonical, row.line);
      if (before > 0) {
        tally.duplicatesRemoved += 1;
        excluded.push([row.line, before, ...row.cells]);
      } else kept.push(inputRow(row, parsed.display, emailColumn));
    }
    tally.unique += kept.length;
    if (tally.unique > addressesMax) refuse(tooMany(addressesMax));
    const isJunk = tally.unique === 0 && texts > TEXTS_BEFORE_ADDRESS_MAX;
    if (isJunk) refuse(noneAmongFirst(tally.totalSubmitted));
    if (kept.length > 0) yield kept;
    if (excluded.length === 0) continue;
    tally.isAscii &&= excluded.every(([, , ...cells]) => cells.every(isAscii));
    await excluding.write(excluded);

    // Rows that are kept are written, and others have their turn meanwhile. Rows that are skipped leave them none.
    if (tally.duplicatesRemoved + tally.invalidSkipped < pauseAt) continue;
    pauseAt += SKIPPED_WITHOUT_PAUSE;
    await pause();
  }
  if (tally.unique === 0) refuse(noAddresses(tally.totalSubmitted));
}

/** Enough to see what is wrong with a list. */
const SKIPPED_SAMPLE_MAX = 10;
const SKIPPED_TEXT_MAX = 100;

const skippedRow = ({ line: row, email }: ListRow, reason: string): SkippedRow => ({
  row,
  text: email.length > SKIPPED_TEXT_MAX ? `${email.slice(0, SKIPPED_TEXT_MAX - 1)}…` : email,
  reason,
});

/** All of its cells; the e-mail cell is empty where it reads as the address does. */
const inputRow = ({ line, cells }: ListRow, email: string, emailColumn: number): WrittenRow => {
  const address = toByteText(email);
  const row: [number, ByteText, ...ByteText[]] = [line, address];
  for (let at = 0; at < cells.length; at += 1) {
    const cell = cells[at] ?? "";
    row.push(at === emailColumn && cell === address ? "" : cell);
  }
  return row;
};

async function* only(rows: readonly WrittenRow[]): AsyncGenerator<readonly WrittenRow[]> {
  yield rows;
}

const tooLarge = (bytesMax: number): IntakeFault => ({
  fault: "too_large",
  message: `The file is larger than ${shown(bytesMax)} bytes.`,
});

const tooMany = (addressesMax: number): IntakeFault => ({
  fault: "too_many",
  message: `The file holds more than ${shown(addressesMax)} addresses.`,
});

const noAddresses = (rows: number): IntakeFault => ({
  fault: "no_addresses",
  message: `The file holds no address: ${whyNone(rows)}.`,
});

const noneAmongFirst = (rows: number): IntakeFault => ({
  fault: "no_addresses",
  message: `The first ${shown(rows)} rows of the file hold no address.`,
});

const whyNone = (rows: number): string => {
  if (rows === 0) return "there is no row below its head";
  return rows === 1 ? "its one row is none" : `all its ${shown(rows)} rows are none`;
};

const shown = (count: number): string => count.toLocaleString("en");

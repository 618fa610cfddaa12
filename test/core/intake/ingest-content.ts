import { toText } from "@mailproof/core/intake/byte-text";
import { type ExcludedRow, openExcludedReader } from "@mailproof/core/intake/excluded-rows";
import {
  type FileIntake,
  type FileIntakeOptions,
  ingestFile,
  type ListIntake,
} from "@mailproof/core/intake/ingest";
import { type InputRow, readInput } from "@mailproof/core/intake/input-blob";
import {
  type IntakeFault,
  type ListFault,
  type ListFormat,
  type ListOptions,
  type ListRow,
  openList,
} from "@mailproof/core/intake/open-list";
import type { Blobs } from "@mailproof/core/ports/blobs";
import { createMemoryBlobs } from "../../simulation/memory-blobs.ts";

export const KEY = "inputs/job_1";

/** One ingested list: its outcome, its key, and how often it yielded to other work. */
export const ingestContent = async (
  content: string | AsyncIterable<Uint8Array>,
  options: Partial<FileIntakeOptions> = {},
  blobs: Pick<Blobs, "put"> = createMemoryBlobs(),
): Promise<{ readonly outcome: FileIntake | IntakeFault; readonly pauses: number }> => {
  let pauses = 0;
  const pause = async () => {
    pauses += 1;
  };
  const source = typeof content === "string" ? getPieces(Buffer.from(content)) : content;
  const limits = { key: KEY, addressesMax: 500_000, bytesMax: 100_000_000, rowsPerChunk: 500 };
  const outcome = await ingestFile({ blobs, pause }, source, { ...limits, ...options });
  return { outcome, pauses };
};

/** For a list without a fault: all rows that were written. */
export const ingestRows = async (
  content: string | AsyncIterable<Uint8Array>,
  options: Partial<FileIntakeOptions> = {},
): Promise<FileIntake & { readonly rows: readonly InputRow[] }> => {
  const blobs = createMemoryBlobs();
  const { outcome } = await ingestContent(content, options, blobs);
  if ("fault" in outcome) throw new Error(outcome.message);
  return { ...outcome, rows: await listInputRows(blobs, outcome) };
};

export const listInputRows = async (
  blobs: Pick<Blobs, "get">,
  { input, ...stored }: Pick<ListIntake, "input" | "chunks" | "checksums">,
): Promise<readonly InputRow[]> => {
  const all = await readInput(blobs, input, stored);
  if (!all) throw new Error("The input is gone.");
  return (await Array.fromAsync(all)).flat();
};

export const listExcludedRows = async (
  blobs: Pick<Blobs, "get">,
  { excluded }: Pick<ListIntake, "excluded">,
): Promise<readonly ExcludedRow[]> => {
  if (!excluded) return [];
  const { before, close } = openExcludedReader(blobs, excluded);
  const rows: ExcludedRow[] = [];
  for (let some = await before(Infinity); some.length > 0; some = await before(Infinity))
    rows.push(...some);
  await close();
  return rows;
};

export type ReadList = { readonly info: ListFormat; readonly rows: readonly ListRow[] };

export async function* getPieces(bytes: Uint8Array, length = 65_536): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

export const readList = async (
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
  options: ListOptions = {},
): Promise<ReadList | ListFault> => {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  const opened = await openList(bytes instanceof Uint8Array ? getPieces(bytes) : bytes, options);
  if (opened.kind === "fault") return opened;
  const rows = (await Array.fromAsync(opened.rows)).flat();
  const read = rows.map((row) => ({ ...row, cells: row.cells.map(toText) }));
  return { info: opened.format, rows: read };
};

/** For a list that has no fault. */
export const listRows = async (
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
  options: ListOptions = {},
): Promise<ReadList> => {
  const read = await readList(content, options);
  if ("fault" in read) throw new Error(read.message);
  return read;
};

export const listEmails = async (
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
  options: ListOptions = {},
): Promise<readonly string[]> => (await listRows(content, options)).rows.map(({ email }) => email);

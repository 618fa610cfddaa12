import { type ExcludedRow, openExcludedReader } from "@mailproof/core/intake/excluded-rows";
import {
  type FileIntake,
  type FileIntakeOptions,
  type IntakeFault,
  ingestFile,
  type ListIntake,
} from "@mailproof/core/intake/ingest";
import { type InputRow, readInput } from "@mailproof/core/intake/input-blob";
import type { Blobs } from "@mailproof/core/ports/blobs";
import { createMemoryBlobs } from "../../simulation/memory-blobs.ts";
import { getPieces } from "./read-list.ts";

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

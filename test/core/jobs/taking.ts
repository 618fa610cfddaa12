import type { Blobs } from "@mailproof/core/blobs";
import { type ExcludedRow, excludedReader } from "@mailproof/core/jobs/excluded-rows";
import { type InputRow, readInput } from "@mailproof/core/jobs/input-blob";
import {
  type FileIntake,
  type FileOptions,
  type Intake,
  type IntakeFault,
  takeInFile,
} from "@mailproof/core/jobs/intake";
import { memoryBlobs } from "../../simulation/memory-blobs.ts";
import { piecesOf } from "./read-list.ts";

export const KEY = "inputs/job_1";

/** A list taken in by itself: what came of it, where it is, and how often others had their turn. */
export const taken = async (
  content: string | AsyncIterable<Uint8Array>,
  options: Partial<FileOptions> = {},
  blobs: Pick<Blobs, "put"> = memoryBlobs(),
): Promise<{ readonly came: FileIntake | IntakeFault; readonly pauses: number }> => {
  let pauses = 0;
  const sleep = async () => {
    pauses += 1;
  };
  const source = typeof content === "string" ? piecesOf(Buffer.from(content)) : content;
  const limits = { key: KEY, addressesMax: 500_000, bytesMax: 100_000_000, rowsPerChunk: 500 };
  const came = await takeInFile({ blobs, sleep }, source, { ...limits, ...options });
  return { came, pauses };
};

/** For a list that has no fault: every row that was written, in one go. */
export const rowsTaken = async (
  content: string | AsyncIterable<Uint8Array>,
  options: Partial<FileOptions> = {},
): Promise<FileIntake & { readonly rows: readonly InputRow[] }> => {
  const blobs = memoryBlobs();
  const { came } = await taken(content, options, blobs);
  if ("fault" in came) throw new Error(came.message);
  return { ...came, rows: await rowsOf(blobs, came) };
};

export const rowsOf = async (
  blobs: Pick<Blobs, "get">,
  { input, ...stored }: Pick<Intake, "input" | "chunks"> & Partial<Pick<Intake, "checksums">>,
): Promise<readonly InputRow[]> => {
  const all = await readInput(blobs, input, stored);
  if (!all) throw new Error("The input is gone.");
  return (await Array.fromAsync(all)).flat();
};

export const excludedOf = async (
  blobs: Pick<Blobs, "get">,
  { excluded }: Pick<Intake, "excluded">,
): Promise<readonly ExcludedRow[]> => {
  if (!excluded) return [];
  const { before, close } = excludedReader(blobs, excluded);
  const rows: ExcludedRow[] = [];
  for (let some = await before(Infinity); some.length > 0; some = await before(Infinity))
    rows.push(...some);
  await close();
  return rows;
};

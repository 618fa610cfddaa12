import * as v from "valibot";
import { ExcludedBlob } from "../intake/excluded-rows.ts";
import type { ChunkChecksums, ChunkOffsets } from "../intake/input-blob.ts";
import { toEpochSeconds } from "../lib/time.ts";
import { BLOB_RETENTION_DAYS } from "../ports/blobs.ts";
import type { Item, Table } from "../ports/table.ts";
import { toJobKey } from "./items.ts";

// The metadata of a job's input, in an item next to the job's own (items.ts draws both).

const InputItem = v.object({
  chunks: v.array(v.number()),
  columns: v.array(v.string()),
  emailColumn: v.nullable(
    v.object({
      name: v.string(),
      at: v.number(),
      /** The further address columns of a list with several. Absent in 0.2.0. */
      others: v.optional(v.array(v.number())),
    }),
  ),
  isAscii: v.boolean(),
  checksums: v.array(v.number()),
  delimiter: v.string(),
  excluded: v.nullable(ExcludedBlob),
  rev: v.number(),
});

export type EmailColumn = {
  readonly name: string;
  readonly at: number;
  readonly others?: readonly number[] | undefined;
};

/** The byte offsets of a job's chunks, and the format of their file. */
export type InputMetadata = {
  readonly chunks: ChunkOffsets;
  /** The checksum of each chunk. */
  readonly checksums: ChunkChecksums;
  /** The names of the other columns. */
  readonly columns: readonly string[];
  /** The name and index of the first e-mail column, and the indexes of the other e-mail columns. Null when the job is not from a file. */
  readonly emailColumn: EmailColumn | null;
  readonly isAscii: boolean;
  /** The list's delimiter; "" if it has one column. */
  readonly delimiter: string;
  /** Null when the job verifies every row. */
  readonly excluded: ExcludedBlob | null;
};

/** `rev`: the number of replacements of the list, one for each erasure of an address. */
export type StoredInputMetadata = InputMetadata & { readonly rev: number };

/** The item is retained as long as the lines that it points to. */
export const toInputItem = (job: string, metadata: InputMetadata, now: Date): Item => ({
  ...toInputKey(job),
  ...metadata,
  rev: 0,
  expires_at: toEpochSeconds(now) + BLOB_RETENTION_DAYS["inputs/"] * 86_400,
});

export const toInputKey = (job: string) => ({ ...toJobKey(job), sk: "INPUT" });

export const findInputMetadata = async (
  table: Table,
  job: string,
): Promise<StoredInputMetadata> => {
  const item = await table.get(toInputKey(job));
  if (!item) throw new Error(`the job ${job} has no input`);
  return v.parse(InputItem, item);
};

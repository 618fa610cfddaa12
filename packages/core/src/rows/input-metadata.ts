import * as v from "valibot";
import { ExcludedBlob } from "../intake/excluded-rows.ts";
import { toEpochSeconds } from "../lib/time.ts";
import { BLOB_RETENTION_DAYS } from "../ports/blobs.ts";
import type { Item, Table } from "../ports/table.ts";
import { toJobKey } from "./items.ts";

// The metadata of a job's input, in an item next to the job's own (items.ts draws both).

const Numbers = v.pipe(v.array(v.number()), v.readonly());

const InputItem = v.object({
  /** The byte offsets of the job's chunks, and the checksum of each chunk. */
  chunks: Numbers,
  checksums: Numbers,
  /** The names of the other columns. */
  columns: v.pipe(v.array(v.string()), v.readonly()),
  /** The name and index of the first e-mail column. Null when the job is not from a file. */
  emailColumn: v.nullable(
    v.object({
      name: v.string(),
      at: v.number(),
      /** The indexes of the further e-mail columns of a list with several. Absent in 0.2.0. */
      others: v.optional(Numbers),
    }),
  ),
  isAscii: v.boolean(),
  /** The list's delimiter; "" if it has one column. */
  delimiter: v.string(),
  /** Null when the job verifies every row. */
  excluded: v.nullable(ExcludedBlob),
  /** The number of replacements of the list, one for each erasure of an address. */
  rev: v.number(),
});

type StoredInputMetadata = Readonly<v.InferOutput<typeof InputItem>>;
/** The layout of a job's chunks, and the format of their file. */
export type InputMetadata = Omit<StoredInputMetadata, "rev">;
export type EmailColumn = Readonly<NonNullable<InputMetadata["emailColumn"]>>;

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

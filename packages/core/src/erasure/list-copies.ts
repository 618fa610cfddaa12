import * as v from "valibot";
import { toExcludedKey } from "../intake/excluded-rows.ts";
import { ListSummary } from "../intake/list-summary.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import { toEpochSeconds } from "../lib/time.ts";
import { BLOB_RETENTION_DAYS } from "../ports/blobs.ts";
import type { Item, Json, Key, Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { type Job, toJobKey } from "../rows/items.ts";

// Layout. During the replacement of a job's list, the blobs to which the job does not point now or yet. Each blob is recorded
// before its write and until its removal, so no crash leaves a list without a reference.
//
//   pk        sk                   what
//   JOB#<id>  SPARE#<blob's key>   isDropped: its blobs are being removed; isWritten: no process writes them any more

const Spare = v.object({ sk: v.string(), isWritten: v.optional(v.boolean(), false) });
const PREFIX = "SPARE#";

export const toSpareItem = (
  job: string,
  key: string,
  now: Date,
): { readonly item: Item; readonly key: string } => ({
  key,
  item: {
    pk: toJobKey(job).pk,
    sk: `${PREFIX}${key}`,
    expires_at: toEpochSeconds(now) + BLOB_RETENTION_DAYS["inputs/"] * 86_400,
  },
});

/**
 * Removes every spare list of a job. A concurrent replacement finds its spare list dropped and is refused. It may still write
 * its blobs, so their record stays, unless `isLast`: then no process can write any more.
 */
export const removeSpares = async (
  world: Pick<World, "table" | "blobs">,
  { id }: Pick<Job, "id">,
  { isLast = false } = {},
): Promise<void> => {
  const { table } = world;
  const query = { pk: toJobKey(id).pk, sk: { prefix: PREFIX } };
  for await (const item of paginateQuery(table, query)) {
    const key: Key = { pk: item.pk, sk: item.sk };
    const { outcome } = await table.write({ update: key, set: { isDropped: true } });
    // A refusal means that the job now points to the blob.
    if (outcome === "refused") continue;
    if (outcome === "ambiguous") throw new Error("unknown whether a spare list is dropped");
    const { sk, isWritten } = v.parse(Spare, item);
    await removeLists(world, sk.slice(PREFIX.length));
    if (isLast || isWritten) await table.write({ remove: key });
  }
};

/** Removes the spare of this process, whether or not it wrote the spare. */
export const removeOwnSpare = async (
  world: Pick<World, "table" | "blobs">,
  { key, item }: ReturnType<typeof toSpareItem>,
): Promise<void> => {
  await removeLists(world, key);
  await world.table.write({ remove: item });
};

const removeLists = async ({ blobs }: Pick<World, "blobs">, key: string): Promise<void> => {
  await blobs.remove(key);
  await blobs.remove(toExcludedKey(key));
};

const SampledAnswer = v.looseObject({ counts: v.looseObject({ list: ListSummary }) });

/** Removes the cells that the stored answer to a file with an Idempotency-Key quotes: the first cells without an address. */
export const removeListSample = async (
  table: Table,
  { id, claim }: Pick<Job, "id" | "claim">,
): Promise<void> => {
  const item = claim && (await table.get(claim));
  const { success, output } = v.safeParse(SampledAnswer, item?.["answer"]);
  if (!claim || !success) return;
  const list = { ...output.counts.list, skipped: [] };
  const answer = { ...output, counts: { ...output.counts, list } } as unknown as Json;
  // A refusal means that the claim has expired or belongs to another operation.
  await table.write({ update: claim, set: { answer }, where: { operation: id } });
};

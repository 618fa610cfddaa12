import { Failure } from "../lib/failure.ts";
import type { World } from "../ports/world.ts";
import { findJob, type Job } from "../rows/items.ts";

/**
 * Finds the job for a repeat of the request that created it. One transaction wrote the job and the claim of the key, and the job is
 * retained longer, so only a deletion can remove it. Undefined when the read fails: the repeat then gets the stored answer.
 */
export const findReplayedJob = async (
  { table }: Pick<World, "table">,
  id: string,
): Promise<Job | undefined> => {
  const read = await findJob(table, id).catch(() => "unreadable" as const);
  if (read === undefined) throw createDeletedFailure();
  return read === "unreadable" ? undefined : read;
};

const createDeletedFailure = (): Failure =>
  new Failure(
    "RESULT_DELETED",
    "nothing_more",
    "The job of this Idempotency-Key was deleted. To verify the addresses again, use a new key.",
  );

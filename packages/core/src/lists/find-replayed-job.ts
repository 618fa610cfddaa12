import { Failure } from "../lib/failure.ts";
import type { World } from "../ports/world.ts";
import { findJob, type Job } from "../rows/items.ts";

/**
 * For a repeat of the request that created a job. The job was written with the claim of the key and is retained longer,
 * so it is absent only if it was deleted. Undefined: it cannot be read now, so the repeat gets the stored answer.
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

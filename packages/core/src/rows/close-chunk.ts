import { toEpochSeconds } from "../lib/time.ts";
import type { World } from "../ports/world.ts";
import { UNSCHEDULED } from "../runtime/leases.ts";
import { type Chunk, toChunkKey } from "./chunks.ts";
import { countDeferredChange, findDeferredGroups, toDeferredKey } from "./deferrals.ts";
import { type Job, toJobKey } from "./items.ts";

// When a job has ended, the rows of its chunks stop waiting.

/** Ends the wait of a chunk's rows after the job has ended. The results stay. Each pass writes another token. */
export const closeChunk = async (
  world: World,
  job: Job,
  chunk: Chunk,
  token: string,
): Promise<string> => {
  const change = countDeferredChange((await findDeferredGroups(world.table, chunk)) ?? [], []);
  const { outcome } = await world.table.transact([
    ...(Object.keys(change).length > 0 ? [{ update: toJobKey(job.id), add: change }] : []),
    {
      update: toChunkKey(job.id, chunk.chunk),
      set: {
        ...UNSCHEDULED,
        waiting: 0,
        retryAt: undefined,
        expires_at: toEpochSeconds(world.now()) + job.retentionSeconds,
      },
      where: { token },
    },
    ...(chunk.retryAt === undefined ? [] : [{ remove: toDeferredKey(chunk, chunk.retryAt) }]),
  ]);
  return outcome === "committed" ? "goes_on" : "left_to_others";
};

/** Ends the wait of a chunk's rows after the job was deleted. */
export const removeChunk = async (
  { table }: Pick<World, "table">,
  chunk: Chunk,
  token: string,
): Promise<string> => {
  const { outcome } = await table.write({
    remove: toChunkKey(chunk.job, chunk.chunk),
    where: { token },
  });
  if (chunk.retryAt !== undefined)
    await table.write({ remove: toDeferredKey(chunk, chunk.retryAt) });
  return outcome === "committed" ? "goes_on" : "left_to_others";
};

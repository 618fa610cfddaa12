import type { World } from "../ports/world.ts";
import { UNSCHEDULED } from "../runtime/leases.ts";
import { iterateExports, listExportBlobs, type StoredExport, toExportKey } from "./export-items.ts";

type RemoveWorld = Pick<World, "table" | "blobs">;

/** Removes every export of a job: first its blobs, then its record. A repeat continues where a crash stopped it. */
export const removeExports = async (world: RemoveWorld, job: string): Promise<void> => {
  for await (const stored of iterateExports(world.table, job)) await removeExport(world, stored);
};

/** A worker that makes a part meanwhile finds the export failed and removes its own blob. */
export const removeExport = async (
  { table, blobs }: RemoveWorld,
  stored: StoredExport,
): Promise<void> => {
  const update = toExportKey(stored);
  const where = { id: stored.id };
  await table.write({ update, set: { ...UNSCHEDULED, state: "failed" }, where });
  for (const key of listExportBlobs(stored)) await blobs.remove(key);
  await table.write({ remove: update, where });
};

import type { Item } from "@mailproof/core/ports/table";
import type { DeferredGroup } from "@mailproof/core/rows/deferrals";
import { isOpenJob, readJob } from "@mailproof/core/rows/items";

/** Jobs that say at this moment that another number of rows waits than does, or for another reason. */
export const findMiscounts = (items: readonly Item[]): readonly string[] => {
  const waiting = Map.groupBy(
    items.filter(({ pk }) => pk.startsWith("DEFERRED#")),
    ({ pk }) => pk.slice("DEFERRED#".length),
  );
  return items
    .filter(({ pk, sk }) => pk.startsWith("JOB#") && sk === "JOB")
    .map(readJob)
    .filter((job) => isOpenJob(job) || Object.keys(job.deferred).length > 0)
    .flatMap(({ id, deferred }) => {
      const groups = (waiting.get(id) ?? []).flatMap(
        (item) => item["groups"] as readonly DeferredGroup[],
      );
      const counted = toSortedText(deferred);
      const there = toSortedText(countByReason(groups));
      return counted === there ? [] : [`${id} says that ${counted} wait, and ${there} do`];
    });
};

const countByReason = (groups: readonly DeferredGroup[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  // Slow rows are under way, and do not wait.
  for (const { reason, rows } of groups.filter(({ isSlow }) => !isSlow))
    counts[reason] = (counts[reason] ?? 0) + rows.length;
  return counts;
};

const toSortedText = (counts: Readonly<Record<string, number>>): string =>
  Object.keys(counts)
    .toSorted()
    .map((reason) => `${counts[reason]} ${reason}`)
    .join(", ") || "none";

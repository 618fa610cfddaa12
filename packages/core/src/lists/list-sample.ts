import * as v from "valibot";
import { ListSummary } from "../intake/list-summary.ts";
import type { Json, Table } from "../ports/table.ts";
import type { Job } from "../rows/items.ts";

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

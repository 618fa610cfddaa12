import type { InputRow } from "../intake/input-blob.ts";
import type { World } from "../ports/world.ts";
import type { DueRow, Waited } from "./attempt.ts";
import type { Chunk } from "./chunks.ts";
import type { DeferredGroup } from "./deferrals.ts";
import { findIndexedRows } from "./row-index.ts";

/** Every row, except those that keep the result of an earlier list. */
export const listFirstRows = async (
  { table }: Pick<World, "table">,
  all: readonly InputRow[],
  { causes, ticket, exit }: Waited,
  chunk: Chunk | undefined,
): Promise<readonly DueRow[]> => {
  const taken = chunk && (await findIndexedRows(table, chunk));
  return all.flatMap((row) => (taken?.has(row[0]) ? [] : [{ row, causes, ticket, exit }]));
};

export const listDueRows = (
  all: readonly InputRow[],
  due: readonly DeferredGroup[],
): readonly DueRow[] => {
  const groupByRow = new Map(due.flatMap((group) => group.rows.map((row) => [row, group])));
  return all.flatMap((row) => {
    const group = groupByRow.get(row[0]);
    if (!group) return [];
    const { causes, isSlow, ticket, exit } = group;
    return [{ row, causes, isSlow, ticket, exit }];
  });
};

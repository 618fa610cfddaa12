import type { World } from "../ports/world.ts";
import { findJob, type Job } from "../rows/items.ts";
import { ERASED, type VerifiedRow } from "../rows/results.ts";
import { findPosition, readChunkPieces } from "../rows/row-index.ts";
import type { ListReads } from "../runtime/list-reads.ts";
import type { Verification } from "../verify/result.ts";
import { readSelectedRows } from "./read-job-row.ts";
import { INDEX_BYTES, selectRows } from "./select-rows.ts";

/** A former result of a row's address, and the job that has it. */
export type FormerResult = { readonly job: string; readonly result: Verification };

type HistoryWorld = Pick<World, "table" | "sleep"> & { readonly listReads: ListReads };

/** Each earlier list is searched by its index, which takes 200 ms for half a million rows. */
const LISTS_MAX = 5;

/** The former results of a row, newest first: those that a later pass replaced, then those of the lists that the job continues. */
export const readRowHistory = async (
  world: HistoryWorld,
  job: Job,
  row: VerifiedRow & { readonly chunk: number },
): Promise<readonly FormerResult[]> => {
  const found = [...(await readReplaced(world, job, row))];
  // Every erased row has the same text, so nothing tells which of them are this address.
  let continues = row.result.email === ERASED ? undefined : job.continues;
  for (let lists = 0; continues !== undefined && lists < LISTS_MAX; lists++) {
    const earlier = await findJob(world.table, continues);
    if (earlier?.owner !== job.owner) break;
    found.push(...(await findInList(world, earlier, row.result.email)));
    continues = earlier.continues;
  }
  // A list that keeps an earlier result has the same one.
  const times = new Set([row.result.verifiedAt]);
  return found
    .filter(({ result: { verifiedAt } }) => !times.has(verifiedAt) && times.add(verifiedAt))
    .toSorted((a, b) => (a.result.verifiedAt < b.result.verifiedAt ? 1 : -1));
};

const readReplaced = async (
  world: HistoryWorld,
  { id }: Job,
  { chunk, row }: { readonly chunk: number; readonly row: number },
): Promise<readonly FormerResult[]> => {
  const pieces = await readChunkPieces(world.table, id, chunk);
  const found = pieces.flatMap((piece) => {
    const at = findPosition(piece, row);
    return at === undefined ? [] : [{ chunk, token: piece.token, at, row }];
  });
  const rows = await readSelectedRows(world, id, found);
  return rows.map(({ result }) => ({ job: id, result }));
};

const ADDRESSES_MAX = 20;

const findInList = async (
  world: HistoryWorld,
  earlier: Job,
  email: string,
): Promise<readonly FormerResult[]> => {
  const selection = { filter: {}, text: email, order: { by: "row", isDescending: false } } as const;
  const pause = () => world.sleep(0);
  const start = { offset: 0 };
  const { account, id, processed } = earlier;
  const cost = { account, name: `history ${id} ${email}`, rows: processed, bytes: INDEX_BYTES };
  const { found } = await world.listReads.run(cost, () =>
    selectRows(world.table, earlier, selection, start, ADDRESSES_MAX, pause),
  );
  const rows = await readSelectedRows(world, earlier.id, found);
  return rows.flatMap(({ result }) =>
    result.email.toLowerCase() === email.toLowerCase() ? [{ job: earlier.id, result }] : [],
  );
};

import { areExcludedReadable, openExcludedReader } from "../intake/excluded-rows.ts";
import { toEpochSeconds } from "../lib/time.ts";
import type { Amounts, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit } from "../runtime/commit.ts";
import { UNSCHEDULED } from "../runtime/leases.ts";
import { pack, readPackedValues } from "../verify/pack.ts";
import { type Chunk, findChunk, iterateChunks, toChunkKey, toPassField } from "./chunks.ts";
import { findInputMetadata } from "./input-metadata.ts";
import { findJob, isOpenJob, type Job, OPEN_STATUSES, toBucket, toJobKey } from "./items.ts";
import { countRefunds, toRefundFields } from "./refunds.ts";
import { buildReplacementSummary, findCountedDomains } from "./result-summary.ts";
import {
  DUPLICATE,
  ERASED,
  type PackedRow,
  readPackedRows,
  toDuplicate,
  toPageItems,
  unpackRow,
  type VerifiedRow,
} from "./results.ts";
import {
  buildIndexWrites,
  buildReplacedWrites,
  getRowAt,
  type IndexPiece,
  readChunkPieces,
  readPieces,
} from "./row-index.ts";

// Each result of a child replaces a row of its parent as it arrives: in another pass of the parent's chunk, whose rows
// replace the rows of earlier passes. One transaction makes the pass count, so a row is counted once, and a
// reader sees the former result or the new one. A replaced row stays unchanged, so every step is repeatable: the end of a
// child processes all of its rows once more.

/** Best effort, since the end of the child repeats it. */
export const replaceAsFound = async (
  world: World,
  child: Job,
  rows: readonly VerifiedRow[],
): Promise<void> => {
  if (child.parent === undefined || rows.length === 0) return;
  const found = rows.map(({ row, result }): PackedRow => [row, pack(result)]);
  await findParent(world, child)
    .then((parent) => parent && replaceRows(world, parent, child, [found]))
    .catch((cause: unknown) => {
      world.log("rows_not_replaced", { job: child.id, cause });
    });
};

/** Undefined when the parent is gone or was freed. */
const findParent = async ({ table }: World, child: Job): Promise<Job | undefined> => {
  const parent = child.parent === undefined ? undefined : await findJob(table, child.parent);
  return parent?.child === child.id ? parent : undefined;
};

/**
 * For the end of a child: gives the parent its results, and returns the write that frees the parent for the next child.
 * No write when the parent is gone or was freed before.
 */
export const replaceParentRows = async (world: World, child: Job): Promise<readonly Write[]> => {
  const parent = await findParent(world, child);
  if (!parent) return [];
  await replaceRows(world, parent, child, readFound(world, parent, child));
  const freed = { set: { child: undefined }, where: { child: child.id } };
  return [{ update: toJobKey(parent.id), ...freed }];
};

/**
 * Returns the parent, freed if its child has ended: release 0.2.0 ends a child without freeing its parent, and the record of a
 * child expires.
 */
export const freeIfChildEnded = async (world: World, parent: Job): Promise<Job> => {
  if (parent.child === undefined) return parent;
  const child = await findJob(world.table, parent.child);
  if (child && isOpenJob(child)) return parent;
  if (child) await freeParent(world, child);
  else
    await world.table.write({
      update: toJobKey(parent.id),
      set: { child: undefined },
      where: { child: parent.child },
    });
  return (await findJob(world.table, parent.id)) ?? parent;
};

/** Gives the parent the paid results of a child that ended without this step, such as a cancelled child, and frees the parent. */
export const freeParent = async (world: World, child: Job): Promise<void> => {
  const writes = await replaceParentRows(world, child);
  const { outcome } = await world.table.transact([
    { update: toJobKey(child.id), set: UNSCHEDULED },
    ...writes,
  ]);
  if (outcome === "ambiguous") throw new Error("unknown whether the parent was freed");
};

/** `found` has the order of the list, as the chunks of the parent have. */
const replaceRows = async (
  world: World,
  parent: Job,
  child: Job,
  found: AsyncIterable<readonly PackedRow[]> | Iterable<readonly PackedRow[]>,
): Promise<void> => {
  const pieces = await readPieces(world.table, parent);
  const piecesByChunk = Map.groupBy(pieces, ({ chunk }) => chunk);
  const counted = await findCountedDomains(world.table, parent.id);
  const domains = new Set([...parent.domains, ...counted]);
  const requester = { account: parent.account, priority: "list" } as const;
  const chunks = [...piecesByChunk].map(([chunk, own]) => ({ chunk, last: findLastRow(own) }));
  let at = 0;
  let rows: PackedRow[] = [];
  const flush = async () => {
    const chunk = chunks[at]?.chunk;
    if (chunk === undefined || rows.length === 0) return;
    await replaceInChunk(world, { parent, child, chunk, domains }, chooseBetter(rows));
    await world.callers.yieldToCallers(requester);
    rows = [];
  };
  for await (const some of found)
    for (const row of some) {
      if (row[0] > (chunks[at]?.last ?? 0)) await flush();
      while (row[0] > (chunks[at]?.last ?? Infinity)) at++;
      rows.push(row);
    }
  await flush();
};

/** The rows of the child, and the rows that repeat another one, in the order of the list. */
async function* readFound(
  world: World,
  parent: Job,
  child: Job,
): AsyncGenerator<readonly PackedRow[]> {
  const repeats = readRepeats(world, parent, child);
  let next = await repeats.next();
  for await (const chunk of iterateChunks(world.table, child.id)) {
    const found: PackedRow[] = [];
    for (const row of await readPackedRows(world.table, chunk)) {
      for (; !next.done && next.value[0] < row[0]; next = await repeats.next())
        found.push(next.value);
      found.push(row);
    }
    yield found;
  }
  for (; !next.done; next = await repeats.next()) yield [next.value];
}

/** The number of rows for which one batch reads both jobs once. */
const REPEATS_AT_ONCE = 10_000;

async function* readRepeats(world: World, parent: Job, child: Job): AsyncGenerator<PackedRow> {
  const metadata = child.input && (await findInputMetadata(world.table, child.id));
  if (!metadata?.excluded || !(await areExcludedReadable(world.blobs, metadata.excluded))) return;
  const reader = openExcludedReader(world.blobs, metadata.excluded);
  try {
    for (let isOver = false; !isOver; ) {
      const repeats = new Map<number, number>();
      while (repeats.size < REPEATS_AT_ONCE && !isOver) {
        const some = await reader.before(Infinity);
        for (const [row, first] of some) repeats.set(row, Number(first));
        isOver = some.length === 0;
      }
      const found = await findRows(world, [parent, child], new Set(repeats.values()));
      for (const [row, first] of repeats) {
        const result = found.get(first);
        if (result) yield [row, toDuplicate(result)];
      }
    }
  } finally {
    await reader.close();
  }
}

/** The results of these rows, each from the last job with a result. */
const findRows = async (
  world: World,
  jobs: readonly Job[],
  wanted: ReadonlySet<number>,
): Promise<ReadonlyMap<number, PackedRow[1]>> => {
  const found = new Map<number, PackedRow[1]>();
  if (wanted.size === 0) return found;
  for (const { id, account } of jobs)
    for await (const chunk of iterateChunks(world.table, id)) {
      for (const [row, result] of await readPackedRows(world.table, chunk))
        if (wanted.has(row)) found.set(row, result);
      await world.callers.yieldToCallers({ account, priority: "list" });
    }
  return found;
};

const findLastRow = (pieces: readonly IndexPiece[]): number =>
  Math.max(...pieces.map((piece) => getRowAt(piece, piece.kindByRow.length - 1)));

type ReplacedChunk = {
  readonly parent: Job;
  /** Null when the job takes back results of its own. */
  readonly child: Job | null;
  readonly chunk: number;
  readonly domains: ReadonlySet<string>;
};

type Replacement = { readonly before: VerifiedRow; readonly after: VerifiedRow };

/** Chooses the rows to replace among the present rows of the chunk. */
export type ChooseRows = (
  chunk: Chunk,
  former: ReadonlyMap<number, PackedRow>,
) => Promise<readonly Replacement[]>;

/** The number of tries: a pass of a running parent may use the number of this pass first. */
const ATTEMPTS_MAX = 20;

const replaceInChunk = async (
  world: World,
  replaced: ReplacedChunk,
  chooseRows: ChooseRows,
): Promise<void> => {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++)
    if ((await tryReplace(world, replaced, chooseRows)) !== "refused") return;
  throw new Error("the chunk is changing too fast for its rows to be replaced");
};

const chooseBetter =
  (found: readonly PackedRow[]): ChooseRows =>
  async (_, former) =>
    found.flatMap((row) => {
      const before = former.get(row[0]);
      return before && isBetter(row, before)
        ? [{ before: unpackRow(before), after: unpackRow(row) }]
        : [];
    });

/** Replaces results of an open list by other results of its own. Best effort, since the rows have a result. */
export const replaceOwnRows = async (
  world: World,
  job: Job,
  chooseRows: ChooseRows,
): Promise<void> => {
  const replace = async (): Promise<void> => {
    const domains = new Set([...job.domains, ...(await findCountedDomains(world.table, job.id))]);
    for await (const { chunk, unproven } of iterateChunks(world.table, job.id))
      if (unproven)
        await replaceInChunk(world, { parent: job, child: null, chunk, domains }, chooseRows);
  };
  await replace().catch((cause: unknown) => {
    world.log("rows_not_replaced", { job: job.id, cause });
  });
};

const tryReplace = async (
  world: World,
  { parent, child, chunk: number, domains }: ReplacedChunk,
  chooseRows: ChooseRows,
): Promise<"refused" | "done"> => {
  const chunk = await findChunk(world.table, parent.id, number);
  if (!chunk) return "done";
  // Rows of a cancelled parent may still be noted as waiting.
  const expiresAt = chunk.expiresAt ?? toEpochSeconds(world.now()) + parent.retentionSeconds;
  const former = new Map((await readPackedRows(world.table, chunk)).map((row) => [row[0], row]));
  const pairs = await chooseRows(chunk, former);
  if (pairs.length === 0) return "done";
  const [before, after] = [pairs.map((pair) => pair.before), pairs.map((pair) => pair.after)];
  const pass = { job: parent.id, chunk: number, token: world.newId("txn") };
  for (const page of toPageItems(pass, after, expiresAt)) {
    const { outcome } = await world.table.write({ put: page });
    if (outcome === "ambiguous") throw new Error("unknown whether the results were stored");
  }
  const pieces = await readChunkPieces(world.table, parent.id, number);
  const field = toPassField(chunk.passes.length);
  const { known, passes } = chunk;
  const own = { job: parent, pass: passes.length, ...(known && { known }) };
  const piece = { ...pass, ...own, ...(child && { child: child.id }) };
  const { outcome } = await commit(world, {
    proof: null,
    also: [
      {
        update: toChunkKey(parent.id, number),
        add: { again: 1 },
        set: { [field]: pass.token },
        where: { [field]: { missing: true } },
      },
      {
        update: toJobKey(parent.id),
        add: {
          ...countChange(before, after),
          // The refunds of a child are its own.
          ...(!child && toRefundFields(countRefunds(parent, after))),
        },
        ...(!child && { where: { status: { oneOf: OPEN_STATUSES } } }),
        ...(after.some(({ result }) => result.subStatus === DUPLICATE) && {
          set: { hasDuplicates: true },
        }),
      },
      buildReplacementSummary(parent, { before, after, domains }),
      ...buildReplacedWrites(parent.id, pieces, after),
      ...buildIndexWrites(piece, after, expiresAt),
    ],
  });
  if (outcome === "ambiguous") throw new Error("unknown whether the rows were replaced");
  return outcome === "refused" ? "refused" : "done";
};

/** An address that fails again keeps its earlier result. A corrected address is another address. */
const isBetter = ([, packed]: PackedRow, [, before]: PackedRow): boolean => {
  if (JSON.stringify(packed) === JSON.stringify(before)) return false;
  const [, email, status] = readPackedValues(packed);
  const [, formerEmail] = readPackedValues(before);
  if (email === ERASED || formerEmail === ERASED) return false;
  return status !== "unknown" || email.toLowerCase() !== formerEmail.toLowerCase();
};

const countChange = (before: readonly VerifiedRow[], after: readonly VerifiedRow[]): Amounts => {
  const change: Record<string, number> = { replaced: after.length };
  const count = (rows: readonly VerifiedRow[], by: 1 | -1) => {
    for (const { result } of rows) {
      const bucket = toBucket(result.status);
      change[bucket] = (change[bucket] ?? 0) + by;
    }
  };
  count(before, -1);
  count(after, 1);
  return change;
};

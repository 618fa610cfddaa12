import { areExcludedReadable, openExcludedReader } from "../intake/excluded-rows.ts";
import { toEpochSeconds } from "../lib/time.ts";
import type { Amounts, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit } from "../runtime/commit.ts";
import { UNSCHEDULED } from "../runtime/leases.ts";
import { readPackedValues } from "../verify/pack.ts";
import { findChunk, iterateChunks, toChunkKey, toPassField } from "./chunks.ts";
import { findInputMetadata } from "./input-metadata.ts";
import { CLOSED_STATUSES, findJob, isOpenJob, type Job, toBucket, toJobKey } from "./items.ts";
import { buildReplacementSummary, findCountedDomains } from "./result-summary.ts";
import {
  ERASED,
  isDuplicate,
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
  readPieces,
} from "./row-index.ts";

// What a child found out replaces the rows of its parent, chunk by chunk: another pass of the parent's chunk, whose rows
// take the place of those of earlier passes. One transaction makes it count, so a row is counted once, and a reader sees
// the former result or the new one. A chunk names the last child that changed it, so every step may be repeated.

/**
 * For the end of a child: gives the parent its results, and returns the write that frees the parent for the next child.
 * None where the parent is gone, or was freed before.
 */
export const replaceParentRows = async (world: World, child: Job): Promise<readonly Write[]> => {
  const parent = child.parent === undefined ? undefined : await findJob(world.table, child.parent);
  if (parent?.child !== child.id) return [];
  await replaceRows(world, parent, child);
  const freed = { set: { child: undefined }, where: { child: child.id } };
  return [{ update: toJobKey(parent.id), ...freed }];
};

/**
 * The parent, free where its child has ended: a process of release 0.2.0 ends a child without its parent, and a child's
 * record expires.
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

/** For a child that has ended without it, as a cancelled one does: its parent gets what it found out, which is paid, and is free. */
export const freeParent = async (world: World, child: Job): Promise<void> => {
  const writes = await replaceParentRows(world, child);
  const { outcome } = await world.table.transact([
    { update: toJobKey(child.id), set: UNSCHEDULED },
    ...writes,
  ]);
  if (outcome === "ambiguous") throw new Error("unknown whether the parent was freed");
};

const replaceRows = async (world: World, parent: Job, child: Job): Promise<void> => {
  const pieces = await readPieces(world.table, parent);
  const piecesByChunk = Map.groupBy(pieces, ({ chunk }) => chunk);
  const domains = await findCountedDomains(world.table, parent.id);
  const requester = { account: parent.account, priority: "list" } as const;
  const chunks = [...piecesByChunk].map(([chunk, own]) => ({ chunk, last: findLastRow(own) }));
  let at = 0;
  let rows: PackedRow[] = [];
  const flush = async () => {
    const chunk = chunks[at]?.chunk;
    if (chunk === undefined || rows.length === 0) return;
    const own = piecesByChunk.get(chunk) ?? [];
    await replaceInChunk(world, { parent, child, chunk, pieces: own, domains }, rows);
    await world.callers.yieldToCallers(requester);
    rows = [];
  };
  // Both have the order of the list: the rows of a chunk come after those of the chunk before.
  for await (const row of readFound(world, parent, child)) {
    if (row[0] > (chunks[at]?.last ?? 0)) await flush();
    while (row[0] > (chunks[at]?.last ?? Infinity)) at++;
    rows.push(row);
  }
  await flush();
};

/** The rows of the child, and those that repeat another row, in the order of the list. */
async function* readFound(world: World, parent: Job, child: Job): AsyncGenerator<PackedRow> {
  const repeats = readRepeats(world, parent, child);
  let next = await repeats.next();
  for await (const chunk of iterateChunks(world.table, child.id))
    for (const row of await readPackedRows(world.table, chunk)) {
      for (; !next.done && next.value[0] < row[0]; next = await repeats.next()) yield next.value;
      yield row;
    }
  for (; !next.done; next = await repeats.next()) yield next.value;
}

/** Each batch of them reads both jobs once. */
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

/** The results of these rows: of the last job that has one. */
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
  readonly child: Job;
  readonly chunk: number;
  readonly pieces: readonly IndexPiece[];
  readonly domains: ReadonlySet<string>;
};

const replaceInChunk = async (
  world: World,
  { parent, child, chunk: number, pieces, domains }: ReplacedChunk,
  found: readonly PackedRow[],
): Promise<void> => {
  const chunk = await findChunk(world.table, parent.id, number);
  if (!chunk || chunk.child === child.id) return;
  // Rows of a cancelled parent may still be noted as waiting.
  const expiresAt = chunk.expiresAt ?? toEpochSeconds(world.now()) + parent.retentionSeconds;
  const former = new Map((await readPackedRows(world.table, chunk)).map((row) => [row[0], row]));
  const pairs = found.flatMap((row) => {
    const before = former.get(row[0]);
    return before && isBetter(row, before)
      ? [{ before: unpackRow(before), after: unpackRow(row) }]
      : [];
  });
  if (pairs.length === 0) return;
  const [before, after] = [pairs.map((pair) => pair.before), pairs.map((pair) => pair.after)];
  const pass = { job: parent.id, chunk: number, token: world.newId("txn") };
  for (const page of toPageItems(pass, after, expiresAt)) {
    const { outcome } = await world.table.write({ put: page });
    if (outcome === "ambiguous") throw new Error("unknown whether the results were stored");
  }
  const field = toPassField(chunk.passes.length);
  const piece = { ...pass, job: parent, pass: chunk.passes.length, child: child.id };
  const { outcome } = await commit(world, {
    proof: {
      update: toChunkKey(parent.id, number),
      set: { [field]: pass.token, child: child.id },
      where: { [field]: { missing: true } },
    },
    also: [
      {
        update: toJobKey(parent.id),
        add: countChange(before, after),
        ...(found.some(([, result]) => isDuplicate(result)) && {
          set: { hasDuplicates: true },
        }),
        where: { status: { oneOf: CLOSED_STATUSES } },
      },
      buildReplacementSummary(parent, { before, after, domains }),
      ...buildReplacedWrites(parent.id, pieces, after),
      ...buildIndexWrites(piece, after, expiresAt),
    ],
  });
  // Refused: another process did this chunk.
  if (outcome === "ambiguous") throw new Error("unknown whether the rows were replaced");
};

/** An address that fails again keeps what was known of it. A corrected one is another address. */
const isBetter = ([, packed]: PackedRow, [, before]: PackedRow): boolean => {
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

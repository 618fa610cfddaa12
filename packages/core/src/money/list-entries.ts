import { paginateQuery } from "../lib/paginate-query.ts";
import { type Table, toPosition } from "../ports/table.ts";
import type { Halves } from "./credits.ts";
import {
  DAY_LENGTH,
  type LedgerEntry,
  MONTH_LENGTH,
  readEntry,
  toLedgerPartition,
} from "./items.ts";
import { MOVE_KINDS, type MoveKind } from "./moves.ts";

type ListedEntry = LedgerEntry & { readonly id: string };

export type EntryPage = {
  readonly entries: readonly ListedEntry[];
  /** The last entry of this page, after which the next page starts; undefined at the end. */
  readonly next?: string;
};

/**
 * The part of the ledger to read. `since`: the account's creation. `from`, `to`: days, or the first and the last id. `after`:
 * the id after which the page starts.
 */
export type EntryRange = {
  readonly account: string;
  readonly since: string;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly after?: string | undefined;
};

const toMonth = (time: string): string => time.slice(0, MONTH_LENGTH);

/** Newest first by the operation's start, so the entries of an operation are adjacent. */
export const listEntries = async (
  table: Table,
  now: Date,
  { limit, ...range }: EntryRange & { readonly limit: number },
): Promise<EntryPage> => {
  const entries: ListedEntry[] = [];
  for await (const entry of iterateEntries(table, now, range, limit + 1)) {
    if (entries.length === limit) return { entries, ...toNext(entries) };
    entries.push(entry);
  }
  return { entries };
};

const toNext = (entries: readonly { readonly id: string }[]) => {
  const last = entries.at(-1);
  return last && { next: last.id };
};

/** One kind of movement of an entry: an entry may settle some credits and release others. */
export type Movement = {
  readonly entry: ListedEntry;
  readonly kind: MoveKind;
  readonly amount: Halves;
};

/** The entry where a page ended, and the number of its movements already listed. */
export type MovementPosition = readonly [id: string, passed: number];

/** Lists movements, newest first. Entries never change, so a page continues exactly where the last page ended. */
export const listMovements = async (
  table: Table,
  now: Date,
  {
    limit,
    position,
    ...range
  }: EntryRange & { readonly limit: number; readonly position?: MovementPosition | undefined },
) => {
  const movements: Movement[] = [];
  const remaining = position ? { ...range, to: position[0] } : range;
  for await (const entry of iterateEntries(table, now, remaining, limit + 1)) {
    const passed = position?.[0] === entry.id ? position[1] : 0;
    for (const [at, movement] of toMovements(entry).entries()) {
      if (at < passed) continue;
      if (movements.length === limit) return { movements, next: [entry.id, at] };
      movements.push(movement);
    }
  }
  return { movements };
};

const toMovements = (entry: ListedEntry): Movement[] =>
  MOVE_KINDS.flatMap((kind) => {
    const amount = entry.moved[kind];
    return amount === undefined ? [] : [{ entry, kind, amount }];
  });

async function* iterateEntries(
  table: Table,
  now: Date,
  { account, since, from, to, after }: EntryRange,
  pageSize: number,
): AsyncGenerator<ListedEntry> {
  const newest = [
    toMonth(now.toISOString()),
    ...[to, after].flatMap((id) => (id ? [toMonth(id)] : [])),
  ];
  const oldest = [toMonth(since), ...(from ? [toMonth(from)] : [])];
  const sk = (from !== undefined || to !== undefined) && {
    sk: { from: from ?? EARLIEST, to: to === undefined || isDay(to) ? `${to ?? ""}${LATEST}` : to },
  };
  for (const month of iterateMonths(findFirst(newest), findLast(oldest))) {
    const pk = toLedgerPartition(account, month);
    const start = after?.startsWith(month) === true && { after: toPosition({ pk, sk: after }) };
    const query = { pk, newestFirst: true, pageSize, ...sk, ...start };
    for await (const item of paginateQuery(table, query)) yield { ...readEntry(item), id: item.sk };
  }
}

/** Every id starts with a time, which sorts between these two. */
const EARLIEST = "0";
const LATEST = "~";
const isDay = (text: string): boolean => text.length === DAY_LENGTH;

const findFirst = (months: readonly string[]): string => months.toSorted()[0] ?? "";
const findLast = (months: readonly string[]): string => months.toSorted().at(-1) ?? "";

/** Such as 2026-02, 2026-01, 2025-12. */
function* iterateMonths(newest: string, oldest: string): Generator<string> {
  for (let month = newest; month >= oldest; month = getMonthBefore(month)) yield month;
}

const getMonthBefore = (month: string): string => {
  const [year, number] = month.split("-").map(Number);
  return new Date(Date.UTC(year ?? 0, (number ?? 0) - 2)).toISOString().slice(0, MONTH_LENGTH);
};

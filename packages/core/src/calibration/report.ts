import { paginateQuery } from "../lib/paginate-query.ts";
import { estimateShare } from "../lib/wilson.ts";
import type { World } from "../ports/world.ts";
import {
  CALIBRATION_SHARDS,
  type CellCounts,
  type FateCounts,
  NO_FATES,
  readCell,
  toCalibrationPartition,
} from "./items.ts";

/** With fewer addresses the interval is wider than any difference that matters, so the report states no share. */
export const SENT_MIN = 30;
/** Fewer accounts could show one customer's habits or false reports. */
export const ACCOUNTS_MIN = 3;

export type CalibrationRow = {
  readonly provider?: string;
  readonly status?: string;
  readonly band?: number;
  readonly sent: number;
  readonly bounced: number;
  /** Addresses with at most a soft bounce, which no other number includes. */
  readonly soft: number;
  /** The number of accounts that reported; two accounts may share a tag and count as one. */
  readonly accounts: number;
  /** The share that bounced, and Wilson's interval; null when mail was sent to fewer than `SENT_MIN` addresses. */
  readonly share: number | null;
  readonly interval: readonly [least: number, most: number] | null;
};

export type CalibrationReport = {
  readonly months: readonly string[];
  readonly byStatus: readonly CalibrationRow[];
  readonly byBand: readonly CalibrationRow[];
  readonly byProvider: readonly CalibrationRow[];
  readonly cells: readonly CalibrationRow[];
};

/** Reports how often mail bounced, by the earlier verdict, over this number of months, the current month included. */
export const reportCalibration = async (
  world: Pick<World, "table" | "now">,
  months: number,
): Promise<CalibrationReport> => {
  const names = listMonths(world.now(), months);
  const cells = (await Promise.all(names.map((month) => readCells(world, `${month}#`)))).flat();
  return {
    months: names,
    byStatus: toRows(cells, ({ status }) => ({ status })),
    byBand: toRows(cells, ({ band }) => ({ band })),
    byProvider: toRows(cells, ({ provider, status }) => ({ provider, status })),
    cells: toRows(cells, ({ provider, status, band }) => ({ provider, status, band })),
  };
};

export const readCells = async (
  { table }: Pick<World, "table">,
  prefix: string,
): Promise<readonly CellCounts[]> => {
  const shards = Array.from({ length: CALIBRATION_SHARDS }, (_, shard) =>
    Array.fromAsync(
      paginateQuery(table, { pk: toCalibrationPartition(shard), sk: { prefix } }),
      readCell,
    ),
  );
  return (await Promise.all(shards)).flat();
};

/** Newest first: "2026-11", "2026-10". */
export const listMonths = (now: Date, count: number): readonly string[] =>
  Array.from({ length: count }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7),
  );

type RowName = Pick<CalibrationRow, "provider" | "status" | "band">;

const toRows = (
  cells: readonly CellCounts[],
  toName: (cell: CellCounts) => RowName,
): readonly CalibrationRow[] => {
  const groups = Map.groupBy(cells, (cell) => JSON.stringify(toName(cell)));
  return [...groups]
    .map(([name, group]) => toRow(JSON.parse(name) as RowName, group))
    .filter(({ sent, soft }) => sent + soft > 0)
    .toSorted((a, b) => compareNames(a, b));
};

const compareNames = (a: RowName, b: RowName): number =>
  (a.provider ?? "").localeCompare(b.provider ?? "") ||
  (a.status ?? "").localeCompare(b.status ?? "") ||
  (b.band ?? 0) - (a.band ?? 0);

const toRow = (name: RowName, cells: readonly CellCounts[]): CalibrationRow => {
  const { delivered, hard, soft } = cells.reduce(
    (sum, { counts }) => addFates(sum, counts),
    NO_FATES,
  );
  const sent = delivered + hard;
  const tags = new Set(cells.flatMap(({ byTag }) => [...byTag.keys()]));
  const isEnough = sent >= SENT_MIN;
  const { least, most } = estimateShare(hard, sent);
  return {
    ...name,
    sent,
    bounced: hard,
    soft,
    accounts: tags.size,
    share: isEnough ? roundShare(hard / sent) : null,
    interval: isEnough ? [roundShare(least), roundShare(most)] : null,
  };
};

export const addFates = (a: FateCounts, b: FateCounts): FateCounts => ({
  delivered: a.delivered + b.delivered,
  soft: a.soft + b.soft,
  hard: a.hard + b.hard,
});

const roundShare = (share: number): number => Math.round(share * 1000) / 1000;

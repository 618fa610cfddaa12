import { HOUR_MS } from "../lib/time.ts";
import { estimateShare } from "../lib/wilson.ts";
import type { World } from "../ports/world.ts";
import { type CellCounts, type FateCounts, NO_FATES } from "./items.ts";
import { ACCOUNTS_MIN, addFates, listMonths, readCells } from "./report.ts";

/** One or two percent of the mail to `valid` addresses bounce. Above 10 %, the provider's acceptance proves nothing. */
const SHARE_MAX = 0.1;
/** With fewer addresses, a few lists of one industry would decide. */
const SENT_MIN = 200;

/** Tests whether bounces have shown that a provider accepts recipients and bounces their mail later. Never rejects. */
export type FindLearnedBounces = (provider: string) => Promise<boolean>;

/** Reads a provider's cells of this month and the previous month at most once an hour. */
export const createLearnedBounces = (world: Pick<World, "table" | "now">): FindLearnedBounces => {
  const found = new Map<string, { readonly atMs: number; readonly result: Promise<boolean> }>();
  const read = async (provider: string): Promise<boolean> => {
    const months = listMonths(world.now(), 2);
    const cells = await Promise.all(
      months.map((month) => readCells(world, `${month}#${provider}#valid#`)),
    );
    return bouncesBeyondChance(cells.flat());
  };
  return (provider) => {
    const atMs = world.now().getTime();
    const before = found.get(provider);
    const ageMs = atMs - (before?.atMs ?? Number.NEGATIVE_INFINITY);
    if (before && ageMs >= 0 && ageMs < HOUR_MS) return before.result;
    const result = read(provider).catch(() => before?.result ?? false);
    found.set(provider, { atMs, result });
    return result;
  };
};

/** Tests all accounts together, and all without the account that reported most bounces, so no account decides alone. */
const bouncesBeyondChance = (cells: readonly CellCounts[]): boolean => {
  const all = cells.reduce((sum, { counts }) => addFates(sum, counts), NO_FATES);
  const byTag = new Map<string, FateCounts>();
  for (const cell of cells)
    for (const [tag, counts] of cell.byTag)
      byTag.set(tag, addFates(byTag.get(tag) ?? NO_FATES, counts));
  const [most = NO_FATES] = [...byTag.values()].toSorted((a, b) => b.hard - a.hard);
  const others = {
    ...all,
    delivered: all.delivered - most.delivered,
    hard: all.hard - most.hard,
  };
  return byTag.size >= ACCOUNTS_MIN && isBeyondChance(all) && isBeyondChance(others);
};

const isBeyondChance = ({ delivered, hard }: FateCounts): boolean =>
  delivered + hard >= SENT_MIN && estimateShare(hard, delivered + hard).least > SHARE_MAX;

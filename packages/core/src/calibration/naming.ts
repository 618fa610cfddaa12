import {
  addMiddle,
  type BasePattern,
  PATTERN_NAMES,
  type Pattern,
  removeMiddle,
} from "@mailproof/mail/signals/address-patterns";
import * as v from "valibot";
import { toEpochSeconds } from "../lib/time.ts";
import type { Item, Key, Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";

// Layout. The naming patterns of a domain that searches have proved. All accounts share them: they show a habit of the domain,
// and neither who searched nor whom the search found.
//
//   pk               sk      content
//   DOMAIN#<domain>  NAMING  <pattern>: the number of finds that proved it

/** Companies seldom change their pattern, and a wrong pattern costs only one recipient. */
const RETENTION_SECONDS = 180 * 86_400;
/** More finds of a pattern prove nothing new, and the limit saves a busy domain further writes. */
const COUNTED_MAX = 20;

export type PatternCounts = ReadonlyMap<Pattern, number>;

export const NO_PATTERN_COUNTS: PatternCounts = new Map();

/** Returns the pattern with the most finds, without its middle initial, because most people lack one; null without finds. */
export const findUsualPattern = (patternCounts: PatternCounts): BasePattern | null =>
  [...new Set([...patternCounts.keys()].map(removeMiddle))].toSorted(
    (a, b) => countFinds(patternCounts, b) - countFinds(patternCounts, a),
  )[0] ?? null;

export const countFinds = (patternCounts: PatternCounts, pattern: BasePattern): number => {
  const variant = addMiddle(pattern);
  return (patternCounts.get(pattern) ?? 0) + (variant ? (patternCounts.get(variant) ?? 0) : 0);
};

const Count = v.pipe(v.number(), v.integer(), v.minValue(1));

/** Unreadable counts count as empty, which costs only a few recipients. */
export const readPatternCounts = async (table: Table, domain: string): Promise<PatternCounts> => {
  const item: Item | undefined = await table.get(toItemKey(domain)).catch(() => undefined);
  if (!item) return NO_PATTERN_COUNTS;
  return new Map(
    PATTERN_NAMES.flatMap((pattern) => {
      const count = v.safeParse(Count, item[pattern]);
      return count.success ? [[pattern, count.output] as const] : [];
    }),
  );
};

/** A failed write does no harm: the next find proves the same pattern. */
export const learnPattern = async (
  { table, now }: Pick<World, "table" | "now">,
  domain: string,
  pattern: Pattern,
): Promise<void> => {
  const counts = await readPatternCounts(table, domain);
  if ((counts.get(pattern) ?? 0) >= COUNTED_MAX) return;
  const expires_at = toEpochSeconds(now()) + RETENTION_SECONDS;
  await table
    .write({
      update: toItemKey(domain),
      add: { [pattern]: 1 },
      set: { expires_at },
      orCreate: true,
    })
    .catch(() => undefined);
};

const toItemKey = (domain: string): Key => ({ pk: `DOMAIN#${domain}`, sk: "NAMING" });

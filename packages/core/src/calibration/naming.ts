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

// Layout. What searches have shown of how a domain names its mailboxes. It serves all accounts: it is a habit of the
// domain, and shows neither who searched nor whom they found.
//
//   pk               sk      what
//   DOMAIN#<domain>  NAMING  <pattern>: how many finds it has proved right

/** Companies seldom change their pattern, and a wrong one costs a recipient. */
const RETENTION_SECONDS = 180 * 86_400;
/** More finds of one pattern prove nothing new, and a busy domain is not written to forever. */
const COUNTED_MAX = 20;

/** How many finds each pattern has proved right at a domain. */
export type PatternCounts = ReadonlyMap<Pattern, number>;

export const NO_PATTERN_COUNTS: PatternCounts = new Map();

/** The pattern with the most finds, if any: the one without a middle initial, which most people lack. */
export const findUsualPattern = (patternCounts: PatternCounts): BasePattern | null =>
  [...new Set([...patternCounts.keys()].map(removeMiddle))].toSorted(
    (a, b) => countFinds(patternCounts, b) - countFinds(patternCounts, a),
  )[0] ?? null;

/** Finds of a pattern, with a middle initial or without. */
export const countFinds = (patternCounts: PatternCounts, pattern: BasePattern): number => {
  const variant = addMiddle(pattern);
  return (patternCounts.get(pattern) ?? 0) + (variant ? (patternCounts.get(variant) ?? 0) : 0);
};

const Count = v.pipe(v.number(), v.integer(), v.minValue(1));

/** Counts that cannot be read count as none, which costs only a few recipients. */
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

/** A failed write does no harm: the next find proves the same. */
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

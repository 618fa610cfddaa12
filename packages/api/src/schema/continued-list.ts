import type { AppWorld } from "@mailproof/core/app-world";
import { createAccountHistory } from "@mailproof/core/calibration/account-history";
import type { Comparison, Continued } from "@mailproof/core/lists/earlier-results";
import * as v from "valibot";
import type { Caller } from "../http/endpoint.ts";
import { invalidField } from "../http/parse.ts";
import { describe, Id, optional } from "./common.ts";
import * as field from "./fields.ts";
import { requireJob } from "./jobs.ts";

const FRESH_DAYS = { default: 30, most: 100 } as const;
const DAYS_WORDS = `must be a whole number of days from 0 to ${FRESH_DAYS.most}`;

const FreshDays = v.pipe(
  v.number(DAYS_WORDS),
  v.integer(DAYS_WORDS),
  v.minValue(0, DAYS_WORDS),
  v.maxValue(FRESH_DAYS.most, DAYS_WORDS),
);

/** The fields of a file that continues the list of an earlier job. */
export const CONTINUATION = {
  continues: describe(
    optional(Id),
    "The job (`job_id`) of an earlier list that this file is a newer version of. An address with a good result there keeps it, at no charge.",
  ),
  fresh_days: describe(
    optional(FreshDays),
    "With `continues`: for how many days a result stays good. An older one, `unknown`, or a result whose address bounced since is verified and charged again. Left out: 30.",
  ),
} as const;

/** The same in a form, where every value is text. */
export const CONTINUATION_TEXTS = {
  continues: v.optional(Id),
  fresh_days: v.optional(
    v.pipe(v.string(), v.regex(/^\d+$/, DAYS_WORDS), v.transform(Number), FreshDays),
  ),
} as const;

export const ComparedLists = v.object({
  new: field.count("Addresses that the earlier list does not have. They are verified."),
  kept: field.count("Addresses that keep their earlier result. They cost nothing."),
  again: field.count(
    "Addresses whose earlier result is missing, too old or `unknown`. They are verified again.",
  ),
  removed: field.count("Addresses that only the earlier list has."),
  kept_since: field.maybeText(
    "When the oldest result that is kept was found, ISO 8601. Left out when none is kept.",
  ),
});

export const toComparedLists = (lists: Comparison): v.InferOutput<typeof ComparedLists> => ({
  new: lists.added,
  kept: lists.kept,
  again: lists.stale,
  removed: lists.removed,
  ...(lists.keptSince !== null && { kept_since: lists.keptSince }),
});

type ContinuationFields = {
  readonly continues: string;
  readonly fresh_days?: number | undefined;
};

/** A comparison needs twenty times the processor time of a search of the same rows, and keeps both lists in memory. */
const SEARCHES = 20;
const COMPARED_BYTES = 25_000_000;

/** A job of another account causes the same failure as a missing job. */
export const findContinued = async (
  world: AppWorld,
  caller: Caller,
  { continues, fresh_days: freshDays = FRESH_DAYS.default }: ContinuationFields,
): Promise<Continued> => {
  const earlier = await requireJob(world, caller, continues);
  if (earlier.kind === "single") throw invalidField("continues", "is the job of one address");
  const { account } = caller;
  const cost = { account, rows: SEARCHES * earlier.processed, bytes: COMPARED_BYTES };
  return {
    earlier,
    freshDays,
    history: createAccountHistory(world, caller),
    inTurn: (of, compare) =>
      world.listReads.run({ ...cost, name: `compare ${continues} ${freshDays} ${of}` }, compare),
  };
};

import { AREAS, type Area } from "@mailproof/core/accounts/scopes";
import { credits, type Halves, toCredits } from "@mailproof/core/money/credits";
import type { Spending } from "@mailproof/core/money/spending";
import * as v from "valibot";
import { Credits, describe, optional } from "./common.ts";
import * as field from "./fields.ts";

// The limits that an owner sets for a member, or for the whole account.

export const createLimitFields = (area: string, monthly: string) => ({
  area: describe(optional(v.picklist(AREAS, `must be one of ${AREAS.join(", ")}`)), area),
  monthly_credits: describe(optional(v.pipe(Credits, v.minValue(0, "must be 0 or more"))), monthly),
});

type Limits = { readonly area?: Area; readonly monthlyHalves?: Halves };

export const toLimits = (body: {
  readonly area?: Area | undefined;
  readonly monthly_credits?: number | undefined;
}): Limits => ({
  ...(body.area && { area: body.area }),
  ...(body.monthly_credits !== undefined && { monthlyHalves: credits(body.monthly_credits) }),
});

export const LimitState = v.object({
  area: describe(
    v.optional(v.picklist(AREAS)),
    "The part of the service that people are limited to. Left out: no limit.",
  ),
  monthly: field.maybeObject("The limit of this month (UTC). Left out: no limit.", {
    credits: field.credits("The most credits that may be spent in the month."),
    spent: field.credits("Credits spent in the month, without those refunded."),
    left: field.credits("Credits that may still be spent in the month."),
    resets_at: field.text("When the next month starts, ISO 8601."),
  }),
});

/** `words` ends with the case in which the field is left out. */
export const createLimitState = (words: string) => describe(v.optional(LimitState), words);

/** Undefined when there is no limit. */
export const toLimitState = (
  area: Area | undefined,
  spending: Spending | undefined,
): v.InferOutput<typeof LimitState> | undefined => {
  if (!area && !spending) return undefined;
  return { ...(area && { area }), ...(spending && { monthly: toMonthly(spending) }) };
};

const toMonthly = ({ most, spent, resetsAt }: Spending) => ({
  credits: toCredits(most),
  spent: toCredits(spent),
  left: toCredits(Math.max(0, most - spent) as Halves),
  resets_at: resetsAt,
});

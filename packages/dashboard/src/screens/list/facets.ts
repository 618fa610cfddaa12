import type { GetJobData } from "@mailproof/client";
import { toSendAdvice } from "@mailproof/core/verify/send-advice";
import type { Field } from "./filter.ts";

export type Facets = Readonly<Record<Field, Readonly<Record<string, number>>>>;

type Summary = NonNullable<GetJobData["summary"]>;

/** Builds the response to `facets=true` without a filter from the summary of any response. */
export const toFacets = (
  { statuses, reasons, providers, scores, top_domains }: Summary,
  { new_emails: added, progress: { total } }: Pick<GetJobData, "new_emails" | "progress">,
): Facets => {
  const send = { yes: 0, careful: 0, no: 0 };
  for (const [status, count] of Object.entries(statuses)) send[toSendAdvice(status)] += count;
  return {
    send,
    status: statuses,
    reason: reasons,
    provider: providers,
    domain: Object.fromEntries(top_domains.map(({ domain, count }) => [domain, count])),
    score: Object.fromEntries(scores.map(({ from, to, count }) => [`${from}-${to}`, count])),
    origin: added === undefined ? {} : { new: added, earlier: total - added },
  };
};

export const NO_FACETS: Facets = {
  send: {},
  status: {},
  reason: {},
  provider: {},
  domain: {},
  score: {},
  origin: {},
};

export type FacetValue = {
  readonly value: string;
  readonly term: string;
  readonly count: number;
};

const HAS_ALL: readonly Field[] = ["send", "score"];

/** Lists the values in the order of the whole list, so that they keep their places while the filter changes. */
export const listValues = (field: Field, all: Facets, left: Facets): readonly FacetValue[] => {
  const values = Object.entries(all[field]);
  const isEmpty = values.every(([, count]) => count === 0);
  return values
    .filter(([, count]) => count > 0 || (HAS_ALL.includes(field) && !isEmpty))
    .map(([value]) => ({ value, term: `${field}:${value}`, count: left[field][value] ?? 0 }));
};

import type { ResultSummary as StoredSummary } from "@mailproof/core/jobs/result-summary";
import type { RowFilter } from "@mailproof/core/jobs/select-rows";
import { type RowOrder, SORT_FIELDS } from "@mailproof/core/jobs/sort-rows";
import { STATUSES } from "@mailproof/core/verify/result";
import * as v from "valibot";
import { describe, Integer, limitCharacters, notEmpty } from "./common.ts";

// How a caller finds, filters and sorts rows of a job, and what a job says of all its rows.

const FILTER_LENGTH_MAX = 1_000;
const TEXT_LENGTH_MAX = 254;

const FILTER_MESSAGE =
  "must be terms such as status:valid, reason:mailbox_full, provider:google or score:0-49, separated by commas";

type Term = readonly [field: keyof RowFilter, value: string];

const FIELDS = ["status", "reason", "provider", "score"] as const;
const SCORE = /^(\d{1,3})(?:-(\d{1,3}))?$/;

const toTerm = (text: string): Term => {
  const colon = text.indexOf(":");
  return [text.slice(0, colon).trim() as Term[0], text.slice(colon + 1).trim()];
};

const isTerm = ([field, value]: Term): boolean => {
  if (field === "status") return STATUSES.some((status) => status === value);
  if (field === "score") return SCORE.test(value);
  return FIELDS.includes(field) && value !== "";
};

const toBand = (value: string): { readonly from: number; readonly to: number } => {
  const [, from, to = from] = SCORE.exec(value) ?? [];
  return { from: Number(from), to: Number(to) };
};

const toFilter = (terms: readonly Term[]): RowFilter => {
  const filter: Record<string, unknown> = {};
  for (const [field, same] of Map.groupBy(terms, ([name]) => name))
    filter[field] = same.map(([, value]) => (field === "score" ? toBand(value) : value));
  return filter;
};

const splitTerms = (text: string): readonly Term[] => text.split(",").map(toTerm);

export const Filter = v.pipe(
  v.string(),
  limitCharacters(FILTER_LENGTH_MAX),
  v.check((text) => splitTerms(text).every(isTerm), FILTER_MESSAGE),
  v.transform((text) => toFilter(splitTerms(text))),
);

const SORTS = SORT_FIELDS.flatMap((field) => [field, `-${field}`]);

const Sort = v.pipe(
  v.picklist(SORTS, `must be one of ${SORTS.join(", ")}`),
  v.transform(
    (text): RowOrder => ({
      by: text.replace("-", "") as RowOrder["by"],
      isDescending: text.startsWith("-"),
    }),
  ),
);

const Skip = v.pipe(
  v.string(),
  v.regex(/^\d{1,7}$/, "must be a whole number from 0 up"),
  v.transform(Number),
  v.metadata({ type: "integer", minimum: 0, pattern: undefined }),
);

export const AddressPart = v.pipe(v.string(), v.trim(), notEmpty, limitCharacters(TEXT_LENGTH_MAX));

export const ROW_SELECTION = {
  filter: describe(
    v.optional(Filter),
    "Only rows with these values, separated by commas: `status:valid`, `reason:mailbox_full`, `provider:google`, `score:0-49`. Terms of one field are alternatives; different fields must all match.",
  ),
  q: describe(
    v.optional(AddressPart),
    "Only rows with an address that contains this text, in any case.",
  ),
  sort: describe(
    v.optional(Sort),
    "Order of the rows; with `-` the highest first. The default is `row`.",
  ),
  skip: describe(
    v.optional(Skip),
    "Leaves out this many of the matching rows. Not with `next_key`.",
  ),
} as const;

const Counts = v.record(v.string(), Integer);

export const ResultSummary = v.object({
  statuses: describe(Counts, "Rows of each status, including those without any."),
  reasons: describe(Counts, "Rows of each reason."),
  scores: describe(
    v.array(
      v.object({
        from: describe(Integer, "The lowest score."),
        to: describe(Integer, "The highest score."),
        count: describe(Integer, "Rows with such a score."),
      }),
    ),
    "Rows in bands of `quality_score`.",
  ),
  providers: describe(Counts, "Rows of each mail provider that is recognized."),
  top_domains: describe(
    v.array(
      v.object({
        domain: describe(v.string(), "The domain."),
        count: describe(Integer, "Rows with such an address."),
      }),
    ),
    "The list's most frequent domains, at most 20. A domain of a single address is left out.",
  ),
  typos: describe(
    v.array(
      v.object({
        domain: describe(v.string(), "The domain as it was typed."),
        meant: describe(v.string(), "The domain that was probably meant."),
        count: describe(Integer, "Rows with this suggestion."),
      }),
    ),
    "Frequent domains that are probably typed wrong: `correct` of `POST /v1/jobs/{id}/again` verifies their rows at the other domain. Domains of one address are left out.",
  ),
});

export const toPublicSummary = ({
  topDomains,
  typos,
  ...others
}: StoredSummary): v.InferOutput<typeof ResultSummary> => ({
  ...others,
  scores: [...others.scores],
  top_domains: [...topDomains],
  typos: [...typos],
});

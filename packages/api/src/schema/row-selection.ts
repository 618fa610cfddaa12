import type { ElsewhereCounts } from "@mailproof/core/calibration/items";
import { isRowFilter, parseRowFilter } from "@mailproof/core/find-rows/row-filter";
import { type RowOrder, SORT_FIELDS } from "@mailproof/core/find-rows/sort-rows";
import type { ResultSummary as StoredSummary } from "@mailproof/core/rows/result-summary";
import * as v from "valibot";
import { describe, Integer, limitCharacters, noControls, notEmpty, Share } from "./common.ts";
import * as field from "./fields.ts";

export const FILTER_LENGTH_MAX = 1_000;
const TEXT_LENGTH_MAX = 254;

const FILTER_MESSAGE =
  "must be terms such as send:yes, status:valid, reason:mailbox_full, provider:google, domain:example.com, score:0-49 or origin:new, separated by commas";

export const Filter = v.pipe(
  v.string(),
  limitCharacters(FILTER_LENGTH_MAX),
  noControls,
  v.check(isRowFilter, FILTER_MESSAGE),
  v.transform(parseRowFilter),
);

const SORTS = SORT_FIELDS.flatMap((name) => [name, `-${name}`]);

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

export const AddressPart = v.pipe(
  v.string(),
  v.trim(),
  notEmpty,
  limitCharacters(TEXT_LENGTH_MAX),
  noControls,
);

export const ROW_SELECTION = {
  filter: describe(
    v.optional(Filter),
    "Only rows with these values, separated by commas: `send:yes`, `status:valid`, `reason:mailbox_full`, `provider:google`, `domain:example.com`, `score:0-49`, `origin:new` (not in the list that the job continues; else `origin:earlier`). Values of one field are alternatives; all fields must match.",
  ),
  q: describe(v.optional(AddressPart), "Only addresses that contain this text, in any case."),
  sort: describe(v.optional(Sort), "Order of rows; with `-` the highest first. Default: `row`."),
  skip: describe(v.optional(Skip), "Leaves out so many matching rows. Not with `next_key`."),
} as const;

const Counts = v.record(v.string(), Integer);

/** Counts by field of a filter, then by value. */
export const RowFacets = v.record(v.string(), Counts);

const Right = describe(
  v.object({
    rows: describe(Integer, "Addresses with such a fate."),
    vendor_right: describe(Integer, "Of these, what the other service said was right."),
    mailproof_right: describe(Integer, "Of these, what this service said was right."),
  }),
  "Of bounced addresses `invalid`, `disposable` and `spam_trap` are right, of delivered ones `valid`.",
);

const toRight = ({ rows, theirs, ours }: ElsewhereCounts["hard"]): v.InferOutput<typeof Right> => ({
  rows,
  vendor_right: theirs,
  mailproof_right: ours,
});

export const toPublicElsewhere = (vendor: string, { hard, delivered }: ElsewhereCounts) => ({
  vendor,
  bounced: toRight(hard),
  delivered: toRight(delivered),
});

export const ResultSummary = v.object({
  statuses: describe(Counts, "Rows of each status, including those without any."),
  reasons: describe(Counts, "Rows of each reason."),
  scores: field.objects("Rows in bands of `quality_score`.", {
    from: field.integer("The lowest score."),
    to: field.integer("The highest score."),
    count: field.integer("Rows with such a score."),
  }),
  providers: describe(Counts, "Rows of each mail provider that is recognized."),
  top_domains: field.objects(
    "The list's most frequent domains, at most 20. A domain of a single address is left out.",
    {
      domain: field.text("The domain."),
      count: field.integer("Rows with such an address."),
    },
  ),
  typos: field.objects(
    "Frequent domains that are probably typed wrong: `correct` of `POST /v1/jobs/{id}/again` verifies their rows at the other domain.",
    {
      domain: field.text("The domain as it was typed."),
      meant: field.text("The domain that was probably meant."),
      count: field.integer("Rows with this suggestion."),
    },
  ),
  suspicions: field.objects(
    "Where all rows, ten or more, were refused in a list that is mostly valid elsewhere.",
    {
      at: field.text("A provider or domain."),
      count: field.integer("Rows."),
      confidence: describe(
        Share,
        "How certain it is that these refusals are about the mailboxes: from 0 to 1.",
      ),
      message: field.text("A sentence."),
    },
  ),
  elsewhere: describe(
    v.optional(
      v.object({
        vendor: describe(v.string(), "The name of the service."),
        bounced: Right,
        delivered: Right,
      }),
    ),
    "Who was right, by the bounces and deliveries that you reported after the verification: the service whose verdicts the list has, or this one. Left out for other lists.",
  ),
});

export const toPublicSummary = ({
  topDomains,
  typos,
  suspicions,
  ...others
}: StoredSummary): v.InferOutput<typeof ResultSummary> => ({
  ...others,
  scores: [...others.scores],
  top_domains: [...topDomains],
  typos: [...typos],
  suspicions: suspicions.map(({ at, count, confidence }) => ({
    at,
    count,
    confidence,
    message: `All ${count} addresses at ${at} were refused; this may be about us.`,
  })),
});

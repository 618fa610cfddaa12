import type { Qualifier } from "./parse.ts";
import type { SpfTrouble } from "./published.ts";

/** The results of RFC 7208 §2.6. */
export type SpfResult =
  | "none"
  | "neutral"
  | "pass"
  | "fail"
  | "softfail"
  | "temperror"
  | "permerror";

/** RFC 7208 §4.6.2: the result of a match, by qualifier. */
export const RESULT_OF: Readonly<Record<Qualifier, SpfResult>> = {
  "+": "pass",
  "-": "fail",
  "?": "neutral",
  "~": "softfail",
};

export type TermLocation = { readonly domain: string; readonly term: string };

export type SpfStop =
  | { readonly result: "temperror"; readonly reason: SpfTrouble }
  | {
      readonly result: "permerror";
      readonly reason:
        | "syntax"
        | "several_records"
        | "too_many_lookups"
        | "too_many_void_lookups"
        | "too_many_mx_names"
        | "include_without_record"
        | "redirect_without_record";
    };

export type SpfProblem = {
  readonly reason: SpfStop["reason"];
  readonly domain: string;
  readonly term: string | null;
};

export type SpfVerdict = {
  readonly result: SpfResult;
  /** The term that decided; for an include also the deciding term inside it, with the outermost term first. */
  readonly matched: readonly TermLocation[];
  readonly problem: SpfProblem | null;
};

/** A record's owner chooses its length. Beside the record itself, a report stores only enough to find the place. */
export const shortenText = (text: string): string =>
  text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text;

const TEXT_MAX = 200;

export const toLocation = (domain: string, term: string): TermLocation => ({
  domain,
  term: shortenText(term),
});

export const isStop = (value: object): value is SpfStop => "reason" in value;

export const toStoppedVerdict = (
  { result, reason }: SpfStop,
  domain: string,
  term: string | null = null,
): SpfVerdict => ({
  result,
  matched: [],
  problem: { reason, domain, term: term === null ? null : shortenText(term) },
});

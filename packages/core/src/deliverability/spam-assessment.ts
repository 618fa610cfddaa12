import type { Issue } from "../mail/issue.ts";
import type { Findings } from "./findings.ts";
import { SIGNALS, type Signal } from "./signals.ts";

export type SpamFactor = {
  readonly id: string;
  readonly impact: "positive" | "negative";
  readonly points: number;
  readonly description: string;
};

export type SpamAssessment = {
  /** 0 is good. */
  readonly score: number;
  readonly likelihood: "low" | "medium" | "high";
  readonly factors: readonly SpamFactor[];
};

/** How a filter sees whoever sends in a domain's name. It says nothing about what is in the mail. */
export const assessSpam = (findings: Findings): SpamAssessment => {
  const factors = [
    ...NEGATIVE.filter(({ holds }) => holds(findings)).map(
      ({ id, points, description }): SpamFactor => ({
        id,
        impact: "negative",
        points,
        description,
      }),
    ),
    ...(findings.reputation ?? []).flatMap(toListingFactors),
    ...POSITIVE.filter(({ holds }) => holds(findings)).map(
      ({ id, description }): SpamFactor => ({ id, impact: "positive", points: 0, description }),
    ),
  ];
  const sum = factors.reduce((points, factor) => points + factor.points, 0);
  const score = Math.min(100, sum);
  return { score, likelihood: toLikelihood(score), factors };
};

export const MEDIUM_FROM = 20;
export const HIGH_FROM = 50;

const toLikelihood = (score: number): SpamAssessment["likelihood"] => {
  if (score >= HIGH_FROM) return "high";
  return score >= MEDIUM_FROM ? "medium" : "low";
};

type FactorRule = Pick<SpamFactor, "id" | "description"> & { readonly holds: Signal };

/** By component, so that no order of answers shows. */
export const NEGATIVE: readonly (FactorRule & { readonly points: number })[] = [
  { id: "NO_MX", points: 15, holds: SIGNALS.noMx, description: "The domain cannot receive mail." },
  { id: "NO_SPF", points: 20, holds: SIGNALS.noSpf, description: "There is no SPF record." },
  {
    id: "SPF_PERMERROR",
    points: 25,
    holds: SIGNALS.spfBroken,
    description: "The SPF record is broken, so every evaluation of it fails.",
  },
  {
    id: "SPF_OPEN",
    points: 25,
    holds: SIGNALS.spfOpen,
    description: "The SPF record lets the whole internet send.",
  },
  { id: "NO_DKIM", points: 20, holds: SIGNALS.noDkim, description: "There is no DKIM key." },
  {
    id: "DKIM_UNKNOWN",
    points: 5,
    holds: SIGNALS.dkimUnknown,
    description: "No DKIM key was found under the usual names.",
  },
  {
    id: "NO_DMARC",
    points: 15,
    holds: SIGNALS.noDmarc,
    description: "There is no DMARC record that counts.",
  },
  {
    id: "DMARC_NONE",
    points: 5,
    holds: (findings) => SIGNALS.dmarcNone(findings) && !SIGNALS.noDmarc(findings),
    description: "DMARC asks receivers to deliver forged mail.",
  },
  {
    id: "NO_PTR",
    points: 20,
    holds: SIGNALS.noPtr,
    description: "The sending address has no name.",
  },
  {
    id: "PTR_MISMATCH",
    points: 10,
    holds: SIGNALS.ptrMismatch,
    description: "The name of the sending address does not lead back to it.",
  },
  {
    id: "PTR_GENERIC",
    points: 8,
    holds: SIGNALS.ptrGeneric,
    description: "The sending address is called as those in a provider's pool are.",
  },
];

export const POSITIVE: readonly FactorRule[] = [
  { id: "SPF_OK", holds: SIGNALS.spfOk, description: "The SPF record is sound." },
  { id: "DKIM_OK", holds: SIGNALS.dkimOk, description: "The DKIM keys are sound." },
  {
    id: "DMARC_ENFORCED",
    holds: SIGNALS.dmarcEnforced,
    description: "DMARC asks receivers to keep forged mail away.",
  },
  {
    id: "NOT_LISTED",
    holds: SIGNALS.notListed,
    description: "No blocklist that answered has a listing.",
  },
  {
    id: "FCRDNS_OK",
    holds: SIGNALS.ptrConfirmed,
    description: "The sending address has a name that leads back to it.",
  },
];

/** One list alone does not make a sender a spammer. */
export const LISTING_MAX = 40;

/** A list of domains may count otherwise than its cost: the detail says so. */
const toListingFactors = ({ id, detail, message, costPoints }: Issue): readonly SpamFactor[] => {
  if (costPoints === 0) return [];
  const points = Math.min(LISTING_MAX, Number(detail["spam"] ?? costPoints));
  return [{ id, impact: "negative", points, description: message }];
};

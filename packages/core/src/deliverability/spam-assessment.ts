import type { Issue } from "@mailproof/mail/issue";
import type { Findings } from "./findings.ts";
import { SIGNALS, type Signal } from "./signals.ts";

export type SpamFactor = {
  readonly id: string;
  readonly impact: "positive" | "negative";
  readonly points: number;
  readonly description: string;
};

export type SpamAssessment = {
  /** 0 is the best score. */
  readonly score: number;
  readonly likelihood: "low" | "medium" | "high";
  readonly factors: readonly SpamFactor[];
};

/** Assesses how a spam filter sees mail from the domain, without the content of the mail. */
export const assessSpam = (findings: Findings): SpamAssessment => {
  const factors = [
    ...Object.entries(NEGATIVE).flatMap(([id, { holds, ...factor }]) =>
      holds(findings) ? [{ id, impact: "negative" as const, ...factor }] : [],
    ),
    ...(findings.reputation ?? []).flatMap(toListingFactors),
    ...Object.entries(POSITIVE).flatMap(([id, { holds, ...factor }]) =>
      holds(findings) ? [{ id, impact: "positive" as const, points: 0, ...factor }] : [],
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

type FactorRules<More = unknown> = Readonly<
  Record<string, Pick<SpamFactor, "description"> & { readonly holds: Signal } & More>
>;

/** Sorted by component, so that the order of answers does not show. */
export const NEGATIVE: FactorRules<{ readonly points: number }> = {
  NO_MX: { points: 15, holds: SIGNALS.noMx, description: "The domain cannot receive mail." },
  NO_SPF: { points: 20, holds: SIGNALS.noSpf, description: "No SPF record." },
  SPF_PERMERROR: {
    points: 25,
    holds: SIGNALS.spfBroken,
    description: "The SPF record is invalid, so every evaluation of it fails.",
  },
  SPF_OPEN: {
    points: 25,
    holds: SIGNALS.spfOpen,
    description: "The SPF record allows the whole internet to send.",
  },
  NO_DKIM: { points: 20, holds: SIGNALS.noDkim, description: "No DKIM key." },
  DKIM_UNKNOWN: {
    points: 5,
    holds: SIGNALS.dkimUnknown,
    description: "No DKIM key was found under the usual selectors.",
  },
  NO_DMARC: {
    points: 15,
    holds: SIGNALS.noDmarc,
    description: "No valid DMARC record.",
  },
  DMARC_NONE: {
    points: 5,
    holds: (findings) => SIGNALS.dmarcNone(findings) && !SIGNALS.noDmarc(findings),
    description: "DMARC asks receivers to deliver forged mail.",
  },
  NO_PTR: {
    points: 20,
    holds: SIGNALS.noPtr,
    description: "The sending IP address has no reverse DNS name.",
  },
  PTR_MISMATCH: {
    points: 10,
    holds: SIGNALS.ptrMismatch,
    description: "The reverse DNS name of the sending IP address does not resolve to it.",
  },
  PTR_GENERIC: {
    points: 8,
    holds: SIGNALS.ptrGeneric,
    description:
      "The reverse DNS name of the sending IP address looks like one of a provider's pool.",
  },
};

export const POSITIVE: FactorRules = {
  SPF_OK: { holds: SIGNALS.spfOk, description: "The SPF record is valid." },
  DKIM_OK: { holds: SIGNALS.dkimOk, description: "The DKIM keys are valid." },
  DMARC_ENFORCED: {
    holds: SIGNALS.dmarcEnforced,
    description: "DMARC asks receivers to reject or quarantine forged mail.",
  },
  NOT_LISTED: {
    holds: SIGNALS.notListed,
    description: "No blocklist that answered lists the domain or the sending IP address.",
  },
  FCRDNS_OK: {
    holds: SIGNALS.ptrConfirmed,
    description: "The sending IP address has a reverse DNS name that resolves to it.",
  },
};

/** One list alone does not make a sender a spammer. */
export const LISTING_MAX = 40;

/** A domain list may count more or less than its cost: the issue's detail states the points. */
const toListingFactors = ({ id, detail, message, costPoints }: Issue): readonly SpamFactor[] => {
  if (costPoints === 0) return [];
  const points = Math.min(LISTING_MAX, Number(detail["spam"] ?? costPoints));
  return [{ id, impact: "negative", points, description: message }];
};

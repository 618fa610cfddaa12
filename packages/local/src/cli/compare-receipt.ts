import type { Json } from "@mailproof/core/ports/table";
import { replayVerdict } from "@mailproof/core/receipts/replay-verdict";
import { hashEmail, hashEvidence } from "@mailproof/core/receipts/sign-receipt";
import type { Evidence } from "@mailproof/core/verify/result";

export type Fields = Readonly<Record<string, unknown>>;

/**
 * What judging the evidence again came to. `different`: this release judges otherwise, which says nothing against the
 * receipt. `none`: there is no evidence, the receipt names none, or none that can be judged (that of 0.2.0).
 */
export type Replay = "same" | "different" | "none";

export type Comparison = {
  /** Fields of the answer that the receipt names otherwise. */
  readonly differences: readonly string[];
  readonly replay: Replay;
};

/** Compares an answer with the claims of its receipt, field by field, and judges its evidence again. */
export const compareReceipt = (claims: Fields, answer: Fields): Comparison => {
  const { email, evidence } = answer;
  const named = Object.keys(answer).filter((name) => Object.hasOwn(claims, name));
  const hash = evidence === undefined ? undefined : hashEvidence(evidence as Json);
  const differences = [
    ...(typeof email === "string" && claims["email_sha256"] !== hashEmail(email) ? ["email"] : []),
    ...named.filter((name) => answer[name] !== claims[name]),
    ...(hash !== undefined && claims["evidence_sha256"] !== hash ? ["evidence"] : []),
  ];
  const isOwn = hash !== undefined && !differences.includes("evidence");
  return { differences, replay: isOwn ? replay(claims, evidence as Evidence) : "none" };
};

const replay = (claims: Fields, evidence: Evidence): Replay => {
  const replayed = judgeAgain(evidence);
  if (!replayed) return "none";
  const { score, ...verdict } = replayed;
  const isSame =
    Object.entries(verdict).every(([name, value]) => claims[name] === value) &&
    JSON.stringify(score) === JSON.stringify(evidence.score);
  return isSame ? "same" : "different";
};

/** Evidence of another release may have other signals. */
const judgeAgain = (evidence: Evidence) => {
  try {
    return replayVerdict(evidence);
  } catch {
    return undefined;
  }
};

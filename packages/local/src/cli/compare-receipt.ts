import type { Json } from "@mailproof/core/ports/table";
import { hashEmail, hashEvidence } from "@mailproof/core/receipts/receipt-claims";
import { replayVerdict } from "@mailproof/core/receipts/replay-verdict";
import type { Evidence } from "@mailproof/core/verify/result";
import { CONTROLLED } from "@mailproof/core/verify/unpaid-results";

export type Fields = Readonly<Record<string, unknown>>;

/**
 * The outcome of judging the evidence again. `different`: this release judges otherwise, which does not disprove the receipt. `none`: the
 * evidence is missing, the receipt names no evidence, or this release cannot judge it (that of 0.2.0).
 */
export type Replay = "same" | "different" | "none";

export type Comparison = {
  readonly differences: readonly string[];
  readonly replay: Replay;
};

/** Compares an answer with the claims of its receipt, field by field, and judges its evidence again. */
export const compareReceipt = (claims: Fields, answer: Fields): Comparison => {
  const { email, evidence } = answer;
  const compared = Object.keys(answer).filter(
    (name) => Object.hasOwn(claims, name) || VERDICT.includes(name),
  );
  const isOwn = !isDeep(evidence) && claims["evidence_sha256"] === hashEvidence(evidence as Json);
  const differences = [
    ...(email === undefined || isHashed(email, claims) ? [] : ["email"]),
    ...compared.filter((name) => !isAsNamed(name, claims, answer)),
    ...(evidence === undefined || isOwn ? [] : ["evidence"]),
  ];
  return { differences, replay: isOwn ? replay(claims, evidence as Evidence) : "none" };
};

const isHashed = (email: unknown, claims: Fields): boolean =>
  typeof email === "string" && claims["email_sha256"] === hashEmail(email);

const VERDICT = ["status", "reason", "sub_status", "quality_score", "class", "proof"];

const isAsNamed = (name: string, claims: Fields, answer: Fields): boolean =>
  (answer[name] ?? null) === (claims[name] ?? null) ||
  (name === "reason" && isReasonOfClass(claims, answer));

/** A form's answer has the reason of its class. When control is proven, the receipt has the reason of the verdict. */
const isReasonOfClass = (claims: Fields, answer: Fields): boolean =>
  claims["proof"] === CONTROLLED &&
  answer["class"] === claims["class"] &&
  (answer["reason"] ?? null) === (answer["class"] === "go" ? null : "listed_disposable");

/** No evidence nests deeper, and recursive code survives this depth. */
const LEVELS_MAX = 50;

/** Deeply nested data are neither evidence nor claims that this service has signed. */
export const isDeep = (value: unknown, levels = LEVELS_MAX): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((one) => isDeep(one, levels - 1)));

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

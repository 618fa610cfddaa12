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
  const compared = Object.keys(answer).filter(
    (name) => Object.hasOwn(claims, name) || VERDICT.includes(name),
  );
  const hash = evidence === undefined ? undefined : tryHash(evidence as Json);
  const differences = [
    ...(email !== undefined && claims["email_sha256"] !== hashEmail(String(email))
      ? ["email"]
      : []),
    ...compared.filter((name) => !isAsNamed(name, claims, answer)),
    ...(hash !== undefined && claims["evidence_sha256"] !== hash ? ["evidence"] : []),
  ];
  const isOwn = hash !== undefined && !differences.includes("evidence");
  return { differences, replay: isOwn ? replay(claims, evidence as Evidence) : "none" };
};

/** What an answer says of these is the receipt's, or nobody's. */
const VERDICT = ["status", "reason", "sub_status", "quality_score", "class", "proof"];

/** A form's answer has the reason of its class, also where the receipt has that of a verdict. */
const isAsNamed = (name: string, claims: Fields, answer: Fields): boolean =>
  (answer[name] ?? null) === (claims[name] ?? null) ||
  (name === "reason" && answer["class"] !== undefined && claims["status"] !== undefined);

/** Evidence that is too deep to be read is none that a receipt names. */
const tryHash = (evidence: Json): string => {
  try {
    return hashEvidence(evidence);
  } catch {
    return "";
  }
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

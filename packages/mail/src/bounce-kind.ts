import { classify } from "./smtp/classify.ts";
import type { Reply } from "./smtp/reply.ts";

export type BounceReport = {
  readonly type?: "hard" | "soft" | undefined;
  readonly diagnostic?: string | undefined;
};

export type BounceKind = "hard" | "soft" | null;

/** The server's own words count more than the category that the sender's system chose. */
export const toBounceKind = ({ type, diagnostic }: BounceReport): BounceKind => {
  const reply = diagnostic === undefined ? undefined : parseDiagnostic(diagnostic);
  if (!reply) return type ?? null;
  const { verdict, aboutUs, reason } = classify(reply, { stage: "data" });
  if (verdict === "invalid") return "hard";
  if (aboutUs) return null;
  if (verdict === "risky" || reply.code < 500) return "soft";
  // When no rule knows the words, the category is the best evidence. A rule that matched has found a policy.
  return reason === "unclassified_permanent" ? (type ?? null) : null;
};

/** "smtp; 550 5.1.1 user unknown" (RFC 3464 §2.3.6), or only the reply. */
const DIAGNOSTIC = /\b([45]\d\d)(?:[ -]|$)(?:#?([45]\.\d{1,3}\.\d{1,3})\b)?\s*([\s\S]*)/;

const parseDiagnostic = (text: string): Reply | undefined => {
  const [, code, enhanced, words] = DIAGNOSTIC.exec(text.replace(/^\s*smtp\s*;\s*/i, "")) ?? [];
  return code === undefined
    ? undefined
    : { code: Number(code), enhanced: enhanced ?? null, text: words ?? "" };
};

import { NO_MAIL } from "./judge.ts";
import type { Verification } from "./result.ts";
import { ADDRESS_LITERAL, CONTROLLED } from "./unpaid-results.ts";

/** A form accepts the address, asks the visitor to check it, or refuses it. */
export const FORM_CLASSES = ["go", "ask", "no"] as const;

export type FormClass = {
  readonly class: (typeof FORM_CLASSES)[number];
  /** The one reason for the class; null when nothing counts against the address. */
  readonly reason: string | null;
};

type Facts = Pick<Verification, "reason" | "verification" | "flags" | "ai">;

/**
 * Derives the class from syntax, the domain and lists alone. The visitor sees it and must not learn whether a mailbox exists,
 * so no reply of a mail server, no bounce and no rule about names counts. An unknown fact never counts against the address.
 */
export const toFormClass = ({ reason, verification, flags, ai }: Facts): FormClass => {
  // These two faults come first in the order of verdicts, so the verdict's reason is theirs.
  if (!verification.syntaxValid || NO_MAIL.has(reason)) return { class: "no", reason };
  if (reason === ADDRESS_LITERAL) return { class: "no", reason };
  if (flags.disposable) return { class: "no", reason: "listed_disposable" };
  if (reason === CONTROLLED) return { class: "go", reason: null };
  if (ai?.typoSuggestion) return { class: "ask", reason: "typo" };
  if (flags.roleAccount) return { class: "ask", reason: "role_account" };
  return { class: "go", reason: null };
};

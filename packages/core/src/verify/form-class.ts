import { NO_MAIL } from "./judge.ts";
import type { Verification } from "./result.ts";
import { ADDRESS_LITERAL, CONTROLLED } from "./unpaid-results.ts";

/** What a form does with an address: takes it, asks the visitor to look again, or refuses it. */
export const FORM_CLASSES = ["go", "ask", "no"] as const;

export type FormClass = {
  readonly class: (typeof FORM_CLASSES)[number];
  /** The one fact behind it; null: nothing speaks against the address. */
  readonly reason: string | null;
};

type Facts = Pick<Verification, "reason" | "verification" | "flags" | "ai">;

/**
 * From syntax, the domain and lists alone. A visitor sees it, and must not learn whether a mailbox exists: no reply of a
 * mail server, no bounce and no rule about names has a part in it. What could not be found out speaks for nobody.
 */
export const toFormClass = ({ reason, verification, flags, ai }: Facts): FormClass => {
  // These two are the first in the order of verdicts, so the reason is theirs.
  if (!verification.syntaxValid || NO_MAIL.has(reason)) return { class: "no", reason };
  if (reason === ADDRESS_LITERAL) return { class: "no", reason };
  if (flags.disposable) return { class: "no", reason: "listed_disposable" };
  if (reason === CONTROLLED) return { class: "go", reason: null };
  if (ai?.typoSuggestion) return { class: "ask", reason: "typo" };
  if (flags.roleAccount) return { class: "ask", reason: "role_account" };
  return { class: "go", reason: null };
};

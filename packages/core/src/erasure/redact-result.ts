import type { Subject } from "../accounts/subject.ts";
import { ERASED } from "../rows/results.ts";
import type { Verification } from "../verify/result.ts";

/**
 * Undefined when the result does not show the address. The row stays, because the job counts it and the account paid for it;
 * its status identifies no person.
 */
export const redactResult = (result: Verification, subject: Subject): Verification | undefined => {
  const { email, ai, evidence: _, receipt: __, receiptClaims: ___, enrichment, ...others } = result;
  if (subject.matches(email))
    return {
      ...others,
      email: ERASED,
      enrichment: { ...enrichment, first_name: null, last_name: null, full_name: "" },
      ...(ai && { ai: { ...ai, typoSuggestion: null, typoConfidence: null } }),
    };
  if (!ai?.typoSuggestion || !subject.matches(ai.typoSuggestion)) return undefined;
  return { ...result, ai: { ...ai, typoSuggestion: null, typoConfidence: null } };
};

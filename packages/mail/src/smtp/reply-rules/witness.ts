// Apart from rules.ts: a bundle that names a refused witness needs none of the rules, which are 36 KB.
import type { Reply } from "../reply.ts";
import type { RuleFamily } from "../reply-rule.ts";

export const WITNESS_REFUSED = "witness_refused";

/** Replaces the server's own words, which deny the mailbox. Release 0.2.0 reads `ip_blocked`. */
export const REFUSED_WITNESS: Reply = {
  code: 550,
  enhanced: "5.7.1",
  text: "Access denied to your server: a witness mailbox, which exists, was refused",
};

export const ABOUT_WITNESSES: readonly RuleFamily[] = [
  {
    reason: WITNESS_REFUSED,
    verdict: "unknown",
    confidence: 0.9,
    anyStage: true,
    aboutUs: true,
    refusesUs: "always",
    rules: {
      refused_witness: {
        text: /\ba witness mailbox, which exists, was refused\b/,
        example: `550 5.7.1 ${REFUSED_WITNESS.text}`,
      },
    },
  },
];

import { readJudged, recordJudged } from "@mailproof/core/verify/judged-record";
import type { JudgedInput } from "@mailproof/core/verify/signals";
import fc from "fast-check";
import { expect, test } from "vitest";

const flag = fc.boolean();
const textOrNull = fc.option(fc.constantFrom("a", "role"));

const anyJudged = fc.record({
  signals: fc.record(
    {
      syntaxFault: textOrNull,
      domain: fc.constantFrom("mail_host", "null_mx", "not_asked"),
      isControlled: fc.constant(true as const),
      listed: fc.record({
        trap: flag,
        disposable: flag,
        disposableHint: flag,
        role: textOrNull,
        free: flag,
        squat: textOrNull,
      }),
      mailbox: fc.option(
        fc.record({
          verdict: fc.constantFrom("valid", "invalid", "risky", "unknown"),
          reason: fc.constant("accepted"),
          rule: fc.constant("rule"),
          confidence: fc.constantFrom(0, 0.9, 1),
          retry: fc.option(fc.constantFrom("later", "other_host")),
          aboutUs: flag,
        }),
      ),
      catchAll: fc.constantFrom("yes", "no", "not_tested"),
      acceptsThenBounces: flag,
      rejectsUnknownRecipients: flag,
      acceptsUnknownRecipients: flag,
      bounced: flag,
      nameFault: textOrNull,
      hasUnusualLength: flag,
      longName: fc.option(fc.constantFrom("untried", "taken")),
      botLikeness: fc.constantFrom(0, 0.4, 1),
      encrypted: flag,
    },
    { noNullPrototype: true },
  ),
  catchAllConfidence: fc.option(fc.constantFrom(0, 0.41, 0.95)),
}) as unknown as fc.Arbitrary<JudgedInput>;

test("the judged record spells its names as the API does, at each depth", () => {
  fc.assert(
    fc.property(anyJudged, (judged) => {
      expect(JSON.stringify(recordJudged(judged))).not.toMatch(/"[a-z]*[A-Z]\w*":/);
    }),
  );
});

test("the judged record restores every judged value from JSON, even a neutral one", () => {
  fc.assert(
    fc.property(anyJudged, (judged) => {
      const stored = JSON.parse(JSON.stringify(recordJudged(judged)));

      expect(readJudged(stored)).toEqual(judged);
    }),
    { numRuns: 1_000 },
  );
});

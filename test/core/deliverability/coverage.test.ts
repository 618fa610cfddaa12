import { CONFIDENCES, measureCoverage } from "@mailproof/core/deliverability/coverage";
import { type CheckComponent, COMPONENTS } from "@mailproof/core/deliverability/findings";
import { WEIGHTS } from "@mailproof/core/deliverability/score";
import fc from "fast-check";
import { expect, test } from "vitest";

const answering = (components: readonly CheckComponent[], sendingIp: string | null = null) =>
  measureCoverage({
    scored: {
      parts: components.map((component) => ({ component, weight: WEIGHTS[component], score: 0 })),
    },
    sendingIp,
  });

test.each<[readonly CheckComponent[], string | null, string, readonly string[]]>([
  [["dns", "spf", "dkim", "dmarc", "reputation"], null, "high", []],
  [["dns", "spf", "dkim", "dmarc", "reputation"], "192.0.2.1", "medium", ["ptr"]],
  [[...COMPONENTS], "192.0.2.1", "high", []],
  [["spf", "dkim", "dmarc"], null, "medium", ["dns", "reputation"]],
  // 55 of 95, and 40 of 95.
  [["dns", "dkim", "dmarc"], null, "medium", ["spf", "reputation"]],
  [["dkim", "dmarc"], null, "low", ["dns", "spf", "reputation"]],
  // 45 of 100: reverse DNS counts where an address was given.
  [["dkim", "dmarc", "ptr"], "192.0.2.1", "low", ["dns", "spf", "reputation"]],
  [["dns"], null, "low", ["spf", "dkim", "dmarc", "reputation"]],
])(
  "with %j answered and %s as the address the confidence is %s",
  (parts, ip, confidence, missing) => {
    expect(answering(parts, ip)).toEqual({ confidence, missing });
  },
);

test("another answer never lowers the confidence", () => {
  fc.assert(
    fc.property(
      fc.subarray([...COMPONENTS]),
      fc.constantFrom(...COMPONENTS),
      fc.constantFrom(null, "192.0.2.1"),
      (some, one, ip) => {
        const rank = (parts: readonly CheckComponent[]) =>
          CONFIDENCES.indexOf(answering(parts, ip).confidence);
        expect(rank([...new Set([...some, one])])).toBeLessThanOrEqual(rank(some));
      },
    ),
  );
});

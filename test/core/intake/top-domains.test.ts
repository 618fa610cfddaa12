import { createTopDomains } from "@mailproof/core/intake/top-domains";
import * as fc from "fast-check";
import { expect, test } from "vitest";

const listOf = (emails: readonly string[], countersMax?: number) => {
  const domains = createTopDomains(countersMax);
  for (const email of emails) domains.add(email);
  return domains.list();
};

test("the most frequent domain is the first, and a domain of one address is left out", () => {
  expect(listOf(["a@one.com", "a@two.com", "b@TWO.com", "a@x.com", "b@x.com", "c@x.com"])).toEqual([
    "x.com",
    "two.com",
  ]);
});

test("there are at most twenty", () => {
  const emails = Array.from({ length: 60 }, (_, n) => `ann${n}@d${n % 30}.com`);

  expect(listOf(emails)).toHaveLength(20);
});

test("in any order of addresses, a domain with more than its share of the counters is found", () => {
  fc.assert(
    fc.property(
      fc
        .array(fc.nat(50), { maxLength: 300 })
        .chain((others) =>
          fc.shuffledSubarray(
            [
              ...others.map((n) => `a@d${n}.com`),
              ...Array.from({ length: Math.ceil(others.length / 3) + 2 }, () => "a@top.com"),
            ],
            { minLength: others.length + Math.ceil(others.length / 3) + 2 },
          ),
        ),
      (emails) => {
        // 8 counters, and more than a quarter of the addresses.
        expect(listOf(emails, 8)).toContain("top.com");
      },
    ),
  );
});

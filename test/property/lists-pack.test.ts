import { hasDomain, listDomains, pack, unpack } from "@mailproof/core/mail/lists/pack";
import fc from "fast-check";
import { expect, test } from "vitest";

const domains = fc.uniqueArray(fc.domain(), { maxLength: 60 });

test("what is packed comes out again, in the order of its bytes, and nothing else", () => {
  fc.assert(
    fc.property(domains, fc.domain(), (listed, other) => {
      const unpacked = unpack(pack(listed));

      expect(listDomains(unpacked)).toEqual(listed.toSorted());
      expect(listed.every((domain) => hasDomain(unpacked, domain))).toBe(true);
      expect(hasDomain(unpacked, other)).toBe(listed.includes(other));
    }),
  );
});

test("the order in which domains are given does not change what is packed", () => {
  fc.assert(
    fc.property(domains, (listed) => {
      expect(pack(listed.toReversed())).toBe(pack(listed));
    }),
  );
});

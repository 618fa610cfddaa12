import { isOn, listDomains, pack, unpack } from "@mailproof/mail/lists/pack";
import fc from "fast-check";
import { expect, test } from "vitest";

const VERSION = { list: "ours", source: "", version: "1", entries: 0, sha256: "" };
const domains = fc.uniqueArray(fc.domain(), { maxLength: 60 });

test("what is packed comes out again, in the order of its bytes, and nothing else", () => {
  fc.assert(
    fc.property(domains, fc.domain(), (listed, other) => {
      const list = { ...VERSION, packed: pack(listed) };

      expect(listDomains(unpack(list.packed))).toEqual(listed.toSorted());
      expect(listed.every((domain) => isOn(list, domain))).toBe(true);
      expect(isOn(list, other)).toBe(listed.includes(other));
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

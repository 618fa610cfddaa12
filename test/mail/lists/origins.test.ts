import { getEditionDate } from "@mailproof/mail/lists/edition-age";
import { findOrigin } from "@mailproof/mail/lists/origins";
import { readDomains } from "@mailproof/mail/lists/pack";
import { WHOLE_EDITION } from "@mailproof/mail/lists/whole-edition";
import { expect, test } from "vitest";

test("each disposable domain states a source, and a first date no later than its edition", () => {
  const now = getEditionDate(WHOLE_EDITION.version).getTime();
  const hasOrigin = (domain: string): boolean => {
    const { sources, since } = findOrigin(domain) ?? { sources: [], since: "" };
    return sources.length > 0 && Date.parse(since) <= now;
  };

  expect(readDomains(WHOLE_EDITION.lists.disposable).filter((one) => !hasOrigin(one))).toEqual([]);
});

test("the origin of a domain lists its packages and FakeFilter's first date", () => {
  expect(findOrigin("muhaos.com")).toEqual({ sources: ["fakefilter"], since: "2026-02-09" });
  expect(findOrigin("mailinator.com")).toEqual({
    sources: [
      "disposable-email-domains (PyPI)",
      "fakefilter",
      "disposable-email-domains",
      "mailchecker",
    ],
    since: "2024-06-29",
  });
  expect(findOrigin("example.com")).toBeUndefined();
});

import { hash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { broad } from "@mailproof/mail/lists/data/broad";
import { disposable } from "@mailproof/mail/lists/data/disposable";
import { free } from "@mailproof/mail/lists/data/free";
import { rareEndings } from "@mailproof/mail/lists/data/rare-endings";
import { createLists } from "@mailproof/mail/lists/lists";
import { listDomains, unpack } from "@mailproof/mail/lists/pack";
import { popularProviders, squats } from "@mailproof/mail/lists/providers";
import { relayDomains } from "@mailproof/mail/lists/relays";
import { webmailDomains } from "@mailproof/mail/lists/webmail";
import { describe, expect, test } from "vitest";

const DOMAIN = /^(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{2,63}$/;
const TOP_LEVEL = /^(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})\.$/;
const listDuplicates = (names: readonly string[]) =>
  names.filter((name, index) => names.indexOf(name) !== index);

describe.each([disposable, free, broad, rareEndings])("the list $list", (packed) => {
  const domains = listDomains(unpack(packed.packed));

  test("holds as many domains as it says, with the hash it says", () => {
    expect(domains).toHaveLength(packed.entries);
    expect(hash("sha256", domains.join("\n"))).toBe(packed.sha256);
  });

  test("holds domains in lower case and A-labels", () => {
    const pattern = packed === rareEndings ? TOP_LEVEL : DOMAIN;

    expect(domains.filter((domain) => !pattern.test(domain))).toEqual([]);
  });

  test("stands in docs/lists.md as it is", () => {
    expect(readFileSync("docs/lists.md", "utf8")).toMatch(
      new RegExp(`\\| ${packed.list} +\\|.*\\| ${packed.entries} +\\|.*${packed.sha256}`),
    );
  });
});

test("the packages that the lists come from are named with the versions that were used", () => {
  const { dependencies } = JSON.parse(readFileSync("scripts/lists/package.json", "utf8")) as {
    dependencies: Record<string, string>;
  };

  for (const { source, version } of [disposable, free, broad, rareEndings])
    expect(
      source
        .split(" and ")
        .map((name) => dependencies[name])
        .join(" and "),
    ).toBe(version);
});

test.each([...globSync("packages/*/package.json"), "package.json"])(
  "%s depends on none of the packages that the lists come from",
  (file) => {
    const text = readFileSync(file, "utf8");

    expect(
      ["disposable", "mailchecker", "free-email", "role-based"].filter((name) =>
        text.includes(`"${name}`),
      ),
    ).toEqual([]);
  },
);

test("nothing is on a list of ours twice", () => {
  expect(
    [popularProviders, relayDomains, webmailDomains, [...squats.keys()]].flatMap(listDuplicates),
  ).toEqual([]);
});

test("the popular providers are free ones that no list calls disposable", () => {
  const { free: isFree, disposable: isDisposable } = createLists();

  expect(popularProviders.filter((domain) => !isFree(domain) || isDisposable(domain))).toEqual([]);
});

test("a squat is of a popular provider, and is no provider itself", () => {
  const { free: isFree } = createLists();

  expect([...squats.values()].filter((meant) => !popularProviders.includes(meant))).toEqual([]);
  expect([...squats.keys()].filter((typed) => isFree(typed))).toEqual([]);
});

test.each([
  ["gmial.com", "gmail.com"],
  ["gmai.com", "gmail.com"],
  ["hotmial.com", "hotmail.com"],
  ["yahooo.com", "yahoo.com"],
])("%s is meant to be %s", (typed, meant) => {
  expect(squats.get(typed)).toBe(meant);
});

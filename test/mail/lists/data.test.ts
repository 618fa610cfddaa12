import { hash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { parseListChanges } from "@mailproof/mail/lists/changes";
import { broad } from "@mailproof/mail/lists/data/broad";
import { disposable } from "@mailproof/mail/lists/data/disposable";
import { free } from "@mailproof/mail/lists/data/free";
import { rareEndings } from "@mailproof/mail/lists/data/rare-endings";
import { createLists } from "@mailproof/mail/lists/lists";
import { isOn, listDomains, pack, unpack } from "@mailproof/mail/lists/pack";
import { popularProviders, squats } from "@mailproof/mail/lists/providers";
import { relayDomains } from "@mailproof/mail/lists/relays";
import { webmailDomains } from "@mailproof/mail/lists/webmail";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const DOMAIN = /^(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{2,63}$/;
const TOP_LEVEL = /^(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})\.$/;
const listDuplicates = (names: readonly string[]) =>
  names.filter((name, index) => names.indexOf(name) !== index);

describe.each([disposable, free, broad, rareEndings])("the list $list", (packed) => {
  const domains = listDomains(unpack(packed.packed));

  test("the list contains as many domains as it declares, with the declared hash", () => {
    expect(domains).toHaveLength(packed.entries);
    expect(hash("sha256", domains.join("\n"))).toBe(packed.sha256);
  });

  test("the list contains domains in lower case and A-labels", () => {
    const pattern = packed === rareEndings ? TOP_LEVEL : DOMAIN;

    expect(domains.filter((domain) => !pattern.test(domain))).toEqual([]);
  });

  test("docs/lists.md describes the list as it is", () => {
    expect(readFileSync("docs/lists.md", "utf8")).toMatch(
      new RegExp(`\\| ${packed.list} +\\|.*\\| ${packed.entries} +\\|.*${packed.sha256}`),
    );
  });
});

test("docs/lists.md lists the packages of the lists with the used versions", () => {
  const { dependencies, pythonDependencies } = JSON.parse(
    readFileSync("scripts/lists/package.json", "utf8"),
  ) as Record<"dependencies" | "pythonDependencies", Record<string, string>>;
  const versions: Readonly<Record<string, string | undefined>> = {
    ...dependencies,
    "disposable-email-domains (PyPI)": pythonDependencies["disposable-email-domains"],
  };

  for (const { source, version } of [disposable, free, broad, rareEndings])
    expect(
      source
        .split(" and ")
        .map((name) => versions[name])
        .join(" and "),
    ).toBe(version);
});

test.each([...globSync("packages/*/package.json"), "package.json"])(
  "the package %s depends on none of the packages that the lists come from",
  (file) => {
    const text = readFileSync(file, "utf8");

    expect(
      ["disposable", "fakefilter", "mailchecker", "free-email", "role-based"].filter((name) =>
        text.includes(`"${name}`),
      ),
    ).toEqual([]);
  },
);

test("no domain appears twice on one of our lists", () => {
  expect(
    [popularProviders, relayDomains, webmailDomains, [...squats.keys()]].flatMap(listDuplicates),
  ).toEqual([]);
});

test("the popular providers are free providers that no list calls disposable", () => {
  const { free: isFree, disposable: isDisposable } = createLists();

  expect(popularProviders.filter((domain) => !isFree(domain) || isDisposable(domain))).toEqual([]);
});

test("the disposable list contains no relay, webmail or free provider", () => {
  const isFree = new Set([...listDomains(unpack(free.packed)), ...webmailDomains, ...relayDomains]);

  expect(listDomains(unpack(disposable.packed)).filter((domain) => isFree.has(domain))).toEqual([]);
});

test("a squat resembles a popular provider, and is no provider itself", () => {
  const { free: isFree } = createLists();

  expect([...squats.values()].filter((meant) => !popularProviders.includes(meant))).toEqual([]);
  expect([...squats.keys()].filter((typed) => isFree(typed))).toEqual([]);
});

test.each([
  ["gmial.com", "gmail.com"],
  ["gmai.com", "gmail.com"],
  ["hotmial.com", "hotmail.com"],
  ["yahooo.com", "yahoo.com"],
])("the list of squats maps %s to %s", (typed, meant) => {
  expect(squats.get(typed)).toBe(meant);
});

test("the reader reads a file of changes line by line, without its comments", () => {
  const text = [
    "\uFEFF# our own",
    "",
    "+disposable example.com",
    "  -free   Foo.DE.   # we serve them",
    "+trap x@Y.z.example",
    "+trap spam.example",
    "+trap odd#name@example.com",
    "+relay alias.example",
    "-role No_Reply",
  ].join("\r\n");

  expect(parseListChanges(text)).toEqual([
    { add: true, list: "disposable", entry: "example.com" },
    { add: false, list: "free", entry: "foo.de" },
    { add: true, list: "trap", entry: "x@y.z.example" },
    { add: true, list: "trap", entry: "spam.example" },
    { add: true, list: "trap", entry: "odd#name@example.com" },
    { add: true, list: "relay", entry: "alias.example" },
    { add: false, list: "role", entry: "no-reply" },
  ]);
});

test("the reader stores a domain in another script as its A-labels", () => {
  expect(parseListChanges("+disposable Müll.example")).toEqual([
    { add: true, list: "disposable", entry: "xn--mll-hoa.example" },
  ]);
});

test("an empty file changes nothing", () => {
  expect(parseListChanges("\n# nothing yet\n\n")).toEqual([]);
});

test.each([
  ["disposable example.com", /^Line 3 is not a change/],
  ["+ disposable example.com", /^Line 3 is not a change/],
  ["+disposable", /^Line 3 is not a change/],
  ["+disposble example.com", /^Line 3 names the list "disposble"; there are disposable, free/],
  ["+disposable example", /^Line 3 has an entry that is not a domain: example/],
  ["+disposable two words.example", /^Line 3 .* not a domain/],
  ["+disposable a@example.com", /^Line 3 .* not a domain/],
  ["+disposable *.example.com", /^Line 3 .* not a domain/],
  ["+disposable https://example.com", /^Line 3 .* not a domain/],
  ["+disposable a..example.com", /^Line 3 .* not a domain/],
  ["+disposable 192.0.2.1", /^Line 3 .* not a domain/],
  ["+free mü/ll.example", /^Line 3 .* not a domain/],
  ["+trap @example.com", /^Line 3 .* neither an address nor a domain/],
  ["+trap a b@example.com", /^Line 3 .* neither an address nor a domain/],
  ["+trap a@", /^Line 3 .* neither an address nor a domain/],
  ["+role front of house", /^Line 3 .* not a role word/],
  ["+role info@example.com", /^Line 3 .* not a role word/],
])("the reader refuses %j with the number of its line", (line, message) => {
  expect(() => parseListChanges(`# ours\n+free a.example\n${line}\n`)).toThrow(message);
});

const VERSION = { list: "ours", source: "", version: "1", entries: 0, sha256: "" };
const domains = fc.uniqueArray(fc.domain(), { maxLength: 60 });

test("unpacking returns the packed domains in the order of their bytes, and nothing else", () => {
  fc.assert(
    fc.property(domains, fc.domain(), (listed, other) => {
      const list = { ...VERSION, packed: pack(listed) };

      expect(listDomains(unpack(list.packed))).toEqual(listed.toSorted());
      expect(listed.every((domain) => isOn(list, domain))).toBe(true);
      expect(isOn(list, other)).toBe(listed.includes(other));
    }),
  );
});

test("the packed list is equal for every order of its domains", () => {
  fc.assert(
    fc.property(domains, (listed) => {
      expect(pack(listed.toReversed())).toBe(pack(listed));
    }),
  );
});

import { hash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { parseListChanges } from "@mailproof/mail/lists/changes";
import { broad } from "@mailproof/mail/lists/data/broad";
import { disposable } from "@mailproof/mail/lists/data/disposable";
import { free } from "@mailproof/mail/lists/data/free";
import { rareEndings } from "@mailproof/mail/lists/data/rare-endings";
import { getEditionAge, getEditionDate } from "@mailproof/mail/lists/edition-age";
import {
  assertReplaces,
  EditionFault,
  formatEdition,
  readEdition,
} from "@mailproof/mail/lists/edition-file";
import { createLists, createReplaceableLists, webmailDomains } from "@mailproof/mail/lists/lists";
import { findOrigin } from "@mailproof/mail/lists/origins";
import { isOn, listDomains, pack, readDomains, unpack } from "@mailproof/mail/lists/pack";
import { popularProviders, squats } from "@mailproof/mail/lists/providers";
import { LISTS_PUBLIC_KEY } from "@mailproof/mail/lists/public-key";
import { relayDomains } from "@mailproof/mail/lists/relays";
import { WHOLE_EDITION } from "@mailproof/mail/lists/whole-edition";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { asRows } from "../../runner/as-rows.ts";
import {
  createEdition,
  getEntries,
  KEYS,
  NEW_DOMAIN,
  OTHER_KEYS,
  SHIPPED,
  WITH_NEW_DOMAIN,
} from "../../things/editions.ts";

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

  test("docs/lists.md states the present size and version of the list", () => {
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

test("a typosquat domain resembles a popular provider and is not a provider", () => {
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

const NOW = new Date("2026-12-02T00:00:00Z");

const read = async (file: Uint8Array, key = KEYS.publicKey) => {
  let pauses = 0;
  const pause = async () => void pauses++;
  const edition = await readEdition(file, key, pause);
  return { edition, pauses };
};

const accept = async (file: Uint8Array) => {
  const { edition } = await read(file);
  await assertReplaces(edition, WHOLE_EDITION, { now: NOW, pause: async () => undefined });
  return edition;
};

test("a loaded edition contains the signed lists, and decides verdicts", async () => {
  const edition = await accept(createEdition(WITH_NEW_DOMAIN));
  const [before, after] = [createLists([], WHOLE_EDITION), createLists([], edition)];

  expect(edition.version).toBe("2026.12.1");
  expect(getEntries(edition)).toEqual([
    SHIPPED.disposable.length + 1,
    SHIPPED.broad.length,
    SHIPPED.free.length,
    SHIPPED.rareEndings.length,
  ]);
  expect([before, after].map((lists) => lists.disposable(NEW_DOMAIN))).toEqual([false, true]);
  for (const domain of ["mailinator.com", "a.yopmail.com", "gmail.com", "gmx.de", "example.com"])
    expect([after.disposable(domain), after.free(domain)]).toEqual([
      before.disposable(domain),
      before.free(domain),
    ]);
  expect(after.rareEnding("con-artists.cm")).toBe(before.rareEnding("con-artists.cm"));
  expect(after.edition).toBe("2026.12.1");
});

test("the reader of an edition yields to other work once for every 4,000 domains", async () => {
  const { edition, pauses } = await read(createEdition());

  expect(pauses).toBeGreaterThanOrEqual(getEntries(edition).reduce((sum, n) => sum + n) / 4_000);
});

const MILLION = Array.from({ length: 1_000_000 }, (_, at) => `${at}.example`);
const SHORT_NAMES = Array.from({ length: 260_000 }, (_, at) => `${at.toString(36)}.ab`);

test.each<[string, () => Buffer | Promise<Buffer>, string]>(asRows`
  no bytes | ${() => Buffer.alloc(0)} | no valid signature
  no signature | ${() => Buffer.from(formatEdition("2026.12.1", []))} | no valid signature
  half of its bytes | ${() => createEdition().subarray(0, 300_000)} | no valid signature
  all but its last line | ${() => cutLine(createEdition())} | no valid signature
  all but its last byte of signature | ${() => createEdition().subarray(0, -4)} | no valid signature
  one letter changed | ${() => changeByte(createEdition(), 100_000)} | no valid signature
  the signature of another | ${() => createEdition({ privateKey: OTHER_KEYS.privateKey })} | no valid signature
  a million names | ${() => createEdition({ domains: { broad: MILLION } })} | over 4000000 bytes
  260,000 short names | ${() => createEdition({ domains: { broad: SHORT_NAMES } })} | names; there may be 250000
  another format | ${() => edited('"format":1', '"format":2')} | no header that this release reads
  a header that is no JSON | ${() => edited('{"format"', "format")} | no header that this release
  a list twice | ${() => edited('"list":"free"', '"list":"broad"')} | a list twice
  fewer domains than it says | ${() => edited(/"entries":\d+/, '"entries":200000')} | no sorted domain
  more domains than it says | ${() => edited(/"entries":346/, '"entries":345')} | more domains than
  a line that is no domain | ${() => edited("\nyopmail.com\n", "\nyopmail com\n")} | no sorted domain
  a domain twice | ${() => edited("\nyopmail.com\n", "\nyopmail.com\nyopmail.com\n")} | no sorted
  the version of the lists in use | ${() => createEdition({ version: WHOLE_EDITION.version })} | in use
  an older version | ${() => createEdition({ version: "2026.9.30" })} | is 2026.9.30, and 2026.
  a day that is yet to come | ${() => createEdition({ version: "2027.1.1" })} | yet to come
  a list without a third of its names | ${() => createEdition({ domains: { free: SHIPPED.free.filter((_, at) => at % 3 !== 0).slice(1) } })} | names of free
  a list of other names | ${() => createEdition({ domains: { disposable: SHIPPED.disposable.map((one) => `x${one}`) } })} | names of disposable
  an empty list | ${() => createEdition({ domains: { rareEndings: [] } })} | names of rareEndings
`)("the reader refuses a file with %s", async (_what, make, reason) => {
  const file = await make();

  await expect(accept(file)).rejects.toThrow(EditionFault);
  await expect(accept(file)).rejects.toThrow(reason);
});

const edited = (from: string | RegExp, to: string): Buffer =>
  createEdition({ edit: (body) => body.replace(from, to) });
const cutLine = (file: Buffer): Buffer => file.subarray(0, file.lastIndexOf("\n", -2) + 1);
const changeByte = (file: Buffer, at: number): Buffer => {
  file[at] = file[at] === 0x61 ? 0x62 : 0x61;
  return file;
};

test("a second edition of one day is newer, and days compare as numbers", async () => {
  for (const version of [`${WHOLE_EDITION.version}.1`, "2026.12.2"])
    expect((await accept(createEdition({ version }))).version).toBe(version);
  expect(getEditionAge("2026.11.23.1", NOW)).toBe(9);
  expect(getEditionAge("2026.12.5", NOW)).toBe(0);
});

test("this release contains a public key that differs from the key of the tests", async () => {
  await expect(read(createEdition(), LISTS_PUBLIC_KEY)).rejects.toThrow("no valid signature");
});

test("replaced lists answer as the new ones, and a verification keeps the lists of its start", async () => {
  const { edition } = await read(createEdition(WITH_NEW_DOMAIN));
  const { lists, replace } = createReplaceableLists(createLists([], WHOLE_EDITION));
  const begunWith = lists.current();

  replace(createLists([], edition));

  expect([lists.disposable(NEW_DOMAIN), lists.edition]).toEqual([true, "2026.12.1"]);
  expect([begunWith.disposable(NEW_DOMAIN), begunWith.edition]).toEqual([
    false,
    WHOLE_EDITION.version,
  ]);
  expect(lists.versions).not.toEqual(begunWith.versions);
});

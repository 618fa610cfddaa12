import { discover, getPublishedPolicy } from "@mailproof/mail/dmarc/discover";
import fc from "fast-check";
import {
  createRecordLookup,
  type Discovered,
  discoverPolicy,
  getPolicyTags,
} from "mailauth/lib/dmarc/get-dmarc-record.js";
import { expect, test } from "vitest";
import { createZoneDns, type Zone } from "../app/zone.ts";
import { createResolver } from "./resolver.ts";

// Goal: our way to the DMARC record that counts leads where mailauth's does (RFC 9989 §4.10), written by others.
// Method: any records at any of a domain's names, and troubles among them; the record, where it stands, the
// organisational domain and what it asks for are compared, and every difference is explained by a row.

const RUNS = { seed: 20261121, numRuns: 3_000 };

const DOMAINS = [
  "example.com",
  "a.example.com",
  "b.a.example.com",
  // Nine labels: the walk leaps over one (§4.10 step 4).
  "i.h.g.f.e.b.a.example.com",
  "example.co.uk",
  "com",
];

const tag = fc.constantFrom(
  "p=none",
  "p=quarantine",
  "p=reject",
  "P=reject",
  "p=REJECT",
  "p=nonsense",
  "p=",
  "sp=none",
  "sp=reject",
  "sp=bad",
  "np=quarantine",
  "np=bad",
  "psd=y",
  "psd=n",
  "psd=u",
  "psd=Y",
  "psd=x",
  "t=y",
  "adkim=s",
  "pct=50",
  "rua=mailto:d@example.com",
  "rua=d@example.com",
  "rua=https://example.com/report",
  "rua=mailto:d@example.com!10m",
  "unknown=1",
  "nonsense",
  " p = reject ",
  "",
);
const version = fc.constantFrom(
  ...Array.from({ length: 12 }, () => "v=DMARC1"),
  "V=DMARC1",
  "v = DMARC1 ",
  "v=dmarc1",
  "v=DMARC2",
  "v=DMARC10",
  "p=none; v=DMARC1",
);
const record = fc
  .tuple(version, fc.array(tag, { maxLength: 4 }))
  .map(([first, tags]) => [first, ...tags].join(";"));
const texts = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(record) },
  { weight: 1, arbitrary: fc.tuple(record, record) },
  { weight: 1, arbitrary: fc.tuple(record, fc.constantFrom("v=spf1 -all", "hello")) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ["hello"],
      [" v=DMARC1; p=reject"],
      ["v=DMARC1; p=reject "],
      ["v=DMARC1"],
    ),
  },
);
const trouble = fc.constantFrom("SERVFAIL", "TIMEOUT", "REFUSED");

const getParents = (domain: string): readonly string[] =>
  domain.split(".").map((_, at, labels) => labels.slice(at).join("."));

const cases = fc
  .constantFrom(...DOMAINS)
  .chain((domain) =>
    fc
      .tuple(
        ...getParents(domain).map((name) =>
          fc
            .oneof(
              { weight: 10, arbitrary: texts.map((TXT): Zone[string] => ({ TXT })) },
              { weight: 8, arbitrary: fc.constant(undefined) },
              { weight: 1, arbitrary: trouble },
            )
            .map((at) => (at === undefined ? [] : [[`_dmarc.${name}`, at] as const])),
        ),
      )
      .map((entries) => ({ domain, names: Object.fromEntries(entries.flat()) as Zone })),
  );

/** Undefined: names that did not answer leave it open. */
type Found =
  | {
      /** Null: there is no record that counts. */
      readonly at: string | null;
      readonly text: string | null;
      readonly organisation: string | null;
      readonly policy: string | null;
    }
  | undefined;

const ours = async (names: Zone, domain: string): Promise<Found> => {
  const { found, organisation, isOpen } = await discover(createZoneDns(names), domain);
  if (!found && isOpen) return undefined;
  if (!found) return { at: null, text: null, organisation, policy: null };
  return {
    at: found.domain,
    text: found.record.text.trimEnd(),
    organisation: isOpen ? null : organisation,
    policy: getPublishedPolicy(found, domain, true),
  };
};

const theirs = async (names: Zone, domain: string): Promise<Found> => {
  const lookup = createRecordLookup(createResolver(createZoneDns(names)), { strict: true });
  const found = await discoverPolicy(domain, lookup).catch((): Discovered | null => null);
  if (!found) return undefined;
  const { record, recordDomain, orgDomain: organisation } = found;
  if (!record) return { at: null, text: null, organisation, policy: null };
  const tags = getPolicyTags(record);
  const policy = (recordDomain === domain ? tags?.["p"] : (tags?.["sp"] ?? tags?.["p"])) ?? null;
  return { at: recordDomain, text: record["rr"] ?? null, organisation, policy };
};

/** A difference that is known: why it stays, and the zone without what makes it; undefined takes a record out. */
type ExplainedDifference = {
  readonly why: string;
  readonly without: (text: string) => string | undefined;
};

const hasTwice = (text: string): boolean => {
  const names = text
    .split(";")
    .flatMap((part) => /^\s*([a-z]+)\s*=/i.exec(part)?.[1]?.toLowerCase() ?? []);
  return new Set(names).size < names.length;
};

const EXPLAINED: readonly ExplainedDifference[] = [
  {
    why: "mailauth forgives white space in front of the version. By RFC 9989 §4.7 the version comes first, and a checker that forgives leaves a record alone that others do not find. Ours says so (DMARC_WRONG_PLACE).",
    without: (text) => (text.startsWith(" ") ? undefined : text),
  },
  {
    why: "A tag that stands twice makes mailauth, when it is strict, discard the record (RFC 6376 §3.2); when it is not, the last one counts. Ours reads on, by the first, so that it can tell what else is wrong, and takes nearly all points (DMARC_DUP_TAG).",
    without: (text) => (hasTwice(text) ? undefined : text),
  },
  {
    why: "mailauth, when it is strict, knows no tag in capitals (RFC 6376 §3.2); when it is not, it reads them, as receivers do and as ours does.",
    without: (text) => text.replaceAll(/(?<=;\s*)[A-Z]+(?=\s*=)/g, (name) => name.toLowerCase()),
  },
];

const mended = (names: Zone): Zone =>
  Object.fromEntries(
    Object.entries(names).map(([name, at]) => {
      if (typeof at === "string" || typeof at.TXT !== "object") return [name, at];
      const TXT = at.TXT.flatMap((text) =>
        EXPLAINED.reduce<readonly string[]>(
          (remaining, { without }) => remaining.flatMap((one) => without(one) ?? []),
          [text],
        ),
      );
      return [name, { TXT }];
    }),
  );

const listTexts = (names: Zone): readonly string[] =>
  Object.values(names).flatMap((at) =>
    typeof at === "object" && typeof at.TXT === "object" ? at.TXT : [],
  );

/** Both, where what is known to differ is taken out if they differ. */
const whenBoth = async (names: Zone, domain: string) => {
  const found = [await ours(names, domain), await theirs(names, domain)] as const;
  if (JSON.stringify(found[0]) === JSON.stringify(found[1])) return { found, explained: [] };
  const explained = EXPLAINED.filter(({ without }) =>
    listTexts(names).some((text) => without(text) !== text),
  );
  const alike = mended(names);
  return { found: [await ours(alike, domain), await theirs(alike, domain)] as const, explained };
};

test("the DMARC tree walk finds the record and the report request of mailauth in random zones", async () => {
  const met = new Set<string>();
  await fc.assert(
    fc.asyncProperty(cases, async ({ domain, names }) => {
      const { found, explained } = await whenBoth(names, domain);
      for (const { why } of explained) met.add(why);
      met.add(found[0] ? `a record: ${found[0].at !== null}` : "open");

      expect(found[0], `${domain} ${JSON.stringify(names)}`).toEqual(found[1]);
    }),
    RUNS,
  );
  // Else the zones are too tame to compare anything.
  const FOUND = ["a record: true", "a record: false", "open"];
  expect(met).toEqual(new Set([...FOUND, ...EXPLAINED.map(({ why }) => why)]));
});

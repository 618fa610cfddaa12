import { evaluateSpf, type SpfEvaluation } from "@mailproof/mail/spf/evaluate";
import { SPF_LIMITS, type SpfLimits } from "@mailproof/mail/spf/limits";
import fc from "fast-check";
import { spf } from "mailauth/lib/spf/index.js";
import { expect, test } from "vitest";
import { createZoneDns, type Zone } from "../app/zone.ts";
import { createResolver } from "./resolver.ts";

// Goal: our evaluation of SPF comes to what mailauth's does, written by others from the same RFC.
// Method: any policies over a few names that lead to each other, with every mechanism, modifier, fault and trouble,
// and every difference explained by a row that says whose it is.

const RUNS = { seed: 20261121, numRuns: 3_000 };

const NAMES = ["d0.test", "d1.test", "d2.test", "d3.test", "gone.test"];
const [ROOT = ""] = NAMES;
const IP4 = "192.0.2.1";
const IP6 = "2001:db8::1";

const name = fc.constantFrom(...NAMES);
const sign = fc.constantFrom("", "", "", "+", "-", "?", "~");
const macro = fc.constantFrom(
  "%{i}.d1.test",
  "%{l}.d1.test",
  "%{o}",
  "%{d1r}.d2.test",
  "%{ir}.%{v}.d1.test",
  "%{h}",
  "%{s}.d1.test",
  "%{d2}",
);
const target = fc.oneof(name, macro).map((text) => `:${text}`);
const optional = fc.oneof(fc.constant(""), target);
const lengths = fc.constantFrom("", "", "", "/24", "/32", "/0", "//64", "//128", "/24//64");
const block = fc.constantFrom(
  "ip4:192.0.2.0/24",
  "ip4:192.0.2.1",
  "ip4:198.51.100.0/24",
  "ip6:2001:db8::/32",
  "ip6:2001:db8::2",
  "ip6:::ffff:192.0.2.1",
  "ip4:0.0.0.0/0",
);

const mechanism = fc.oneof(
  target.map((text) => `include${text}`),
  fc.tuple(fc.constantFrom("a", "mx"), optional, lengths).map((parts) => parts.join("")),
  optional.map((text) => `ptr${text}`),
  target.map((text) => `exists${text}`),
  block,
  fc.constant("all"),
);
const sound = fc.tuple(sign, mechanism).map((parts) => parts.join(""));
const faulty = fc.constantFrom(
  "moo",
  "ip4:1.2.3",
  "ip4:1.2.3.4/33",
  "ip6:192.0.2.1",
  "include:",
  "include",
  "exists",
  "a:192.0.2.1",
  "a/33",
  "mx//129",
  "a:d1",
  "-all.",
  "all:d1.test",
  "exists:%{x}.d1.test",
  "redirect=d1.test",
  "exp=gone.test",
  "ra=x",
  "a:%",
  "ptr/24",
  "ip4",
  "=x",
  "x1.y_z-=%{l}",
);
const term = fc.oneof({ weight: 12, arbitrary: sound }, { weight: 1, arbitrary: faulty });
const modifier = fc.oneof(
  fc.oneof(name, macro).map((text) => `redirect=${text}`),
  fc.constantFrom("exp=gone.test", "exp=d1.test", "r=postmaster"),
);

const record = fc
  .tuple(fc.array(term, { maxLength: 5 }), fc.option(modifier, { freq: 3, nil: "" }))
  .map(([terms, last]) => ["v=spf1", ...terms, last].join(" ").trimEnd());

const trouble = fc.constantFrom("SERVFAIL", "TIMEOUT", "REFUSED");
const records = fc.record(
  {
    TXT: fc.oneof(
      { weight: 8, arbitrary: fc.tuple(record) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          ["hello"],
          ["v=spf1", "v=spf1 -all"],
          ["V=SPF1 -all"],
          ["v=spf10 -all"],
          ["v=spf1"],
          ["v=spf1  -all "],
        ),
      },
      { weight: 1, arbitrary: trouble },
    ),
    A: fc.constantFrom([IP4], ["198.51.100.1"], ["192.0.2.77", IP4]),
    AAAA: fc.constantFrom([IP6], ["2001:db8::77"]),
    MX: fc.constantFrom(
      ["10 d1.test", "20 gone.test"],
      ["10 gone.test", "20 gone.d1.test"],
      ["0 ."],
      ["10 d2.test"],
      Array.from({ length: 11 }, (_, n) => `${n} d2.test`),
    ),
  },
  { requiredKeys: ["TXT"] },
);

const zones: fc.Arbitrary<Zone> = fc
  .tuple(
    ...NAMES.slice(0, -1).map((text) =>
      fc
        .oneof({ weight: 30, arbitrary: records }, { weight: 1, arbitrary: trouble })
        .map((at) => [text, at] as const),
    ),
    fc
      .constantFrom(["d1.test"], ["gone.test"], ["d2.test", "mail.d0.test"])
      .map((PTR) => ["1.2.0.192.in-addr.arpa", { PTR }] as const),
    fc.constantFrom(["192.0.2.9"], [IP4]).map((A) => ["mail.d0.test", { A }] as const),
    fc.constantFrom({ A: ["127.0.0.2"] }, {}).map((at) => ["192.0.2.1.d1.test", at] as const),
    fc.constantFrom({ A: ["127.0.0.2"] }, {}).map((at) => ["ann.d1.test", at] as const),
  )
  .map((entries) => Object.fromEntries(entries) as Zone);

const senders = fc.constantFrom(`ann@${ROOT}`, `Ann+x@${ROOT}`, "");

type Case = {
  readonly names: Zone;
  readonly query: { readonly ip: string; readonly sender: string; readonly helo: string };
  readonly ours: SpfEvaluation;
  readonly theirs: { readonly result: string; readonly comment: string; readonly lookups: number };
};

const evaluated = ({ names, query }: Pick<Case, "names" | "query">, limits = SPF_LIMITS) =>
  evaluateSpf(createZoneDns(names), { ...query, domain: ROOT }, limits);

/** A limit that ours reached and theirs did not: without it, ours comes to the same as theirs. */
const reached =
  (reason: string, limits: Partial<SpfLimits>) =>
  async (one: Case): Promise<boolean> => {
    const unlimited = await evaluated(one, { ...SPF_LIMITS, ...limits });
    return one.ours.problem?.reason === reason && unlimited.result === one.theirs.result;
  };

/** A difference that is known, and how to tell it. What no row explains is a fault, of ours most likely. */
type ExplainedDifference = {
  /** Whose it is, and why it stays. */
  readonly why: string;
  readonly holds: (one: Case) => boolean | Promise<boolean>;
};

const UNLIMITED = { voidsMax: 1_000, namesMax: 1_000 };

const EXPLAINED: readonly ExplainedDifference[] = [
  {
    why: "mailauth looks up the hosts of an mx one by one, and a match or a fault among the first ten ends that before the eleventh is too many. Ours counts them first, so that the order of the answer changes nothing (RFC 7208 §4.6.4).",
    holds: reached("too_many_mx_names", UNLIMITED),
  },
  {
    why: "mailauth takes no account of a host of an mx that has no address. Ours counts it among the void look-ups: §4.6.4 speaks of all questions that a term leads to.",
    holds: reached("too_many_void_lookups", UNLIMITED),
  },
];

const findExplanation = async (one: Case): Promise<string | undefined> => {
  for (const { why, holds } of EXPLAINED) if (await holds(one)) return why;
  return undefined;
};

/** An error ends the count where each happens to notice it. */
const getLookups = ({ ours, theirs }: Case): number =>
  ours.problem || ours.result === "none" ? ours.lookups : theirs.lookups;

const whenBoth = async (names: Zone, ip: string, sender: string): Promise<Case> => {
  const query = { ip, sender, helo: ROOT };
  const resolver = createResolver(createZoneDns(names));
  const { status, lookups } = await spf({ ...query, resolver, strict: true });
  const theirs = { result: status.result, comment: status.comment, lookups: lookups?.count ?? 0 };
  return { names, query, ours: await evaluated({ names, query }), theirs };
};

test("the SPF evaluation returns the result of mailauth for random records", async () => {
  const met = new Set<string>();
  await fc.assert(
    fc.asyncProperty(zones, fc.constantFrom(IP4, IP4, IP6), senders, async (names, ip, sender) => {
      const both = await whenBoth(names, ip, sender);
      met.add(both.ours.result);
      const explanation =
        both.ours.result === both.theirs.result ? "the same" : await findExplanation(both);
      if (explanation !== undefined) met.add(explanation);

      expect(["the same", ...EXPLAINED.map(({ why }) => why)], `${JSON.stringify(both)}`).toContain(
        explanation,
      );
      expect(getLookups(both), `${JSON.stringify(both)}`).toBe(both.ours.lookups);
    }),
    RUNS,
  );
  // Else the zones are too tame to compare anything.
  const RESULTS = ["none", "neutral", "pass", "fail", "softfail", "temperror", "permerror"];
  expect(met).toEqual(new Set([...RESULTS, "the same", ...EXPLAINED.map(({ why }) => why)]));
});

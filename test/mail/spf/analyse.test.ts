import { analyseSpf, type SpfInput } from "@mailproof/mail/spf/analyse";
import { SPF_RULES } from "@mailproof/mail/spf/rules";
import { expect, test } from "vitest";
import { createZoneDns, type Zone } from "../../app/zone.ts";
import { asRows } from "../../runner/as-rows.ts";

const spf = (...terms: string[]) => ({ TXT: [["v=spf1", ...terms].join(" ")] });
const policy = (...terms: string[]): Zone => ({ "a.test": spf(...terms) });
const many = (count: number, make: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => make(n));

const whenAnalysed = async (names: Zone, input: Partial<SpfInput> = {}) => {
  const dns = createZoneDns(names);
  const found = await analyseSpf(dns, { domain: "a.test", ...input });
  return { ...found, ids: found.issues.map(({ id }) => id), calls: dns.calls };
};

/** A placeholder for a detail that was not given: "{host}" and not the macro "%{h}", or nothing between two spaces. */
const UNFILLED = /(?<!%)\{|undefined| {2}|^ /;

const LONG = many(24, (n) => `ip4:192.0.2.${100 + n}/32`);
const VERY_LONG = many(40, (n) => `ip4:192.0.2.${100 + n}`);
const AS = (count: number): Zone => ({
  ...policy(...many(count, (n) => `a:n${n}.test`), "-all"),
  ...Object.fromEntries(many(count, (n) => `n${n}.test`).map((name) => [name, { A: ["8.8.8.8"] }])),
});
const MX = (count: number): Zone => ({
  "a.test": { ...spf("mx", "-all"), MX: many(count, (n) => `10 n${n % 3}.test`) },
  "n0.test": { A: ["8.8.8.8"] },
  "n1.test": { A: ["8.8.8.8"] },
  "n2.test": { A: ["8.8.8.8"] },
});
const PTR = (count: number): Zone => ({
  ...policy("ptr", "-all"),
  "1.2.0.192.in-addr.arpa": { PTR: many(count, (n) => `n${n}.test`) },
});
const INCLUDING = (...terms: string[]): Zone => ({
  "a.test": spf("include:b.test", "-all"),
  "b.test": spf(...terms),
});
const SENDING = { sendingIp: "192.0.2.1" };

type Row = [
  rule: string,
  severity: string,
  costPoints: number,
  broken: Zone,
  kept: Zone,
  input?: Partial<SpfInput>,
];

const rows: Row[] = asRows<Row>`
  SPF_MISSING | high | 100 | ${{ "a.test": { TXT: ["v=spf10 -all"] } }} | ${policy("-all")}
  SPF_MISSING | high | 100 | ${{}} | ${policy()}
  SPF_MULTIPLE | critical | 100 | ${{ "a.test": { TXT: ["v=spf1 -all", "V=SPF1 -all"] } }}
    | ${{ "a.test": { TXT: ["v=spf1 -all", "v=spf2.0/pra -all"] } }}
  SPF_MULTIPLE | critical | 100 | ${{ ...policy("include:b.test", "-all"), "b.test": { TXT: ["v=spf1", "v=spf1"] } }} | ${INCLUDING()}
  SPF_SYNTAX | critical | 80 | ${policy("ip4:192.0.2.1~all")} | ${policy("ip4:192.0.2.1", "~all")}
  SPF_SYNTAX | critical | 80 | ${policy("-all", "moo")} | ${policy("-all", "moo=")}
  SPF_SYNTAX | critical | 80 | ${INCLUDING("include")} | ${INCLUDING("a")}
  SPF_LOOKUPS_GT_10 | critical | 70 | ${AS(11)} | ${AS(10)}
  SPF_LOOKUPS_GT_10 | critical | 70 | ${{ ...AS(10), "a.test": spf("include:b.test", "-all"), "b.test": AS(10)["a.test"] ?? {} }}
    | ${{ ...AS(10), "a.test": spf("include:b.test", "-all"), "b.test": AS(9)["a.test"] ?? {} }}
  SPF_LOOKUPS_8_10 | low | 5 | ${AS(8)} | ${AS(7)}
  SPF_LOOKUPS_8_10 | low | 5 | ${AS(10)} | ${AS(11)}
  SPF_VOID_GT_2 | high | 40 | ${policy("a", "mx", "exists:b.test", "-all")} | ${policy("a", "mx", "-all")}
  SPF_VOID_GT_2 | high | 40 | ${{ "a.test": { ...spf("mx", "-all"), MX: ["1 x.test", "2 y.test", "3 z.test"] } }}
    | ${{ "a.test": { ...spf("mx", "-all"), MX: ["1 x.test", "2 y.test"] } }}
  SPF_MX_GT_10 | high | 40 | ${MX(11)} | ${MX(10)}
  SPF_PTR_GT_10 | high | 40 | ${PTR(11)} | ${PTR(10)} | ${SENDING}
  SPF_INCLUDE_NONE | critical | 70 | ${{ ...policy("include:b.test", "-all"), "b.test": { TXT: ["hello"] } }}
    | ${{ ...policy("-all", "include:b.test"), "b.test": { TXT: ["hello"] } }}
  SPF_INCLUDE_NONE | critical | 70 | ${policy(`include:${"x".repeat(64)}.test`)} | ${INCLUDING()}
  SPF_DANGLING_INCLUDE | high | 70 | ${policy("include:b.test", "-all")} | ${INCLUDING()}
  SPF_DANGLING_INCLUDE | high | 70 | ${INCLUDING("include:gone.%{d}")} | ${{ ...INCLUDING("include:here.%{d}"), "here.b.test": spf() }}
  SPF_REDIRECT_NONE | critical | 70 | ${policy("redirect=b.test")} | ${{ ...policy("redirect=b.test"), "b.test": spf("-all") }}
  SPF_REDIRECT_NONE | critical | 70 | ${{ ...policy("redirect=b.test"), "b.test": {} }} | ${policy("redirect=b.test", "-all")}
  SPF_LOOP | critical | 80 | ${policy("include:A.test", "-all")} | ${INCLUDING()}
  SPF_LOOP | critical | 80 | ${policy("redirect=a.test")} | ${policy("redirect=a.test", "-all")}
  // Two ways to one record are no loop.
  SPF_LOOP | critical | 80 | ${{ ...INCLUDING("redirect=c.test"), "c.test": spf("include:b.test", "-all") }}
    | ${{ ...policy("include:b.test", "include:c.test", "-all"), "b.test": spf("include:c.test"), "c.test": spf() }}
  SPF_PLUS_ALL | critical | 90 | ${policy("+all")} | ${policy("-all")}
  // A range that holds every address is reported as a range.
  SPF_PLUS_ALL | critical | 90 | ${policy("all")} | ${policy("ip4:0.0.0.0/0", "-all")}
  SPF_PLUS_ALL | critical | 90 | ${policy("mx", "all")} | ${policy("mx", "-all", "+all")}
  SPF_PLUS_ALL | critical | 90 | ${INCLUDING("+all")} | ${INCLUDING("?all")}
  // What lets everybody in there is refused here.
  SPF_PLUS_ALL | critical | 90 | ${{ ...INCLUDING("redirect=c.test"), "c.test": spf("all") }}
    | ${{ ...policy("-include:b.test", "+all"), "b.test": spf("all") }}
  SPF_PLUS_ALL | critical | 90 | ${{ ...policy("exists:b.test", "-all"), "b.test": { A: ["127.0.0.1"] } }}
    | ${{ ...policy("exists:%{i}.b.test", "-all"), "b.test": { A: ["127.0.0.1"] } }}
  SPF_NEUTRAL_ALL | medium | 30 | ${policy("?all")} | ${policy("~all")}
  // No address fits an mx without an address, however wide.
  SPF_NEUTRAL_ALL | medium | 30 | ${{ "a.test": { ...spf("mx/0", "?all"), MX: ["1 gone.test"] } }}
    | ${{ "a.test": { ...spf("mx/0", "?all"), MX: ["1 b.test"] }, "b.test": { A: ["8.8.8.8"] } }}
  SPF_NEUTRAL_ALL | medium | 30 | ${policy("mx")} | ${policy("mx", "-all")}
  SPF_NEUTRAL_ALL | medium | 30 | ${{ ...policy("redirect=b.test"), "b.test": spf("mx") }} | ${{ ...policy("redirect=b.test"), "b.test": spf("-all") }}
  SPF_SOFTFAIL | info | 0 | ${policy("~all")} | ${policy("-all")}
  SPF_TERMS_AFTER_ALL | low | 5 | ${policy("-all", "mx")} | ${policy("mx", "-all", "exp=b.test")}
  SPF_TERMS_AFTER_ALL | low | 5 | ${policy("redirect=b.test", "-all")} | ${{ ...policy("redirect=b.test"), "b.test": spf("-all") }}
  // What a redirect leads to is one's own, what an include leads to is others'.
  SPF_TERMS_AFTER_ALL | low | 5 | ${{ ...policy("redirect=b.test"), "b.test": spf("-all", "mx") }} | ${INCLUDING("-all", "mx")}
  SPF_PTR | medium | 10 | ${policy("ptr", "-all")} | ${policy("-all", "ptr")}
  SPF_PTR | medium | 10 | ${INCLUDING("ptr:c.test")} | ${INCLUDING()}
  SPF_DUP_INCLUDE | low | 3 | ${{ ...INCLUDING(), "a.test": spf("include:b.test", "include:B.test", "-all") }} | ${INCLUDING()}
  SPF_LONG | low | 3 | ${policy(...LONG, "-all")} | ${policy(...LONG.slice(2), "-all")}
  SPF_LONG | medium | 8 | ${policy(...VERY_LONG, "-all")} | ${policy(...VERY_LONG.slice(20), "-all")}
  SPF_SENDERID | info | 0 | ${{ "a.test": { TXT: ["spf2.0/pra,mfrom -all", "v=spf1 -all"] } }} | ${policy("-all")}
  SPF_WIDE_CIDR | medium | 15 | ${policy("ip4:8.0.0.0/15", "-all")} | ${policy("ip4:8.0.0.0/16", "-all")}
  SPF_WIDE_CIDR | medium | 15 | ${policy("a/15", "-all")} | ${policy("a/16", "-all")}
  SPF_WIDE_CIDR | info | 0 | ${INCLUDING("ip4:8.0.0.0/15")} | ${INCLUDING("ip4:8.0.0.0/16")}
  SPF_WIDE_CIDR | critical | 90 | ${policy("ip4:0.0.0.0/0", "-all")} | ${policy("ip4:8.8.8.8", "-all")}
  SPF_WIDE_CIDR | critical | 90 | ${policy("ip4:0.0.0.0/1", "ip4:128.0.0.0/1")} | ${policy("-all")}
  SPF_WIDE_CIDR | critical | 90 | ${policy("ip6:::/0", "-all")} | ${policy("ip6:2001:db8::/32", "-all")}
  SPF_WIDE_CIDR | critical | 90 | ${policy("mx/0", "-all")} | ${policy("mx", "-all")}
  SPF_WIDE_CIDR | critical | 90 | ${INCLUDING("ip4:0.0.0.0/0")} | ${INCLUDING("ip4:8.8.8.8")}
  SPF_WIDE_CIDR | critical | 90 | ${policy("ip4:0.0.0.0/0", "-all")} | ${policy("-ip4:0.0.0.0/0", "?ip4:0.0.0.0/0")}
  SPF_MACRO | info | 0 | ${policy("exists:%{i}.b.test", "-all")} | ${policy("exists:%{d}", "-all")}
  SPF_MACRO | info | 0 | ${policy("redirect=%{h}")} | ${policy("exp=%{h}", "-all")}
  SPF_IP_NOT_COVERED | high | 40 | ${policy("ip4:192.0.2.2", "-all")} | ${policy("ip4:192.0.2.1", "-all")} | ${SENDING}
  SPF_IP_NOT_COVERED | high | 40 | ${policy("~all")} | ${INCLUDING("ip4:192.0.2.0/24")} | ${SENDING}
  SPF_TEMPERROR | info | 0 | ${{ "a.test": "SERVFAIL" }} | ${policy("-all")}
  SPF_TEMPERROR | info | 0 | ${{ ...policy("include:b.test", "-all"), "b.test": "TIMEOUT" }}
    | ${{ ...policy("-all", "include:b.test"), "b.test": "TIMEOUT" }}
  SPF_TEMPERROR | info | 0 | ${{ ...policy("a:b.test", "-all"), "b.test": "REFUSED" }} | ${policy("a:b.test", "-all")}
  SPF_TEMPERROR | info | 0 | ${{ ...policy("exists:%{i}.b.test", "-all"), "192.0.2.1.b.test": "TIMEOUT" }} | ${policy("exists:%{i}.b.test", "-all")}
    | ${SENDING}
`;

test.each(rows)(
  "the SPF analysis raises %s as %s, at a cost of %i points",
  async (id, severity, costPoints, broken, without, input) => {
    const message = await whenAnalysed(broken, input);

    const [first] = message.issues.filter((issue) => issue.id === id);
    expect(first).toMatchObject({ severity, costPoints });
    expect(first?.message).not.toMatch(UNFILLED);
    expect((await whenAnalysed(without, input)).ids).not.toContain(id);
  },
);

test.each([
  ["no policy", {}],
  ["two policies", { "a.test": { TXT: ["v=spf1 -all", "v=spf1 mx -all"] } }],
  ["a policy that cannot be read", policy("moo", "-all")],
  ["a broken policy in front of it", policy("include:gone.test", "ip4:192.0.2.1", "-all")],
])("the analysis reports no uncovered address for a record with %s", async (_, names) => {
  expect((await whenAnalysed(names, SENDING)).ids).toHaveLength(1);
});

test("these tests cover every rule of the analysis", () => {
  const covered = new Set(rows.map(([id]) => id));

  const ids = Object.entries(SPF_RULES).map(([rule, spec]) => ("id" in spec ? spec.id : rule));
  expect(ids.filter((id) => !covered.has(id))).toEqual([]);
});

test.each(asRows<[string, Zone, string, number | null]>`
  a policy without fault | ${policy("mx", "ip4:192.0.2.1", "-all")} | pass | 100
  a policy with a mere note | ${policy("~all")} | pass | 100
  a policy with a lesser fault | ${policy("?all")} | warn | 70
  a policy with a grave fault | ${policy("moo", "-all")} | fail | 20
  more faults than points | ${{ ...policy("+all", "moo", "mx:b") }} | fail | 0
  no policy | ${{}} | missing | 0
  a silent name server | ${{ "a.test": "TIMEOUT" }} | error | null
  a failing name server beside a fault | ${{ ...policy("moo", "include:b.test", "-all"), "b.test": "SERVFAIL" }} | error | null
`)("the analysis gives %s the status %s", async (_, names, status, score) => {
  expect(await whenAnalysed(names)).toMatchObject({ status, score });
});

test("the analysis reports all issues at once, gravest first, with the points that the score lost", async () => {
  const { issues, score } = await whenAnalysed(
    {
      "a.test": spf(
        "ptr",
        "include:b.test",
        "include:c.test",
        "ip4:8.0.0.0/12",
        "include:b.test",
        "?all",
        "mx",
      ),
      "b.test": spf("a", "mx", "exists:%{l}.b.test", "include:d.test", "-all"),
      "d.test": spf("ip4:1.2.3", "~all"),
    },
    { sendingIp: "192.0.2.1" },
  );

  expect(issues.map(({ id, detail }) => [id, detail["domain"]])).toEqual([
    ["SPF_SYNTAX", "d.test"],
    ["SPF_LOOKUPS_GT_10", "a.test"],
    ["SPF_DANGLING_INCLUDE", "a.test"],
    ["SPF_VOID_GT_2", "a.test"],
    ["SPF_NEUTRAL_ALL", "a.test"],
    ["SPF_WIDE_CIDR", "a.test"],
    ["SPF_PTR", "a.test"],
    ["SPF_TERMS_AFTER_ALL", "a.test"],
    ["SPF_DUP_INCLUDE", "a.test"],
    ["SPF_MACRO", "b.test"],
  ]);
  expect(score).toBe(0);
});

test("a rule violated three times raises three issues and costs its points once", async () => {
  const { issues, score } = await whenAnalysed(policy("ptr", "ptr:b.test", "?ptr", "-all"));

  expect(issues.map(({ id, costPoints }) => [id, costPoints])).toEqual([
    ["SPF_PTR", 10],
    ["SPF_PTR", 0],
    ["SPF_PTR", 0],
  ]);
  expect(score).toBe(90);
});

test("the analysis reports a missing space with its position", async () => {
  const { issues } = await whenAnalysed(policy("ip4:192.0.2.1~all"));

  // And not that the "all" is missing.
  expect(issues).toHaveLength(1);
  expect(issues[0]).toMatchObject({
    detail: { domain: "a.test", term: "ip4:192.0.2.1~all", at: 7, fault: "missing_space" },
    message: expect.stringContaining("a space is missing"),
  });
});

test("the analysis shows an invisible byte", async () => {
  const { issues } = await whenAnalysed(policy("ip4:192.0.2.1\r\n", "-all"));

  expect(issues[0]?.detail["term"]).toBe("ip4:192.0.2.1\\x0d\\x0a");
});

test.each(asRows<[string, Zone, number, number]>`
  ip4, ip6, all and exp cost none | ${policy("ip4:1.2.3.4", "ip6:::1", "exp=b.test", "-all")} | 0 | 0
  each other term costs one | ${policy("a", "mx", "ptr", "exists:b.test", "-all")} | 4 | 3
  an include costs itself and what is in it | ${INCLUDING("a:c.test", "exists:%{i}.c.test")} | 3 | 1
  an include that is used twice costs twice
    | ${{ ...INCLUDING("a"), "a.test": spf("include:b.test", "include:b.test", "-all"), "b.test": { ...spf("a"), A: ["8.8.8.8"] } }} | 4 | 0
  terms after all cost none | ${policy("-all", "a", "mx")} | 0 | 0
  a redirect costs as an include does | ${{ ...policy("redirect=b.test"), "b.test": spf("mx") }} | 2 | 1
  a redirect beside all costs none | ${policy("redirect=b.test", "-all")} | 0 | 0
  terms after an include that matches every host cost none | ${{ ...policy("include:b.test", "a", "mx"), "b.test": spf("all") }} | 1 | 0
  a macro costs itself alone | ${policy("include:%{i}.b.test", "-all")} | 1 | 0
`)(
  "the analysis counts the look-ups of an evaluation in which no term matches early: %s",
  async (_, names, lookups, voidLookups) => {
    expect(await whenAnalysed(names)).toMatchObject({ lookups, voidLookups });
  },
);

test("the analysis reads a domain that a macro makes equal for all mail", async () => {
  const { domains, record } = await whenAnalysed({
    ...policy("include:_spf.%{d2}", "redirect=%{o}.b.test"),
    "_spf.a.test": spf(),
    "a.test.b.test": spf("-all"),
  });

  expect(record).toBe("v=spf1 include:_spf.%{d2} redirect=%{o}.b.test");
  expect(domains).toEqual(["_spf.a.test", "a.test.b.test"]);
});

test("the analysis looks up no host of an mx with too many hosts, as receivers do", async () => {
  expect((await whenAnalysed(MX(11))).calls).toEqual(["TXT a.test", "MX a.test"]);
});

const QUESTIONS_MAX = 40;

test.each<[string, (name: string) => readonly string[]]>([
  ["that includes ever more", (name) => ["v=spf1", ...many(50, (n) => `include:${n}.${name}`)]],
  ["that includes ever deeper", (name) => ["v=spf1", `include:x.${name}`, `redirect=y.${name}`]],
  ["of nothing but addresses", (name) => ["v=spf1", ...many(200, (n) => `a:${n}.${name}`), "-all"]],
  ["of nothing but hosts", (name) => ["v=spf1", ...many(200, (n) => `mx:${n}.${name}`), "-all"]],
  ["of nothing but macros", (name) => ["v=spf1", ...many(200, (n) => `exists:%{i}.${n}.${name}`)]],
  ["of a thousand faults", () => ["v=spf1", ...many(1_000, (n) => `moo${n}`)]],
])("a hostile zone %s gets at most 40 DNS queries and a short report", async (_, record) => {
  const calls: string[] = [];
  const dns = async (type: string, name: string) => {
    calls.push(`${type} ${name}`);
    const mx = many(10, (n) => `x${n}.${name}`).map((exchange) => ({ priority: 1, exchange }));
    const records = { TXT: [record(name).join(" ")], MX: mx, A: ["192.0.2.9"] }[type] ?? [];
    return { kind: "ok", records } as never;
  };

  const { issues, status } = await analyseSpf(dns, { domain: "a.test", ...SENDING });

  expect(calls.length).toBeLessThanOrEqual(QUESTIONS_MAX);
  expect(new Set(calls).size).toBe(calls.length);
  expect(issues.length).toBeLessThanOrEqual(100);
  // It is us who stop asking, and that is not trouble of the domain's.
  expect(status).not.toBe("error");
});

test("the analysis counts a hostile zone that doubles with every level, and does not walk it", async () => {
  const names = Object.fromEntries(
    many(19, (n) => `n${n}.test`).map((name, n) => [
      name,
      spf(...many(20, () => `include:n${n + 1}.test`), "-all"),
    ]),
  );

  const { lookups, ids } = await whenAnalysed(
    { ...names, "n19.test": spf() },
    { domain: "n0.test" },
  );

  expect(lookups).toBe(1_000);
  expect(ids).toContain("SPF_LOOKUPS_GT_10");
});

test("an evaluation that runs out of DNS queries proves nothing", async () => {
  const names = many(19, (n) => `n${n}.test`);
  const { ids, evaluation, status, calls } = await whenAnalysed(
    {
      ...policy("mx:%{i}.b.test", ...names.map((name) => `include:${name}`), "-all"),
      ...Object.fromEntries(names.map((name) => [name, spf(`a:h.${name}`)])),
      "192.0.2.1.b.test": { MX: many(10, (n) => `1 m${n}.test`) },
      ...Object.fromEntries(
        many(10, (n) => `m${n}.test`).map((name) => [name, { A: ["8.8.8.8"] }]),
      ),
    },
    SENDING,
  );

  expect(calls).toHaveLength(40);
  expect(evaluation).toBeNull();
  expect(ids).not.toContain("SPF_IP_NOT_COVERED");
  expect(status).toBe("fail");
});

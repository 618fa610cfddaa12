import { evaluateSpf } from "@mailproof/mail/spf/evaluate";
import { SPF_LIMITS } from "@mailproof/mail/spf/limits";
import { expect, test } from "vitest";
import { createZoneDns, type Zone } from "../../app/zone.ts";
import { asRows } from "../../runner/as-rows.ts";

const IP = "192.0.2.1";
const IP6 = "2001:db8::1";

type CheckInput = { readonly ip?: string; readonly sender?: string; readonly helo?: string };

const whenChecked = async (names: Zone, input: CheckInput = {}) => {
  const dns = createZoneDns(names);
  const { ip = IP, sender = "ann@a.test", helo = "helo.test" } = input;
  const query = { ip, domain: "a.test", sender, helo };
  return { ...(await evaluateSpf(dns, query)), calls: dns.calls };
};

const spf = (...terms: string[]) => ({ TXT: [["v=spf1", ...terms].join(" ")] });

const rows: [string, Zone, string, CheckInput?][] = asRows`
  no domain | ${{}} | none
  two policies | ${{ "a.test": { TXT: ["v=spf1 +all", "v=spf1 +all"] } }} | permerror
  a domain in trouble | ${{ "a.test": "SERVFAIL" }} | temperror
  +all | ${{ "a.test": spf("all") }} | pass
  -all | ${{ "a.test": spf("-all") }} | fail
  a fault after what would match | ${{ "a.test": spf("+all", "moo") }} | permerror
  its own block | ${{ "a.test": spf("ip4:192.0.2.128/24", "-all") }} | pass
  a block of the other family | ${{ "a.test": spf("ip6:::/0", "-all") }} | fail
  an IPv6 block | ${{ "a.test": spf("ip6:2001:db8::/64", "-all") }} | pass | ${{ ip: IP6 }}
  a mapped address | ${{ "a.test": spf("ip4:192.0.2.1", "-all") }} | pass | ${{ ip: "::ffff:192.0.2.1" }}
  a//64 over IPv6 | ${{ "a.test": { ...spf("a/0//64", "-all"), AAAA: ["2001:db8::ffff"] } }} | pass | ${{ ip: IP6 }}
  a null MX | ${{ "a.test": { ...spf("mx/0", "-all"), MX: ["0 ."] } }} | fail
  an address in place of an MX host | ${{ "a.test": { ...spf("mx", "-all"), MX: [`0 ${IP}`] } }} | fail
  a mail host at an early place of eleven
    | ${{ "a.test": { ...spf("mx", "-all"), MX: ["0 b.test", ...Array.from({ length: 10 }, (_, n) => `1 c${n}.test`)] }, "b.test": { A: [IP] } }} | permerror
  exists over IPv6 asks for A | ${{ "a.test": spf("exists:b.test", "-all"), "b.test": { A: ["127.0.0.2"] } }} | pass | ${{ ip: IP6 }}
  exists by address and sender | ${{ "a.test": spf("exists:%{ir}.%{l1r+}.%{o}._u.%{d}", "-all"), "1.2.0.192.ann.b.test._u.a.test": { A: ["127.0.0.2"] } }} | pass
    | ${{ sender: "ann+list@b.test" }}
  a macro that comes to no name | ${{ "a.test": spf("a:%{h}", "-all") }} | fail | ${{ helo: "[::1]" }}
  a name that only ends alike | ${{ "a.test": spf("ptr", "-all"), "1.2.0.192.in-addr.arpa": { PTR: ["xa.test"] }, "xa.test": { A: [IP] } }} | fail
  names in trouble are passed over
    | ${{ "a.test": spf("ptr", "-all"), "1.2.0.192.in-addr.arpa": { PTR: ["x.a.test", "y.a.test"] }, "x.a.test": "SERVFAIL", "y.a.test": { A: [IP] } }} | pass
  a reverse zone in trouble is no trouble of the domain's | ${{ "a.test": spf("ptr", "-all"), "1.2.0.192.in-addr.arpa": "SERVFAIL" }} | fail
  the eleventh name of a host is not looked at
    | ${{ "a.test": spf("ptr", "-all"), "1.2.0.192.in-addr.arpa": { PTR: [...Array.from({ length: 10 }, (_, n) => `${n}.b.test`), "mx.a.test"] }, "mx.a.test": { A: [IP] } }}
    | fail
  -include of a pass | ${{ "a.test": spf("-include:b.test"), "b.test": spf("all") }} | fail
  include of nothing | ${{ "a.test": spf("include:b.test"), "b.test": {} }} | permerror
  include of a macro that comes to no domain | ${{ "a.test": spf("include:%{h}", "+all") }} | permerror | ${{ helo: "localhost" }}
  include of itself | ${{ "a.test": spf("include:a.test") }} | permerror
  redirect to nothing | ${{ "a.test": spf("redirect=b.test") }} | permerror
`;

test.each(rows)(
  "the SPF evaluation returns the expected result: %s",
  async (_, names, result, input) => {
    expect((await whenChecked(names, input)).result).toBe(result);
  },
);

test.each([
  "test",
  "",
  "a..test",
  "[192.0.2.1]",
  "192.0.2.1",
  `${"x".repeat(64)}.test`,
  "a b.test",
])("the evaluation sends no DNS query for %j, which cannot publish a policy", async (domain) => {
  const dns = createZoneDns({ [domain]: spf("-all") });

  const { result } = await evaluateSpf(dns, { ip: IP, domain, sender: "", helo: "" });

  expect(result).toBe("none");
  expect(dns.calls).toEqual([]);
});

const many = (count: number, make: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => make(n));
const addresses = (count: number) =>
  Object.fromEntries(many(count, (n) => `n${n}.test`).map((name) => [name, { A: ["192.0.2.9"] }]));

test.each([
  [10, "pass"],
  [11, "permerror"],
])(
  "the evaluation of %i querying terms, spread over includes, returns %s",
  async (count, result) => {
    const names = {
      "a.test": spf("include:b.test", ...many(count - 5, (n) => `a:n${n}.test`), "all"),
      "b.test": spf("ip4:192.0.2.9", ...many(4, (n) => `exists:n${n}.b.test`)),
      ...Object.fromEntries(many(4, (n) => `n${n}.b.test`).map((name) => [name, {}])),
      ...addresses(10),
    };

    const found = await evaluateSpf(
      createZoneDns(names),
      { ip: IP, domain: "a.test", sender: "", helo: "" },
      { ...SPF_LIMITS, voidsMax: 10 },
    );

    expect(found).toMatchObject({ result, lookups: count });
  },
);

test.each([
  [2, "pass"],
  [3, "permerror"],
])("the evaluation of %i answers without a record returns %s", async (count, result) => {
  const found = await whenChecked({
    "a.test": spf(...many(count, (n) => `a:n${n}.test`), "all"),
  });

  expect(found).toMatchObject({ result, voidLookups: count });
});

test("each mail host without an address counts as an answer without a record", async () => {
  const MX = many(3, (n) => `10 n${n}.test`);

  expect(await whenChecked({ "a.test": { ...spf("mx", "all"), MX } })).toMatchObject({
    result: "permerror",
    problem: { reason: "too_many_void_lookups", domain: "a.test", term: "mx" },
  });
});

test("names that the connecting host claims do not count against the domain", async () => {
  const PTR = many(5, (n) => `n${n}.a.test`);

  expect(
    await whenChecked({ "a.test": spf("ptr", "all"), "1.2.0.192.in-addr.arpa": { PTR } }),
  ).toMatchObject({ result: "pass", voidLookups: 0 });
});

test("a loop sends no DNS query twice", async () => {
  const { calls, lookups } = await whenChecked({
    "a.test": spf("include:b.test"),
    "b.test": spf("include:a.test"),
  });

  expect(lookups).toBe(11);
  expect(calls).toEqual(["TXT a.test", "TXT b.test"]);
});

test("the evaluation returns temperror and no verdict when its DNS queries run out", async () => {
  const names = { "a.test": spf("a:n0.test", "a:n1.test", "-all"), ...addresses(2) };
  const query = { ip: IP, domain: "a.test", sender: "", helo: "" };

  expect(
    await evaluateSpf(createZoneDns(names), query, { ...SPF_LIMITS, questionsMax: 2 }),
  ).toMatchObject({ result: "temperror", problem: { reason: "timeout", term: "a:n1.test" } });
});

test("the result lists the deciding term through all includes, outermost first", async () => {
  const { matched } = await whenChecked({
    "a.test": spf("include:b.test", "-all"),
    "b.test": spf("redirect=c.test"),
    "c.test": spf("ip4:192.0.2.0/24"),
  });

  expect(matched).toEqual([
    { domain: "a.test", term: "include:b.test" },
    { domain: "c.test", term: "ip4:192.0.2.0/24" },
  ]);
});

test.each(asRows<[string, Zone, object]>`
  a fault in an include | ${{ "a.test": spf("include:b.test"), "b.test": spf("a", "moo") }} | ${{ reason: "syntax", domain: "b.test", term: "moo" }}
  an include of nothing | ${{ "a.test": spf("include:b.test"), "b.test": {} }} | ${{ reason: "include_without_record", domain: "a.test", term: "include:b.test" }}
  a redirect to nothing | ${{ "a.test": spf("redirect=b.test") }} | ${{ reason: "redirect_without_record", domain: "a.test", term: "redirect=b.test" }}
  two records | ${{ "a.test": spf("include:b.test"), "b.test": { TXT: ["v=spf1", "v=spf1"] } }} | ${{ reason: "several_records", domain: "b.test", term: null }}
  a server that fails | ${{ "a.test": spf("include:b.test"), "b.test": "SERVFAIL" }} | ${{ reason: "servfail", domain: "b.test", term: null }}
  a host that is silent | ${{ "a.test": spf("a:b.test"), "b.test": "TIMEOUT" }} | ${{ reason: "timeout", domain: "a.test", term: "a:b.test" }}
`)("the result states the problem of %s", async (_, names, problem) => {
  expect(await whenChecked(names)).toMatchObject({ problem, matched: [] });
});

test("the result stores only the beginning of a policy's terms and words", async () => {
  const long = `a:${"%{d}.".repeat(2_000)}test`;
  const names: Zone = {
    "a.test": spf("exp=why.a.test", "include:b.test", "-all"),
    "b.test": spf(long, `ip4:192.0.2.1${"0".repeat(2_000)}`),
    "why.a.test": { TXT: ["%{s}".repeat(2_000)] },
  };

  expect((await whenChecked(names)).problem?.term).toHaveLength(201);
  expect((await whenChecked({ ...names, "b.test": spf(long) })).explanation).toHaveLength(512);
});

const explained = (TXT: readonly string[]) => ({
  "a.test": spf("exp=why.%{d}", "-all"),
  "why.a.test": { TXT },
});

test("the explanation contains the owner's words about this mail", async () => {
  const words = "%{i} may not send for %{o}: see http://%{d}/?s=%{S}%%";

  expect(await whenChecked(explained([words]))).toMatchObject({
    explanation: "192.0.2.1 may not send for a.test: see http://a.test/?s=ann%40a.test%",
  });
});

test.each(asRows<[string, Zone]>`
  the explanation is missing | ${{ "a.test": spf("exp=why.a.test", "-all") }}
  two explanations exist | ${explained(["one", "two"])}
  the explanation contains a fault | ${explained(["%{x}"])}
  the explanation is not ASCII | ${explained(["caf\xe9"])}
  the explanation's server fails | ${{ "a.test": spf("exp=why.a.test", "-all"), "why.a.test": "SERVFAIL" }}
`)("the result omits the explanation when %s, and keeps the verdict", async (_, names) => {
  expect(await whenChecked(names)).toMatchObject({ result: "fail", explanation: null });
});

test("the evaluation asks for an explanation only when mail fails, and never counts the query", async () => {
  const softly = await whenChecked({ "a.test": spf("exp=why.a.test", "~all") });
  const failing = await whenChecked({
    "a.test": spf("exp=why.a.test", "a:b.test", "a:c.test", "-all"),
  });

  expect(softly.calls).toEqual(["TXT a.test"]);
  expect(failing).toMatchObject({ result: "fail", voidLookups: 2, lookups: 2 });
});

test("the result omits an included domain's explanation, and returns a redirect target's", async () => {
  const names = {
    "b.test": spf("exp=why.b.test", "-all"),
    "why.b.test": { TXT: ["because"] },
  };

  expect(await whenChecked({ ...names, "a.test": spf("include:b.test", "-all") })).toMatchObject({
    explanation: null,
  });
  expect(
    await whenChecked({ ...names, "a.test": spf("exp=why.a.test", "redirect=b.test") }),
  ).toMatchObject({ explanation: "because" });
});

test("the evaluation prefers a host name at the domain, then one below the domain, then any other", async () => {
  const names = (...PTR: string[]): Zone => ({
    "a.test": spf("exp=why.a.test", "-all"),
    "why.a.test": { TXT: ["%{p}"] },
    "1.2.0.192.in-addr.arpa": { PTR },
    "b.test": { A: [IP] },
    "x.a.test": { A: [IP] },
    "y.a.test": {},
  });

  const same = {
    ...names("b.test", "x.a.test", "a.test"),
    "a.test": { ...spf("exp=why.a.test", "-all"), A: [IP] },
  };
  expect((await whenChecked(same)).explanation).toBe("a.test");
  expect((await whenChecked(names("b.test", "y.a.test", "x.a.test"))).explanation).toBe("x.a.test");
  expect((await whenChecked(names("b.test"))).explanation).toBe("b.test");
  expect((await whenChecked(names("y.a.test"))).explanation).toBe("unknown");
});

test("the evaluation uses the postmaster of the HELO name as sender without a reverse-path", async () => {
  const names = {
    "a.test": spf("exists:%{l}.%{o}.%{d}", "-all"),
    "postmaster.helo.test.a.test": { A: ["127.0.0.2"] },
  };

  expect(await whenChecked(names, { sender: "" })).toMatchObject({ result: "pass" });
});

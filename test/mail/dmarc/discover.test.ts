import { discover, getAppliedPolicy, getPublishedPolicy } from "@mailproof/mail/dmarc/discover";
import { expect, test } from "vitest";
import { createZoneDns, type DnsTrouble, type Records } from "../../app/zone.ts";
import { asRows } from "../../runner/as-rows.ts";

const records = (at: Readonly<Record<string, string | readonly string[]>>) =>
  Object.fromEntries(
    Object.entries(at).map(([name, text]): [string, Records | DnsTrouble] => [
      `_dmarc.${name}`,
      text === "TIMEOUT" || text === "SERVFAIL"
        ? text
        : { TXT: typeof text === "string" ? [text] : text },
    ]),
  );

const whenWalked = async (at: Parameters<typeof records>[0], domain: string, exists = true) => {
  const found = await discover(createZoneDns(records(at)), domain);
  const published = found.found && getPublishedPolicy(found.found, domain, exists);
  return {
    from: found.found?.domain ?? null,
    organisation: found.organisation,
    policy: found.found && getAppliedPolicy(published, found.found),
    isOpen: found.isOpen,
  };
};

const P = (policy: string, more = "") => `v=DMARC1; p=${policy}${more}`;

type Row = readonly [
  what: string,
  at: Parameters<typeof records>[0],
  domain: string,
  from: string | null,
  organisation: string,
  policy: string | null,
];

// RFC 9989 §4.10, a line for each way that a walk can go.
test.each(asRows<Row>`
  no record at all | ${{}} | mail.example.com | null | mail.example.com | null
  the organisation's sp counts below it | ${{ "example.com": P("reject", "; sp=none") }} | mail.example.com | example.com | example.com | none
  its own record, although the organisation is above | ${{ "mail.example.com": P("none"), "example.com": P("reject") }} | mail.example.com | mail.example.com
    | example.com | none
  a record between is not the organisation's, so it does not count | ${{ "b.example.com": P("none"), "example.com": P("reject") }} | a.b.example.com | example.com
    | example.com | reject
  psd=n ends the walk, and the domain that publishes it is the organisation | ${{ "b.example.com": P("quarantine", "; psd=n"), "example.com": P("reject") }}
    | a.b.example.com | b.example.com | b.example.com | quarantine
  psd=y: the organisation is one label below, and its record counts | ${{ "example.co.test": P("quarantine"), "co.test": P("reject", "; psd=y") }} | a.example.co.test
    | example.co.test | example.co.test | quarantine
  psd=y and no record of the organisation: that of the public suffix counts | ${{ "co.test": P("reject", "; psd=y; sp=quarantine") }} | a.example.co.test | co.test
    | example.co.test | quarantine
  psd=y at the domain itself ends the walk, and it is its own organisation | ${{ "co.test": P("reject", "; psd=y"), test: P("none") }} | co.test | co.test | co.test
    | reject
  a set of several records is discarded | ${{ "mail.example.com": [P("none"), P("reject")], "example.com": P("quarantine") }} | mail.example.com | example.com
    | example.com | quarantine
  a name of many labels is cut to seven after the first question | ${{ "d.e.f.g.h.i.j.test": P("none"), "e.f.g.h.i.j.test": P("reject") }} | a.b.c.d.e.f.g.h.i.j.test
    | e.f.g.h.i.j.test | e.f.g.h.i.j.test | reject
  t=y turns reject into quarantine | ${{ "example.com": P("reject", "; t=y") }} | example.com | example.com | example.com | quarantine
  no p, and reports are asked for: as p=none | ${{ "example.com": "v=DMARC1; rua=mailto:a@example.com" }} | example.com | example.com | example.com | none
  no p and no reports: no DMARC | ${{ "example.com": "v=DMARC1;" }} | example.com | example.com | example.com | null
  an invalid sp, and reports are asked for: as p=none | ${{ "example.com": P("reject", "; sp=maybe; rua=mailto:a@example.com") }} | example.com | example.com
    | example.com | none
  an invalid np and no address that is one: no DMARC | ${{ "example.com": P("reject", "; np=x; rua=a@example.com") }} | example.com | example.com | example.com | null
`)(
  "the tree walk finds the policy of a name: %s",
  async (_, at, domain, from, organisation, policy) => {
    expect(await whenWalked(at, domain)).toEqual({ from, organisation, policy, isOpen: false });
  },
);

test.each([
  ["np", "; sp=quarantine; np=none", "none"],
  ["sp without np", "; sp=quarantine", "quarantine"],
  ["p without either", "", "reject"],
])("the tree walk applies %s to a name that does not exist", async (_, more, policy) => {
  const found = await whenWalked({ "example.com": P("reject", more) }, "no.example.com", false);

  expect(found.policy).toBe(policy);
});

test.each([
  [
    "the record is its own",
    { "a.example.com": P("none"), "example.com": "TIMEOUT" },
    "a.example.com",
  ],
  ["the silent name may hold it", { "a.example.com": "SERVFAIL", "example.com": P("none") }, null],
  [
    "the silent name may end the walk",
    { "b.example.com": "TIMEOUT", "example.com": P("none") },
    null,
  ],
] as const)("the tree walk stays open at a silent name: %s", async (_, at, from) => {
  const domain = "a.example.com" in at ? "a.example.com" : "a.b.example.com";

  expect(await whenWalked(at, domain)).toMatchObject({ from, isOpen: true });
});

test("the tree walk ignores a silent name above its end", async () => {
  const at = { "example.com": P("reject", "; psd=n"), com: "TIMEOUT" } as const;

  expect(await whenWalked(at, "example.com")).toMatchObject({ isOpen: false, policy: "reject" });
});

test.each(asRows<[string, string[]]>`
  example.com | [example.com com]
  a.b.c.d.e.f.test | [a.b.c.d.e.f.test b.c.d.e.f.test c.d.e.f.test d.e.f.test e.f.test f.test test]
  a.b.c.d.e.f.g.test | [a.b.c.d.e.f.g.test b.c.d.e.f.g.test c.d.e.f.g.test d.e.f.g.test e.f.g.test f.g.test g.test test]
`)("the tree walk from %s asks for the expected names", async (domain, names) => {
  const dns = createZoneDns({});

  await discover(dns, domain);

  expect(dns.calls).toEqual(names.map((name) => `TXT _dmarc.${name}`));
});

test("the tree walk sends at most eight DNS queries", async () => {
  for (let labels = 1; labels <= 127; labels += 1) {
    const domain = Array.from({ length: labels }, (_, index) => `l${index}`).join(".");
    const dns = createZoneDns({});
    await discover(dns, domain);

    expect(dns.calls.length).toBeLessThanOrEqual(8);
    expect(dns.calls[0]).toBe(`TXT _dmarc.${domain}`);
    expect(dns.calls.at(-1)).toBe(`TXT _dmarc.l${labels - 1}`);
  }
});

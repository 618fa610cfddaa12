import { analyseDmarc } from "@mailproof/mail/dmarc/analyse";
import { discover, getAppliedPolicy, getPublishedPolicy } from "@mailproof/mail/dmarc/discover";
import type { Issue } from "@mailproof/mail/issue";
import { expect, test } from "vitest";
import { createZoneDns, type DnsTrouble, type Records, type Zone } from "../../app/zone.ts";
import { asRows } from "../../runner/as-rows.ts";

const DOMAIN = "example.com";
const MX = { MX: ["10 mx.example.com"] };
const HOME: Zone = { [DOMAIN]: MX };
const BEST = "v=DMARC1; p=reject; np=reject; rua=mailto:d@example.com";
const own = (...TXT: string[]): Zone => ({ ...HOME, [`_dmarc.${DOMAIN}`]: { TXT } });

const whenAnalysed = (names: Zone, domain = DOMAIN) =>
  analyseDmarc(createZoneDns(names), { domain });

type Row = readonly [
  what: string,
  zone: Zone,
  issues: readonly string[],
  score: number | null,
  policy: string | null,
];

test.each(asRows<Row>`
  a sound record | ${own(BEST)} | [] | 100 | reject
  no record | ${HOME} | [DMARC_MISSING] | 0 | null
  two records | ${own(BEST, "v=DMARC1; p=none")} | [DMARC_MULTIPLE] | 0 | null
  a version in small letters | ${own("v=dmarc1; p=reject")} | [DMARC_VERSION] | 0 | null
  quotes that became part of the text | ${own('"v=DMARC1; p=reject"')} | [DMARC_VERSION] | 0 | null
  no p, and no reports | ${own("v=DMARC1; np=reject")} | [DMARC_P_MISSING DMARC_NO_RUA] | 0 | null
  no p, and reports | ${own("v=DMARC1; rua=mailto:d@example.com")} | [DMARC_P_NONE] | 60 | none
  a p that is no policy | ${own("v=DMARC1; p=monitor; rua=mailto:d@example.com")} | [DMARC_P_MISSING] | 30 | none
  p=none | ${own(BEST.replaceAll("reject", "none"))} | [DMARC_P_NONE] | 60 | none
  sp=none under reject | ${own(`${BEST}; sp=none`)} | [DMARC_SP_WEAK] | 80 | reject
  no np under a weak sp | ${own(BEST.replace("np=reject", "sp=none"))} | [DMARC_SP_WEAK] | 80 | reject
  a weak np | ${own(BEST.replace("np=reject", "np=none"))} | [DMARC_NP] | 95 | reject
  testing | ${own(`${BEST}; t=y`)} | [DMARC_T_Y] | 75 | quarantine
  pct=20 | ${own(`${BEST}; pct=20`)} | [DMARC_PCT] | 85 | reject
  a tag that does not exist | ${own(`${BEST}; policy=x`)} | [DMARC_UNKNOWN_TAG] | 100 | reject
  a tag that stands twice | ${own(`${BEST}; P=none`)} | [DMARC_DUP_TAG] | 20 | null
  no reports | ${own("v=DMARC1; p=reject; np=reject")} | [DMARC_NO_RUA] | 90 | reject
  an address without mailto: | ${own("v=DMARC1; p=reject; np=reject; rua=d@example.com")} | [DMARC_RUA_BAD] | 90 | reject
  three addresses | ${own(BEST.replace(/rua=.*/, "rua=mailto:a@example.com, mailto:b@example.com,mailto:c@example.com"))} | [DMARC_RUA_BAD] | 98
    | reject
  reports to a domain without MX | ${{ [`_dmarc.${DOMAIN}`]: { TXT: [BEST] }, [DOMAIN]: { A: ["8.8.8.8"] } }} | [DMARC_RUA_NO_MX] | 90 | reject
  reports to a domain whose name server is silent | ${{ [`_dmarc.${DOMAIN}`]: { TXT: [BEST] }, [DOMAIN]: { MX: "TIMEOUT" } }} | [] | 100 | reject
  strict alignment | ${own(`${BEST}; adkim=s; aspf=s`)} | [DMARC_STRICT] | 100 | reject
  an alignment that does not exist | ${own(`${BEST}; adkim=strict`)} | [DMARC_TAG_VALUE] | 98 | reject
  an option for failure reports that does not exist | ${own(`${BEST}; fo=x`)} | [DMARC_TAG_VALUE] | 98 | reject
  three options for failure reports | ${own(`${BEST}; fo=1:D : s`)} | [] | 100 | reject
  an option for failure reports twice | ${own(`${BEST}; fo=d:d`)} | [DMARC_TAG_VALUE] | 98 | reject
  a kind of domain that does not exist | ${own(`${BEST}; psd=x`)} | [DMARC_TAG_VALUE] | 98 | reject
  five values that do not exist cost once | ${own(`${BEST}; adkim=strict; aspf=; fo=x; t=x; psd=x`)} | [DMARC_TAG_VALUE] | 98 | reject
  a part without a value | ${own(`${BEST}; reject`)} | [DMARC_UNKNOWN_TAG] | 100 | reject
  failure reports to two of its own addresses | ${own(`${BEST}; ruf=mailto:f@example.com,mailto:g@example.com`)} | [] | 100 | reject
  failure reports to an address without mailto: | ${own(`${BEST}; ruf=f@example.com`)} | [DMARC_RUF_BAD] | 98 | reject
  the record at the domain itself | ${{ [DOMAIN]: { ...MX, TXT: [BEST] } }} | [DMARC_MISSING DMARC_WRONG_PLACE] | 0 | null
  the record in both places | ${{ ...own(BEST), [DOMAIN]: { ...MX, TXT: [BEST] } }} | [DMARC_WRONG_PLACE] | 90 | reject
  an SPF record beside it | ${own(BEST, "v=spf1 -all")} | [DMARC_WRONG_PLACE] | 90 | reject
  a space before it | ${own(` ${BEST}`)} | [DMARC_MISSING DMARC_WRONG_PLACE] | 0 | null
  no answer | ${{ ...HOME, [`_dmarc.${DOMAIN}`]: "TIMEOUT" }} | [DMARC_INCONCLUSIVE] | null | null
  no record of its own, and no answer above | ${{ ...HOME, "_dmarc.com": "SERVFAIL" }} | [DMARC_INCONCLUSIVE] | null | null
  its own record, and no answer above | ${{ ...own(BEST), "_dmarc.com": "TIMEOUT" }} | [] | 100 | reject
`)(
  "the DMARC analysis returns issues, score and policy: %s",
  async (_, names, issues, score, policy) => {
    const found = await whenAnalysed(names);

    expect(found.issues.map(({ id }) => id)).toEqual(issues);
    expect(found).toMatchObject({ score, policy });
  },
);

test("a subdomain inherits the organisation's policy for subdomains", async () => {
  const names = { ...own(`${BEST}; sp=none`), "mail.example.com": MX };
  const found = await whenAnalysed(names, "mail.example.com");

  expect(found.issues.map(({ id }) => id)).toEqual(["DMARC_INHERITED", "DMARC_P_NONE"]);
  expect(found).toMatchObject({ policy: "none", recordDomain: DOMAIN, organisation: DOMAIN });
});

test("a subdomain that does not exist inherits np", async () => {
  const found = await whenAnalysed(
    own(BEST.replace("np=reject", "np=quarantine")),
    "no.example.com",
  );

  expect(found.policy).toBe("quarantine");
});

test("the analysis requires equal sp and np when DNS does not show whether a subdomain exists", async () => {
  const silent = (policies: string) => ({
    ...own(`v=DMARC1; p=reject; ${policies}`),
    "mail.example.com": "TIMEOUT" as const,
  });

  expect(await whenAnalysed(silent("sp=none; np=reject"), "mail.example.com")).toMatchObject({
    status: "error",
    score: null,
  });
  expect(await whenAnalysed(silent("sp=none; np=none"), "mail.example.com")).toMatchObject({
    policy: "none",
  });
});

test("the analysis reports two DMARC records of one name, although a record above the name applies", async () => {
  const names = {
    ...own(BEST),
    "mail.example.com": MX,
    "_dmarc.mail.example.com": { TXT: [BEST, BEST] },
  };
  const found = await whenAnalysed(names, "mail.example.com");

  expect(found.issues.map(({ id }) => id)).toEqual(["DMARC_MULTIPLE", "DMARC_INHERITED"]);
  expect(found.policy).toBe("reject");
  expect(found.issues[0]?.message).toBe(
    "There are 2 DMARC records at _dmarc.mail.example.com: receivers on RFC 7489 apply no DMARC policy then, those on RFC 9989 the one of example.com.",
  );
});

test("the DMARC analysis warns that receivers ignore both of two records at one name", async () => {
  const { issues } = await whenAnalysed(own(BEST, BEST));

  expect(issues[0]?.message).toBe(
    "There are 2 DMARC records at _dmarc.example.com: receivers take none of them.",
  );
});

const REPORTER = "reports.test";
const outside = (more: Zone = {}): Zone => ({
  ...own(BEST.replace("d@example.com", `d@${REPORTER}`)),
  [REPORTER]: MX,
  ...more,
});

test.each(asRows<readonly [what: string, zone: Zone, issues: readonly string[]]>`
  has not agreed | ${outside()} | [DMARC_RUA_UNAUTHORIZED]
  has agreed | ${outside({ [`${DOMAIN}._report._dmarc.${REPORTER}`]: { TXT: ["v=DMARC1"] } })} | []
  agrees for everybody | ${outside({ [`*._report._dmarc.${REPORTER}`]: { TXT: ["v=DMARC1;"] } })} | []
  says something else | ${outside({ [`${DOMAIN}._report._dmarc.${REPORTER}`]: { TXT: ["v=spf1 -all"] } })} | [DMARC_RUA_UNAUTHORIZED]
  does not answer | ${outside({ [`${DOMAIN}._report._dmarc.${REPORTER}`]: "TIMEOUT" })} | []
  has no MX | ${outside({ [REPORTER]: { A: ["8.8.8.8"] } })} | [DMARC_RUA_UNAUTHORIZED DMARC_RUA_NO_MX]
`)("the analysis returns the issues of a report recipient that %s", async (_, names, issues) => {
  expect((await whenAnalysed(names)).issues.map(({ id }) => id)).toEqual(issues);
});

test.each<readonly [what: string, zone: Zone, issues: readonly string[]]>([
  ["has not agreed", {}, ["DMARC_RUF_UNAUTHORIZED"]],
  ["has agreed", { [`${DOMAIN}._report._dmarc.${REPORTER}`]: { TXT: ["v=DMARC1"] } }, []],
  ["does not answer", { [`${DOMAIN}._report._dmarc.${REPORTER}`]: "TIMEOUT" }, []],
  ["has no MX", { [REPORTER]: { A: ["8.8.8.8"] } }, ["DMARC_RUF_UNAUTHORIZED", "DMARC_RUF_NO_MX"]],
])(
  "the analysis returns the issues of a failure report recipient that %s",
  async (_, more, issues) => {
    const names = { ...own(`${BEST}; ruf=mailto:f@${REPORTER}`), [REPORTER]: MX, ...more };

    expect((await whenAnalysed(names)).issues.map(({ id }) => id)).toEqual(issues);
  },
);

test("a recipient that agreed to neither kind of reports raises an issue for both", async () => {
  const names = outside();
  const record = names[`_dmarc.${DOMAIN}`] as { readonly TXT: readonly string[] };
  const both = { TXT: [`${record.TXT[0]}; ruf=mailto:f@${REPORTER}`] };
  const { issues } = await whenAnalysed({ ...names, [`_dmarc.${DOMAIN}`]: both });

  expect(issues.map(({ id }) => id)).toEqual(["DMARC_RUA_UNAUTHORIZED", "DMARC_RUF_UNAUTHORIZED"]);
});

test("the analysis reports an invalid tag value with the value that receivers read", async () => {
  const { issues } = await whenAnalysed(
    own(`${BEST}; adkim=strict; aspf=; fo=x; t=x; psd=${"x".repeat(300)}`),
  );

  const [message = ""] = issues.map((one) => one.message);
  for (const text of [
    "adkim=strict as r (relaxed)",
    "aspf= as r (relaxed)",
    "fo=x as 0",
    "t=x as n",
    "as u",
  ])
    expect(message).toContain(text);
});

test.each<readonly [what: string, domain: string, more: Zone]>([
  ["below the domain", DOMAIN, {}],
  ["beside the domain", "mail.example.com", {}],
  ["perhaps beside the domain", "mail.other.test", { "_dmarc.other.test": "TIMEOUT" }],
])("the analysis asks for no agreement to reports %s", async (_, domain, more) => {
  const record = { TXT: [BEST.replace("d@example.com", "d@reports.example.com")] };
  const dns = createZoneDns({
    ...own(BEST),
    [`_dmarc.${domain}`]: record,
    "reports.example.com": MX,
    ...more,
  });

  expect((await analyseDmarc(dns, { domain })).issues).toEqual([]);
  expect(dns.calls.filter((call) => call.includes("_report"))).toEqual([]);
});

test.each(["rua", "ruf"])(
  "the analysis looks into four of a hundred addresses in %s",
  async (tag) => {
    const uris = Array.from({ length: 100 }, (_, n) => `mailto:d@r${n}.test`).join(",");
    const dns = createZoneDns(own(`v=DMARC1; p=reject; np=reject; ${tag}=${uris}`));

    await analyseDmarc(dns, { domain: DOMAIN });

    expect(dns.calls.filter((call) => call.includes(".test"))).toHaveLength(4 * 3);
  },
);

test("an issue's message shortens a long tag of a record", async () => {
  const { issues } = await whenAnalysed(own(`${BEST}; x${"y".repeat(400)}=1`));

  expect(issues[0]?.message.length).toBeLessThan(300);
});

// Goal: no sentence about a DMARC record says anything else than what receivers do by RFC 9989.
// Method: every combination of the tags that decide, and the policies that the tree walk finds for the domain itself, for
// a subdomain that exists and for one that does not.

const POLICIES = ["", "none", "quarantine", "reject", "rejct"];
const TAGS: Readonly<Record<string, readonly string[]>> = {
  p: POLICIES,
  sp: POLICIES,
  np: POLICIES,
  t: ["", "y", "n"],
  pct: ["", "20", "100"],
  rua: ["", "mailto:d@example.com", "d@example.com"],
  psd: ["", "y", "n", "u"],
};

const RECORDS = Object.entries(TAGS).reduce<readonly string[]>(
  (texts, [tag, values]) =>
    texts.flatMap((text) =>
      values.map((value) => (value === "" ? text : `${text}; ${tag}=${value}`)),
    ),
  ["v=DMARC1"],
);

const analyse = async (text: string, domain: string) => {
  const dns = createZoneDns({
    "example.com": { MX: ["10 mx.example.com"] },
    "www.example.com": { A: ["8.8.8.8"] },
    "_dmarc.example.com": { TXT: [text] },
  });
  return analyseDmarc(dns, { domain });
};

type Policies = Readonly<Record<"domain" | "existing" | "missing", string | null>>;

const STRENGTH = [null, "none", "quarantine", "reject"];
const isWeaker = (one: string | null, other: string | null) =>
  STRENGTH.indexOf(one) < STRENGTH.indexOf(other);

type Claim = (policies: Policies, message: RegExpExecArray) => boolean;

/** Each sentence about a policy, and when it is true. Its groups are the policies that it names. */
const CLAIMS: readonly (readonly [sentence: RegExp, holds: Claim])[] = [
  [/^The DMARC policy for \S+ is (none|quarantine)\b/, ({ domain }, [, named]) => domain === named],
  [/receivers apply (\w+) instead of/, ({ domain }, [, named]) => domain === named],
  [
    /read the policy as none\.$/,
    ({ domain, existing, missing }) => [domain, existing, missing].every((one) => one === "none"),
  ],
  [
    /apply no DMARC policy\.$/,
    ({ domain, existing, missing }) => [domain, existing, missing].every((one) => one === null),
  ],
  [
    /apply (\w+) to all subdomains of example\.com, and (\w+) to the domain itself\.$/,
    ({ domain, existing, missing }, [, below, own]) =>
      existing === below && missing === below && domain === own && isWeaker(existing, domain),
  ],
  [
    /apply (\w+) to existing subdomains of example\.com, and (\w+) to the domain itself\.$/,
    ({ domain, existing }, [, below, own]) =>
      existing === below && domain === own && isWeaker(existing, domain),
  ],
  [
    /apply (\w+) to names below example\.com that do not exist, and (\w+) to the domain itself\.$/,
    ({ domain, missing }, [, below, own]) =>
      missing === below && domain === own && isWeaker(missing, domain),
  ],
];

const ABOUT_POLICY = /^DMARC_(?:P_|SP_|NP|T_Y)/;

const listFalse = (issues: readonly Issue[], policies: Policies): readonly string[] =>
  issues
    .filter(({ id }) => ABOUT_POLICY.test(id))
    .filter(
      ({ message }) =>
        !CLAIMS.some(([sentence, holds]) => {
          const found = sentence.exec(message);
          return found !== null && holds(policies, found);
        }),
    )
    .map(({ message }) => message);

/** Weak policies that the tree walk finds and no issue names. */
const listUnsaid = (issues: readonly Issue[], { domain, existing, missing }: Policies) => {
  const has = (id: RegExp) => issues.some((issue) => id.test(issue.id));
  const isSubdomainSaid = issues.some(({ message }) => message.includes(" to all subdomains "));
  return [
    ...(domain !== "reject" && !has(/^DMARC_(?:P_|T_Y)/) ? ["the domain"] : []),
    ...(isWeaker(existing, domain) && !has(/^DMARC_SP_WEAK$/) ? ["existing subdomains"] : []),
    ...(isWeaker(missing, domain) && !has(/^DMARC_NP$/) && !isSubdomainSaid
      ? ["subdomains that do not exist"]
      : []),
  ];
};

test("each issue states the policy that receivers apply, for every combination of tags", async () => {
  const wrong: string[] = [];
  for (const text of RECORDS) {
    const [domain, existing, missing] = await Promise.all(
      ["example.com", "www.example.com", "gone.example.com"].map((name) => analyse(text, name)),
    );
    if (!domain || !existing || !missing) throw new Error("not analysed");
    const policies = {
      domain: domain.policy,
      existing: existing.policy,
      missing: missing.policy,
    };
    const found = [
      ...listFalse(domain.issues, policies),
      ...[existing, missing].flatMap(({ issues, policy }) =>
        listFalse(issues, { domain: policy, existing: policy, missing: policy }),
      ),
      ...listUnsaid(domain.issues, policies),
    ];
    if (found.length > 0) wrong.push(`${text}: ${found.join(" ")} ${JSON.stringify(policies)}`);
  }

  expect(RECORDS).toHaveLength(5 * 5 * 5 * 3 * 3 * 3 * 4);
  expect(wrong.slice(0, 20)).toEqual([]);
});

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

type WalkRow = readonly [
  what: string,
  at: Parameters<typeof records>[0],
  domain: string,
  from: string | null,
  organisation: string,
  policy: string | null,
];

// RFC 9989 §4.10, a line for each way that a walk can go.
test.each(asRows<WalkRow>`
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

test.each(asRows`
  the record is its own | ${{ "a.example.com": P("none"), "example.com": "TIMEOUT" }} | a.example.com
  the silent name may hold it | ${{ "a.example.com": "SERVFAIL", "example.com": P("none") }} | null
  the silent name may end the walk | ${{ "b.example.com": "TIMEOUT", "example.com": P("none") }} | null
`)("the tree walk stays open at a silent name: %s", async (_, at, from) => {
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

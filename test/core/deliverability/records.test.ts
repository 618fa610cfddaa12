import type { CheckReport } from "@mailproof/core/deliverability/analyse-domain";
import { flattenSpf } from "@mailproof/core/deliverability/flatten";
import { parsePolicy } from "@mailproof/mail/hints/mta-sts";
import { overlayTexts, type ProposedRecord, toStrings } from "@mailproof/mail/records/dns-record";
import { expect, test } from "vitest";
import { createZoneDns, type Zone } from "../../app/zone.ts";
import { asRows } from "../../runner/as-rows.ts";
import { RSA_2048 } from "../../things/dkim-keys.ts";
import { createReport, LIST } from "./findings.ts";

const KEY = { TXT: [`v=DKIM1; p=${RSA_2048}`] };
const MX = ["10 mx.example.com"];

/** A domain that signs, with these TXT records and this DMARC record. */
const given = (spf: readonly string[], dmarc: readonly string[], others: Zone = {}): Zone => ({
  "example.com": { MX, NS: ["ns1.test", "ns2.test"], TXT: spf },
  "mx.example.com": { A: ["8.8.8.8"] },
  "s1._domainkey.example.com": KEY,
  "sender.test": { TXT: ["v=spf1 ip4:9.9.9.9 -all"] },
  ...(dmarc.length > 0 && { "_dmarc.example.com": { TXT: dmarc } }),
  [`2.0.0.127.${LIST}`]: { A: ["127.0.0.2"] },
  ...others,
});

/** Nothing is at the selectors, nor at the name above them. */
const UNSIGNED: Zone = {
  "s1._domainkey.example.com": "DENIED",
  "_domainkey.example.com": "DENIED",
};

const GOOD_SPF = "v=spf1 mx -all";
const GOOD_DMARC = "v=DMARC1; p=reject; np=reject; rua=mailto:d@example.com";

const whenChecked = (zone: Zone, sendingIp?: string) =>
  createReport(createZoneDns(zone), sendingIp === undefined ? {} : { sendingIp });

const getProposal = ({ recommendations }: CheckReport, id: string) =>
  recommendations.find((one) => one.id === id)?.proposal;

type Row = readonly [
  why: string,
  published: readonly string[],
  id: string,
  value: string | undefined,
  others?: Zone,
];

const fillRow = ([why, published, id, value, others = {}]: Row) =>
  [why, published, id, value, others] as const;

const SPF_ROWS: readonly Row[] = asRows`
  the domain publishes none | [] | add_spf | v=spf1 mx ~all
  the domain publishes none and Google receives its mail | [] | add_spf | v=spf1 include:_spf.google.com ~all
    | ${{ "example.com": { MX: ["1 smtp.google.com"] }, "smtp.google.com": { A: ["8.8.8.8"] }, "_spf.google.com": { TXT: ["v=spf1 ip4:8.8.4.0/24 ~all"] } }}
  the domain publishes two | ${["v=spf1 mx -all", "v=spf1 include:sender.test mx -all"]} | merge_spf | v=spf1 include:sender.test mx -all
  the domain publishes two, of which one is milder | ${["v=spf1 mx -all", "v=spf1 include:sender.test ~all"]} | merge_spf | v=spf1 include:sender.test mx ~all
  the domain publishes two, of which three names together are gone | ${["v=spf1 a:x.gone.test a:y.gone.test mx -all", "v=spf1 a:z.gone.test -all"]} | merge_spf
    | v=spf1 <senders in place of a:x.gone.test> <senders in place of a:y.gone.test> mx <senders in place of a:z.gone.test> ~all
  a space is missing | ${["v=spf1 ip4:9.9.9.9~all"]} | spf_syntax | v=spf1 ip4:9.9.9.9 ~all
  a term has the wrong name | ${["v=spf1 ipv4:9.9.9.9 -all"]} | spf_syntax | v=spf1 ip4:9.9.9.9 -all
  commas stand between the terms | ${["v=spf1 ip4:9.9.9.9, mx -all;"]} | spf_syntax | v=spf1 ip4:9.9.9.9 mx -all
  a term cannot be understood | ${["v=spf1 mx moo -all"]} | spf_syntax | v=spf1 mx <senders in place of moo> ~all
  a refusal cannot be understood | ${["v=spf1 mx -moo -all"]} | spf_syntax | v=spf1 mx -all
  no term names a sender | ${["v=spf1 ip4:9.9.9.999 -all"]} | spf_syntax | v=spf1 <senders in place of ip4:9.9.9.999> ~all
  an include leads nowhere | ${["v=spf1 include:gone.test mx -all"]} | spf_include_broken | v=spf1 <senders in place of include:gone.test> mx ~all
  a redirect leads nowhere | ${["v=spf1 mx redirect=gone.test"]} | spf_include_broken | v=spf1 mx <senders in place of redirect=gone.test> ~all
  the record includes itself | ${["v=spf1 include:example.com -all"]} | spf_include_broken | v=spf1 <senders in place of include:example.com> ~all
  an include is repeated | ${["v=spf1 include:sender.test mx include:sender.test -all"]} | spf_duplicates | v=spf1 include:sender.test mx -all
  the record allows everything | ${["v=spf1 mx +all"]} | spf_plus_all | v=spf1 mx ~all
  the record ends without all | ${["v=spf1 mx"]} | spf_all_missing | v=spf1 mx ~all
  the record allows everything, and names no sender | ${["v=spf1 +all"]} | spf_plus_all | v=spf1 <ip4: and include: terms of your senders> ~all
  terms follow the end | ${["v=spf1 mx -all include:sender.test"]} | spf_after_all | v=spf1 mx include:sender.test -all
  a redirect follows the end | ${["v=spf1 mx -all redirect=sender.test"]} | spf_after_all | v=spf1 mx include:sender.test -all
  ptr may be how a source passes | ${["v=spf1 ptr -all"]} | spf_ptr | ${undefined}
  a block may be how a source passes | ${["v=spf1 ip4:8.0.0.0/9 -all"]} | spf_wide | ${undefined}
  an include breaks only after it has let its own hosts pass | ${["v=spf1 include:late.test -all"]} | spf_include_broken | ${undefined}
    | ${{ "late.test": { TXT: ["v=spf1 ip4:9.9.9.9 include:gone.test -all"] } }}
  three names are gone | ${["v=spf1 a:x.gone.test a:y.gone.test a:z.gone.test mx -all"]} | spf_void
    | v=spf1 <senders in place of a:x.gone.test> <senders in place of a:y.gone.test> <senders in place of a:z.gone.test> mx ~all
`;

test.each(SPF_ROWS.map(fillRow))(
  "the check proposes the next SPF record when %s",
  async (_, spf, id, value, others) => {
    const report = await whenChecked(given(spf, [GOOD_DMARC], others));

    expect(report.recommendations.map((one) => one.id)).toContain(id);
    expect(getProposal(report, id)?.record).toEqual(
      value === undefined ? undefined : { name: "example.com", type: "TXT", value },
    );
    const replaced = getProposal(report, id)?.replaces.map((one) => one.value);
    expect(replaced).toEqual(value === undefined ? undefined : spf.toSorted());
  },
);

test("the check puts a sending address that SPF does not cover in front of the record", async () => {
  const report = await whenChecked(given([GOOD_SPF], [GOOD_DMARC]), "5.6.7.8");

  expect(getProposal(report, "spf_ip_not_authorized")?.record.value).toBe(
    "v=spf1 ip4:5.6.7.8 mx -all",
  );
});

test("the proposed record contains a placeholder, and promises no points, when nothing shows the senders", async () => {
  const report = await whenChecked({
    ...given([], [GOOD_DMARC]),
    "example.com": { TXT: ["hello"] },
  });

  expect(getProposal(report, "add_spf")).toMatchObject({
    record: { value: "v=spf1 <ip4: and include: terms of your senders> ~all" },
    open: ["<ip4: and include: terms of your senders>"],
  });
  expect(report.afterRecords).toBeNull();
});

test("a proposed record with a placeholder promises no points, and puts a sending address before the placeholder", async () => {
  const report = await whenChecked(
    given(["v=spf1 include:gone.test -all"], [GOOD_DMARC]),
    "5.6.7.8",
  );
  const advice = report.recommendations.find(({ id }) => id === "spf_include_broken");

  expect(advice).toMatchObject({
    pointsRegained: 0,
    proposal: {
      record: { value: "v=spf1 ip4:5.6.7.8 <senders in place of include:gone.test> ~all" },
      points: null,
      note: expect.stringContaining("in angle brackets"),
    },
  });
  expect(report.afterRecords).toBeNull();
});

const RUA = "rua=mailto:d@example.com";

const DMARC_ROWS: readonly Row[] = asRows`
  no record | [] | add_dmarc | v=DMARC1; p=none; rua=mailto:dmarc@example.com
  no record of a domain that sends nothing | [] | add_dmarc | v=DMARC1; p=reject; np=reject | ${{ "example.com": { MX: ["0 ."], TXT: ["v=spf1 -all"] } }}
  p=none with reports | ${[`v=DMARC1; p=none; ${RUA}`]} | dmarc_enforce | ${`v=DMARC1; p=quarantine; np=quarantine; ${RUA}`}
  p=quarantine with reports | ${[`v=DMARC1; p=quarantine; ${RUA}`]} | dmarc_enforce | ${`v=DMARC1; p=reject; np=reject; ${RUA}`}
  p=none without reports | ${["v=DMARC1; p=none"]} | dmarc_rua | v=DMARC1; p=none; rua=mailto:dmarc@example.com
  p=none without reports, and no step yet | ${["v=DMARC1; p=none"]} | dmarc_enforce | ${undefined}
  a policy in test | ${[`v=DMARC1; p=reject; t=y; ${RUA}`]} | dmarc_test_mode | ${`v=DMARC1; p=reject; np=reject; ${RUA}`}
  a policy for a part of the mail | ${[`v=DMARC1; p=quarantine; pct=20; ${RUA}`]} | dmarc_obsolete_tags | ${`v=DMARC1; p=quarantine; np=quarantine; ${RUA}`}
  a policy strict for the domain alone | ${[`v=DMARC1; p=reject; sp=none; ${RUA}`]} | dmarc_sp | ${`v=DMARC1; p=reject; sp=quarantine; np=reject; ${RUA}`}
  a policy with strict alignment | ${[`v=DMARC1; p=none; adkim=s; aspf=strict; ${RUA}`]} | dmarc_enforce | ${`v=DMARC1; p=quarantine; np=quarantine; adkim=s; ${RUA}`}
  a bare address | ${["v=DMARC1; p=reject; np=reject; rua=d@example.com"]} | dmarc_rua | ${`v=DMARC1; p=reject; np=reject; ${RUA}`}
  two records | ${[`v=DMARC1; p=reject; ${RUA}`, "v=DMARC1; p=none; rua=mailto:e@example.com"]} | dmarc_multiple
    | ${`v=DMARC1; p=none; rua=mailto:e@example.com,mailto:d@example.com`}
  two records, of which one reports to a host without mail | ${["v=DMARC1; p=none; rua=mailto:d@sender.test", `v=DMARC1; p=none; ${RUA}`]} | dmarc_multiple
    | ${`v=DMARC1; p=none; ${RUA}`}
  a wrong version | ${[`v=dmarc1; p=quarantine; ${RUA}`]} | dmarc_version | ${`v=DMARC1; p=quarantine; np=quarantine; ${RUA}`}
  a record without a policy | ${[`v=DMARC1; ${RUA}`]} | dmarc_enforce | ${`v=DMARC1; p=quarantine; np=quarantine; ${RUA}`}
  a tag twice | ${[`v=DMARC1; p=reject; p=none; np=reject; ${RUA}`]} | dmarc_tags | ${`v=DMARC1; p=quarantine; np=reject; ${RUA}`}
  p=none before the first signature | ${[`v=DMARC1; p=none; ${RUA}`]} | dmarc_enforce | ${undefined} | ${UNSIGNED}
`;

test.each(DMARC_ROWS.map(fillRow))(
  "the check proposes the next DMARC record for this one: %s",
  async (_, dmarc, id, value, others) => {
    const report = await whenChecked(given([GOOD_SPF], dmarc, others));

    expect(report.recommendations.map((one) => one.id)).toContain(id);
    expect(getProposal(report, id)?.record).toEqual(
      value === undefined ? undefined : { name: "_dmarc.example.com", type: "TXT", value },
    );
  },
);

test("the check proposes the next step of a DMARC policy, and no step that the domain has completed", async () => {
  const readText = async (policy: string) => {
    const report = await whenChecked(given([GOOD_SPF], [`v=DMARC1; p=${policy}; ${RUA}`]));
    return report.recommendations.find(({ id }) => id === "dmarc_enforce")?.text;
  };

  expect(await readText("none")).toMatch(/ move DMARC on to p=quarantine and then to p=reject\.$/);
  expect(await readText("quarantine")).toMatch(/ move DMARC on to p=reject\.$/);
});

test("the proposed record contains the service's mailbox when the service receives reports", async () => {
  const dns = createZoneDns({
    ...given([GOOD_SPF], []),
    "example.com": { TXT: ["v=spf1 ip4:8.8.8.8 -all"] },
    "*._report._dmarc.service.test": { TXT: ["v=DMARC1"] },
  });
  const report = await createReport(dns, { reportsMailbox: "reports-1@service.test" });

  expect(getProposal(report, "add_dmarc")).toMatchObject({
    record: { value: "v=DMARC1; p=none; rua=mailto:reports-1@service.test" },
    note: "Receivers then send their reports to this service, which shows them below Reports.",
  });
});

test.each<[string, Zone]>([
  ["may not receive the domain's reports", {}],
  [
    "may or may not receive them, since DNS fails",
    {
      "example.com._report._dmarc.service.test": "SERVFAIL",
      "*._report._dmarc.service.test": "SERVFAIL",
    },
  ],
])("the proposed record omits a mailbox of the service that %s", async (_, consent) => {
  const dns = createZoneDns(given([GOOD_SPF], [], consent));
  const report = await createReport(dns, { reportsMailbox: "reports-1@service.test" });

  expect(getProposal(report, "add_dmarc")?.record.value).toBe(
    "v=DMARC1; p=none; rua=mailto:dmarc@example.com",
  );
});

test("the proposal removes a record from a wrong place, and adds the new one in the right place", async () => {
  const misplaced = `v=DMARC1; p=none; ${RUA}`;
  const report = await whenChecked(given([GOOD_SPF, misplaced], []));

  expect(getProposal(report, "dmarc_place")).toMatchObject({
    record: { name: "_dmarc.example.com" },
    replaces: [{ name: "example.com", type: "TXT", value: misplaced }],
  });
});

test("the check proposes a stricter record of the subdomain when the subdomain inherits its policy", async () => {
  const above = { ...given([], [`v=DMARC1; p=reject; sp=none; adkim=s; ${RUA}`]) };
  const dns = createZoneDns({
    ...above,
    "news.example.com": { MX, TXT: [GOOD_SPF] },
    "s1._domainkey.news.example.com": KEY,
  });
  const report = await createReport(dns, { domain: "news.example.com" });

  expect(getProposal(report, "dmarc_enforce")).toMatchObject({
    record: {
      name: "_dmarc.news.example.com",
      value: `v=DMARC1; p=quarantine; np=quarantine; adkim=s; ${RUA}`,
    },
    replaces: [],
  });
});

test.each<readonly [id: string, zone: Zone, record: object, open: readonly string[]]>([
  [
    "add_dkim",
    given([GOOD_SPF], [GOOD_DMARC], UNSIGNED),
    {
      name: "<selector>._domainkey.example.com",
      type: "TXT",
      value: "v=DKIM1; k=rsa; p=<public key>",
    },
    ["<selector>", "<public key>"],
  ],
  [
    "dkim_testing",
    {
      ...given([GOOD_SPF], [GOOD_DMARC]),
      "s1._domainkey.example.com": { TXT: [`v=DKIM1; t=y; p=${RSA_2048}`] },
    },
    { name: "s1._domainkey.example.com", type: "TXT", value: `v=DKIM1; p=${RSA_2048}` },
    [],
  ],
  [
    "dmarc_rua_authorize",
    given([GOOD_SPF], ["v=DMARC1; p=reject; np=reject; rua=mailto:d@reports.test"], {
      "reports.test": { MX },
    }),
    { name: "example.com._report._dmarc.reports.test", type: "TXT", value: "v=DMARC1" },
    [],
  ],
  [
    "tls_rpt",
    given([GOOD_SPF], [GOOD_DMARC]),
    {
      name: "_smtp._tls.example.com",
      type: "TXT",
      value: "v=TLSRPTv1; rua=mailto:tls-reports@example.com",
    },
    [],
  ],
  [
    "bimi",
    given([GOOD_SPF], [GOOD_DMARC]),
    {
      name: "default._bimi.example.com",
      type: "TXT",
      value: "v=BIMI1; l=<https URL of your logo>; a=<https URL of its mark certificate>",
    },
    ["<https URL of your logo>", "<https URL of its mark certificate>"],
  ],
])(
  "the advice %s contains its record and lists the record's placeholders",
  async (id, zone, record, open) => {
    expect(getProposal(await whenChecked(zone), id)).toMatchObject({ record, open });
  },
);

test("a DKIM key in test mode and with SHA-1 alone gets one proposed record for both faults", async () => {
  const report = await whenChecked({
    ...given([GOOD_SPF], [GOOD_DMARC]),
    "s1._domainkey.example.com": { TXT: [`v=DKIM1; t=y:s; h=sha1; p=${RSA_2048}`] },
  });
  const values = ["dkim_testing", "dkim_hash"].map((id) => getProposal(report, id)?.record.value);

  expect(values).toEqual(Array.from({ length: 2 }, () => `v=DKIM1; t=s; p=${RSA_2048}`));
});

test("the proposal for MTA-STS contains a policy file that covers the mail hosts and begins in testing mode", async () => {
  const proposal = getProposal(await whenChecked(given([GOOD_SPF], [GOOD_DMARC])), "mta_sts");

  expect(proposal?.record).toEqual({
    name: "_mta-sts.example.com",
    type: "TXT",
    value: "v=STSv1; id=20261121000000",
  });
  expect(proposal?.file?.url).toBe("https://mta-sts.example.com/.well-known/mta-sts.txt");
  expect(parsePolicy(proposal?.file?.content ?? "")).toEqual({
    kind: "policy",
    mode: "testing",
    mx: ["mx.example.com"],
  });
});

test("the proposal for a reverse name leaves its value to the address's provider", async () => {
  const report = await whenChecked(given([GOOD_SPF], [GOOD_DMARC]), "8.8.8.8");

  expect(getProposal(report, "ptr_missing")?.record).toEqual({
    name: "8.8.8.8.in-addr.arpa",
    type: "PTR",
    value: "<host name of your mail server>",
  });
});

test("the check proposes no record when name servers did not answer about the existing one", async () => {
  const report = await whenChecked({ ...given([GOOD_SPF], []), "_dmarc.example.com": "SERVFAIL" });

  expect(report.recommendations.map(({ id }) => id)).not.toContain("add_dmarc");
  expect(report.afterRecords).toBeNull();
});

test("the proposal splits a value of more than 255 characters into strings", () => {
  expect(toStrings("a".repeat(600)).map(({ length }) => length)).toEqual([255, 255, 90]);
  expect(toStrings("v=spf1 -all")).toEqual(["v=spf1 -all"]);
});

/** Twelve look-ups: one include with two below it, one with a host, and eight plain ones. */
const MANY: Zone = given(
  [
    `v=spf1 include:big.test include:host.test ${Array.from({ length: 8 }, (_, n) => `include:s${n}.test`).join(" ")} -all`,
  ],
  [GOOD_DMARC],
  {
    "big.test": { TXT: ["v=spf1 include:big1.test include:big2.test ~all"] },
    "big1.test": { TXT: ["v=spf1 ip4:9.9.9.0/28 ip6:2606:4700::/32 ~all"] },
    "big2.test": { TXT: ["v=spf1 ip4:9.9.9.16/28 ip4:9.9.9.0/28 ~all"] },
    "host.test": { TXT: ["v=spf1 a -all"], A: ["9.9.9.9"] },
    ...Object.fromEntries(
      Array.from({ length: 8 }, (_, n) => [`s${n}.test`, { TXT: [`v=spf1 ip4:9.8.7.${n} -all`] }]),
    ),
  },
);

test("the SPF tree shows each record with its look-ups and the cost of its replacement", async () => {
  const { spf } = await whenChecked(MANY);

  expect(spf.tree?.slice(0, 5)).toMatchObject([
    {
      depth: 0,
      term: null,
      domain: "example.com",
      status: "record",
      lookups: 13,
      ownLookups: 0,
      blocks: null,
    },
    {
      depth: 1,
      term: "include:big.test",
      domain: "big.test",
      status: "record",
      lookups: 3,
      ownLookups: 0,
      blocks: 3,
    },
    {
      depth: 2,
      term: "include:big1.test",
      domain: "big1.test",
      status: "record",
      lookups: 1,
      ownLookups: 0,
      blocks: 2,
    },
    {
      depth: 2,
      term: "include:big2.test",
      domain: "big2.test",
      status: "record",
      lookups: 1,
      ownLookups: 0,
      blocks: 2,
    },
    {
      depth: 1,
      term: "include:host.test",
      domain: "host.test",
      status: "record",
      lookups: 2,
      ownLookups: 1,
      blocks: null,
    },
  ]);
  expect(spf.tree?.[0]?.lookups).toBe(spf.lookups);
  expect(spf.tree).toHaveLength(1 + 4 + 8);
});

test("the SPF tree ends at 100 terms, and marks a loop", async () => {
  const { spf } = await whenChecked(
    given(["v=spf1 include:a.test include:gone.test include:%{i}.b.test -all"], [GOOD_DMARC], {
      "a.test": {
        TXT: ["v=spf1 include:a.test include:example.com include:b.test include:b.test -all"],
      },
      "b.test": { TXT: ["v=spf1 include:c.test include:c.test -all"] },
      "c.test": { TXT: [`v=spf1 ${"include:sender.test ".repeat(40)}-all`] },
    }),
  );
  const statuses = new Map(spf.tree?.map(({ term, status }) => [term, status]));

  expect(spf.tree).toHaveLength(100);
  expect(statuses.get("include:a.test")).toBe("loop");
  expect(statuses.get("include:example.com")).toBe("loop");
});

test("flattening replaces the chosen includes by their blocks, and counts the look-ups again", async () => {
  const report = await whenChecked(MANY);
  const flattened = await flattenSpf(report, ["big.test"]);

  expect(flattened).toMatchObject({
    kind: "flattened",
    includes: [{ include: "big.test", blocks: 3 }],
    lookups: 10,
    proposal: { replaces: [{ value: report.spf.record }], open: [] },
  });
  const [first, second] =
    flattened.kind === "flattened" ? flattened.proposal.record.value.split(" include:host") : [];
  expect(first).toBe("v=spf1 ip4:9.9.9.0/28 ip6:2606:4700::/32 ip4:9.9.9.16/28");
  expect(second).toMatch(/^\.test include:s0\.test/);
});

test.each([
  ["host.test", /stands for more than address blocks/],
  ["elsewhere.test", /does not include it/],
  ["big1.test", /does not include it/],
])("flattening refuses to replace %s", async (include, fault) => {
  const flattened = await flattenSpf(await whenChecked(MANY), [include]);

  expect(flattened).toMatchObject({ kind: "fault", include, fault: expect.stringMatching(fault) });
});

test("flattening starts from the record that the check proposes", async () => {
  const report = await whenChecked(
    given(["v=spf1 ipv4:8.8.8.8 include:sender.test -all"], [GOOD_DMARC]),
  );

  expect(await flattenSpf(report, ["sender.test"])).toMatchObject({
    proposal: { record: { value: "v=spf1 ip4:8.8.8.8 ip4:9.9.9.9 -all" } },
    lookups: 0,
  });
});

/** Where advice about a record begins, by the record's name or value. Other records are no text of this domain. */
const SUBJECTS: readonly (readonly [record: RegExp, advice: RegExp])[] = [
  [/_report\._dmarc\./, /^dmarc_ru[af]_authorize$/],
  [/^_dmarc\./, /dmarc/],
  [/ v=spf1/, /spf/],
  [/\._domainkey\./, /^dkim_testing|^dkim_h/],
  [/^_smtp\._tls\./, /^tls_rpt/],
  [/^_mta-sts\./, /^mta_sts_record/],
];

const findSubject = ({ record: { name, value } }: ProposedRecord): RegExp | undefined =>
  SUBJECTS.find(([pattern]) => pattern.test(`${name} ${value}`))?.[1];

/** Advice that the owner follows later, when the reports allow it, or with a mailbox that only the owner knows. */
const LATER: Readonly<Record<string, RegExp>> = {
  dmarc_enforce: /p=(?:none|quarantine)/,
  dmarc_sp: /sp=quarantine/,
  // A domain that receives no mail.
  dmarc_rua: /^v=DMARC1; p=reject; np=reject$/,
};

const FAULTY: readonly Row[] = asRows`
  a policy for a part of unsigned mail | ${[`v=DMARC1; p=quarantine; pct=20; ${RUA}`]} | - | - | ${UNSIGNED}
  a policy for a part without reports | ${["v=DMARC1; p=quarantine; pct=20"]} | - | -
  a policy in test for a part | ${[`v=DMARC1; p=reject; t=y; pct=50; rf=afrf; ri=3600; ${RUA}`]} | - | -
`;

test.each([
  ...SPF_ROWS.map(
    ([why, spf, , , others = {}]) => [why, given(spf, [GOOD_DMARC], others)] as const,
  ),
  ...[...DMARC_ROWS, ...FAULTY].map(
    ([why, dmarc, , , others = {}]) => [why, given([GOOD_SPF], dmarc, others)] as const,
  ),
])("a published proposal raises no further advice about its record: %s", async (_, zone) => {
  const dns = createZoneDns(zone);
  const { recommendations } = await createReport(dns);
  const records = recommendations.flatMap(({ proposal }) =>
    proposal?.record.type === "TXT" && proposal.open.length === 0 ? [proposal] : [],
  );
  const advised: string[] = [];
  for (const proposal of records) {
    const subject = findSubject(proposal);
    if (!subject) throw new Error(`No subject for ${JSON.stringify(proposal.record)}`);
    const after = await createReport(overlayTexts(dns, [proposal]));
    for (const { id } of after.recommendations)
      if (subject.test(id) && !LATER[id]?.test(proposal.record.value))
        advised.push(`${proposal.record.value}: ${id}`);
  }

  expect([...new Set(advised)]).toEqual([]);
});

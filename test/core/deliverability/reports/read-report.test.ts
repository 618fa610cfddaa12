import { gzipSync } from "node:zlib";
import { readReport } from "@mailproof/core/deliverability/reports/read-report";
import {
  countMessages,
  type DmarcReport,
  getReportDay,
  type SourceSums,
  type TlsReport,
} from "@mailproof/core/deliverability/reports/report";
import { describe, expect, test } from "vitest";
import { asRows } from "../../../runner/as-rows.ts";
import {
  BEGIN,
  createDmarcReport,
  createRecord,
  createTlsPolicy,
  createTlsReport,
  createZip,
} from "../../../things/made-reports.ts";

const read = (text: string | Uint8Array) => readReport(Buffer.from(text as string));
const readDmarc = async (text: string | Uint8Array) => (await read(text)) as DmarcReport;

const source = (fields: Partial<SourceSums>): SourceSums => ({
  ip: "192.0.2.1",
  messages: 1,
  aligned: 1,
  spfAligned: 1,
  dkimAligned: 1,
  forwarded: 0,
  dispositions: { none: 1 },
  reasons: {},
  authenticated: { "example.com": 1 },
  ...fields,
});

test("the reader reads a report's reporter, domain and time, and the counts of each address", async () => {
  const text = createDmarcReport({
    records: [
      createRecord({ count: 3 }),
      createRecord({ count: 4, dkim: "fail" }),
      createRecord({ ip: "198.51.100.7", count: 20, dkim: "fail", spf: "fail", auth: "" }),
    ],
  });

  expect(await readDmarc(text)).toEqual({
    type: "dmarc",
    reporter: "google.com",
    reportId: "1234567890",
    domain: "example.com",
    begin: new Date(BEGIN * 1_000),
    end: new Date((BEGIN + 86_399) * 1_000),
    policy: {
      p: "none",
      sp: "none",
      np: null,
      pct: 100,
      isTesting: false,
      discoveryMethod: null,
    },
    rows: 3,
    sources: [
      source({
        ip: "198.51.100.7",
        messages: 20,
        aligned: 0,
        spfAligned: 0,
        dkimAligned: 0,
        dispositions: { none: 20 },
        authenticated: {},
      }),
      source({
        messages: 7,
        aligned: 7,
        spfAligned: 7,
        dkimAligned: 3,
        dispositions: { none: 7 },
        authenticated: { "example.com": 7 },
      }),
    ],
  });
});

const AUTH = {
  foreign:
    "<dkim><domain>bounce.mailer.example</domain><result>pass</result><selector>s1</selector></dkim><spf><domain>mailer.example</domain><result>pass</result></spf>",
  several:
    "<dkim><domain>a.example</domain><result>pass</result></dkim><dkim><domain>b.example</domain><result>fail</result></dkim><dkim><domain>c.example</domain><result>PASS</result></dkim><spf><domain>d.example</domain><scope>mfrom</scope><result>softfail</result></spf>",
};

/** One source, as the report of each receiver shows it. */
const SHAPES: readonly (readonly [name: string, text: string | Uint8Array, Partial<SourceSums>])[] =
  [
    [
      "Google: a line for each element, and extra contact information",
      createDmarcReport({
        records: [createRecord({ count: 2 })],
      })
        .replaceAll("><", ">\n  <")
        .replace(
          "<report_id>",
          "<extra_contact_info>https://support.example/dmarc</extra_contact_info><report_id>",
        ),
      {
        messages: 2,
        aligned: 2,
        spfAligned: 2,
        dkimAligned: 2,
        dispositions: { none: 2 },
        authenticated: { "example.com": 2 },
      },
    ],
    [
      "Microsoft: a namespace of XML Schema, envelope_to and envelope_from",
      createDmarcReport({
        reporter: "Enterprise Outlook",
        head: '<?xml version="1.0"?>',
      })
        .replace(
          "<feedback>",
          '<feedback xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><version>1.0</version>',
        )
        .replace(
          "<header_from>",
          "<envelope_to>b.example</envelope_to><envelope_from>example.com</envelope_from><header_from>",
        ),
      {},
    ],
    [
      "Yahoo: white space around values, and no XML declaration",
      createDmarcReport({ head: "", reporter: " Yahoo " }).replace(
        "<count>1</count>",
        "<count> 1 </count>",
      ),
      {},
    ],
    [
      "Mail.ru: an empty reason and sp",
      createDmarcReport({
        reporter: "Mail.Ru",
        policy: "<adkim>r</adkim><aspf>r</aspf><p>reject</p><sp/><pct>100</pct>",
        records: [createRecord().replace("</policy_evaluated>", "<reason/></policy_evaluated>")],
      }),
      {},
    ],
    [
      "Fastmail: a default namespace, and RFC 9990's elements",
      createDmarcReport({
        reporter: "Fastmail Pty Ltd",
        policy:
          "<p>quarantine</p><sp>none</sp><np>reject</np><testing>n</testing><discovery_method>treewalk</discovery_method>",
      }).replace("<feedback>", '<feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0">'),
      {},
    ],
    [
      "a prefix on every element",
      createDmarcReport({ head: "" })
        .replaceAll(/<(\/?)(?=[a-z])/g, "<$1d:")
        .replace("<d:feedback>", '<d:feedback xmlns:d="urn:ietf:params:xml:ns:dmarc-2.0">'),
      {},
    ],
    [
      "Comcast: local policy as the reason of an override",
      createDmarcReport({
        records: [
          createRecord({
            dkim: "fail",
            spf: "fail",
            reasons: ["local_policy"],
            auth: AUTH.foreign,
          }),
        ],
      }),
      {
        aligned: 0,
        spfAligned: 0,
        dkimAligned: 0,
        reasons: { local_policy: 1 },
        authenticated: { "mailer.example": 1, "bounce.mailer.example": 1 },
      },
    ],
    [
      "Mimecast: several signatures, each with its own result",
      createDmarcReport({
        records: [createRecord({ dkim: "pass", spf: "fail", auth: AUTH.several })],
      }),
      { spfAligned: 0, authenticated: { "a.example": 1, "c.example": 1 } },
    ],
    [
      "Cisco: windows line ends and capitals",
      createDmarcReport()
        .replaceAll("><", ">\r\n<")
        .replaceAll("pass", "Pass")
        .replaceAll("none", "NONE"),
      {},
    ],
    [
      "a reason of a later standard",
      createDmarcReport({
        records: [createRecord({ reasons: ["policy_test_mode", "phase_of_the_moon"] })],
      }),
      { reasons: { policy_test_mode: 1, other: 1 } },
    ],
    [
      "several auth_results",
      createDmarcReport().replace(
        "<auth_results>",
        "<auth_results><dkim><domain>x.example</domain><result>pass</result></dkim></auth_results><auth_results>",
      ),
      { authenticated: { "example.com": 1, "x.example": 1 } },
    ],
    [
      "the disposition pass of RFC 9990",
      createDmarcReport({ records: [createRecord({ disposition: "pass" })] }),
      { dispositions: { pass: 1 } },
    ],
    [
      "no policy_evaluated: the verdicts follow from the results",
      createDmarcReport().replace(/<policy_evaluated>.*<\/policy_evaluated>/, ""),
      { dispositions: { unknown: 1 } },
    ],
    [
      "elements in another order: records first",
      createDmarcReport().replace(
        /(<report_metadata>.*<\/policy_published>)(.*)<\/feedback>/,
        "$2$1</feedback>",
      ),
      {},
    ],
    [
      "UTF-16, little endian, with its mark",
      Buffer.from(
        `\ufeff${createDmarcReport({ head: '<?xml version="1.0" encoding="UTF-16"?>' })}`,
        "utf16le",
      ),
      {},
    ],
    ["UTF-16 without a mark", Buffer.from(createDmarcReport(), "utf16le"), {}],
    ["gzip", gzipSync(createDmarcReport()), {}],
    ["zip", createZip({ name: "a!example.com!1!2.xml", content: createDmarcReport() }), {}],
    [
      "zip without compression, with the folder that macOS adds",
      createZip(
        { name: "report/", content: "", isStored: true },
        { name: "report/a.xml", content: createDmarcReport(), isStored: true },
        { name: "__MACOSX/report/._a.xml", content: "x" },
      ),
      {},
    ],
    [
      "comments, CDATA and processing instructions",
      createDmarcReport().replace(
        "<count>1</count>",
        "<!-- a > b --><count><![CDATA[1]]></count><?x?>",
      ),
      {},
    ],
  ];

test.each(SHAPES)("the reader reads a report in the style of %s", async (_name, text, fields) => {
  const report = await readDmarc(text);

  expect(report.domain).toBe("example.com");
  expect(report.sources).toEqual([source(fields)]);
});

test("the reader reads a text in latin1 by its declaration", async () => {
  const head = '<?xml version="1.0" encoding="ISO-8859-1"?>';
  const bytes = Buffer.from(createDmarcReport({ head, reporter: "Bücher" }), "latin1");

  expect((await readDmarc(bytes)).reporter).toBe("Bücher");
});

test("the reader stores a domain with letters beyond ASCII in A-labels", async () => {
  expect((await readDmarc(createDmarcReport({ domain: "bücher.example" }))).domain).toBe(
    "xn--bcher-kva.example",
  );
});

test("the reader identifies a receiver without a name by its address", async () => {
  const text = createDmarcReport().replace(/<org_name>.*<\/org_name>/, "");

  expect((await readDmarc(text)).reporter).toBe("receiver.example");
});

test("the reader reads RFC 9990's policy for missing names, its test mode and its discovery method", async () => {
  const policy =
    "<p>quarantine</p><np>reject</np><testing>y</testing><discovery_method>treewalk</discovery_method>";

  expect((await readDmarc(createDmarcReport({ policy }))).policy).toEqual({
    p: "quarantine",
    sp: null,
    np: "reject",
    pct: null,
    isTesting: true,
    discoveryMethod: "treewalk",
  });
});

test("a report counts for the day in the middle of its range, in any time zone of the receiver", async () => {
  const inTokyo = createDmarcReport({ begin: BEGIN - 9 * 3_600, end: BEGIN + 15 * 3_600 });

  expect(getReportDay(await readDmarc(inTokyo))).toBe("2026-03-01");
  expect(getReportDay(await readDmarc(createDmarcReport()))).toBe("2026-03-01");
});

test("a row without messages counts as a row, and adds no source", async () => {
  const report = await readDmarc(createDmarcReport({ records: [createRecord({ count: 0 })] }));

  expect([report.rows, report.sources, countMessages(report)]).toEqual([1, [], 0]);
});

test("the reader reads the failed sessions of a TLS report with their causes", async () => {
  const policies = [
    createTlsPolicy(),
    createTlsPolicy({
      policy: { "policy-type": "tlsa", "policy-domain": "example.com" },
      summary: { "total-successful-session-count": "5", "total-failure-session-count": 0 },
      "failure-details": undefined,
    }),
  ];
  const report = (await read(gzipSync(JSON.stringify(createTlsReport({ policies }))))) as TlsReport;

  expect(report).toEqual({
    type: "tls",
    reporter: "Receiver Inc.",
    reportId: "2026-03-01T00:00:00Z_example.com",
    domain: "example.com",
    begin: new Date("2026-03-01T00:00:00Z"),
    end: new Date("2026-03-01T23:59:59Z"),
    rows: 2,
    policies: [
      { policy: "sts", succeeded: 100, failed: 3, failures: { "certificate-expired": 3 } },
      { policy: "tlsa", succeeded: 5, failed: 0, failures: {} },
    ],
  });
  expect(countMessages(report)).toBe(108);
  expect(JSON.stringify(report)).not.toContain("192.0.2.9");
  expect(JSON.stringify(report)).not.toContain("smtp-tls-reporting");
});

test("the reader ignores the addresses in a report, in the contact and in the envelope", async () => {
  const text = createDmarcReport().replace(
    "<header_from>",
    "<envelope_to>ann@b.example</envelope_to><header_from>",
  );

  expect(JSON.stringify(readDmarc(text))).not.toMatch(/@|noreply/);
});

describe("reports of other reporters", () => {
  // What receivers' programs are known to write, beyond the shapes in read-report.test.ts: each was reported in
  // public to the authors of another parser. The reports are made here.

  const read = (file: string | Uint8Array) => readReport(Buffer.from(file as string));

  const dkim = (domain: string, result: string, more = "") =>
    `<dkim><domain>${domain}</domain><result>${result}</result>${more}</dkim>`;
  const spf = (domain: string, result: string) =>
    `<spf><domain>${domain}</domain><result>${result}</result></spf>`;
  const withAuth = (auth: string) => createDmarcReport({ records: [createRecord({ auth })] });
  const inEvaluated = (more: string) =>
    createDmarcReport().replace("</policy_evaluated>", `${more}</policy_evaluated>`);

  const ALIGNED = { ip: "192.0.2.1", messages: 1, aligned: 1, spfAligned: 1, dkimAligned: 1 };

  const DMARC: readonly (readonly [
    name: string,
    file: string | Uint8Array,
    source: Readonly<Record<string, unknown>>,
  ])[] = asRows`
  GMX: RFC 9990's namespace, a version and a generator
    | ${createDmarcReport({ reporter: "gmx.net" }).replace("<feedback>", '<feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0"><version>1.0</version>').replace("<date_range>", "<generator>reporter 1.2</generator><date_range>")}
    | ${{}}
  no version, sp left out, and the elements on lines of their own
    | ${createDmarcReport({ reporter: "Yahoo", policy: "<adkim>r</adkim><aspf>r</aspf><p>reject</p><pct>100</pct>" }).replaceAll("><", ">\n<")} | ${{}}
  the SPF result hardfail | ${withAuth(dkim("example.com", "pass") + spf("other.example", "hardfail"))} | ${{ authenticated: { "example.com": 1 } }}
  an SPF domain that is empty, as of a bounce | ${withAuth(`${dkim("example.com", "pass")}<spf><domain/><scope>helo</scope><result>none</result></spf>`)}
    | ${{ authenticated: { "example.com": 1 } }}
  an SPF result of a host name that is no domain | ${withAuth(dkim("example.com", "pass") + spf("localhost", "pass"))} | ${{ authenticated: { "example.com": 1 } }}
  the results of each signature in a group of its own
    | ${withAuth(dkim("a.example", "pass")).replace("</auth_results>", `</auth_results><auth_results>${dkim("example.com", "pass")}</auth_results>`)}
    | ${{ authenticated: { "a.example": 1, "example.com": 1 } }}
  KDDI: a reason that is a text without a type | ${inEvaluated("<reason>none</reason>")} | ${{ reasons: {} }}
  a reason whose type is empty | ${inEvaluated("<reason><type/><comment/></reason>")} | ${{ reasons: {} }}
  Google: ARC as a local policy, with a comment | ${inEvaluated("<reason><type>local_policy</type><comment>arc=pass as.1.example.com=pass</comment></reason>")}
    | ${{ reasons: { local_policy: 1 } }}
  RFC 9990: extensions of a namespace of their own
    | ${createDmarcReport().replace("<record>", '<extension><x:a xmlns:x="urn:x" definition="https://x.example">1</x:a></extension><record>')} | ${{}}
  an error in the metadata, which says what the receiver could not do
    | ${createDmarcReport().replace("</report_metadata>", "<error>DNS time-out</error></report_metadata>")} | ${{}}
  a report of a week | ${createDmarcReport({ end: BEGIN + 7 * 86_400 })} | ${{}}
  an id in angle brackets | ${createDmarcReport({ id: "&lt;20260301.1@receiver.example&gt;" })} | ${{}}
  all elements in capitals | ${createDmarcReport().replaceAll(/<(\/?)([a-z_]+)>/g, (_, end, name: string) => `<${end}${name.toUpperCase()}>`)} | ${{}}
  a zip file whose report is named as another zip file | ${createZip({ name: "a!example.com!1!2.xml.zip", content: createDmarcReport() })} | ${{}}
  a gzip file of two members | ${Buffer.concat([gzipSync(createDmarcReport().slice(0, 200)), gzipSync(createDmarcReport().slice(200))])} | ${{}}
`;

  test.each(DMARC)(
    "the reader reads another reporter's report with %s",
    async (_name, file, source) => {
      expect(await read(file)).toMatchObject({
        type: "dmarc",
        domain: "example.com",
        sources: [{ ...ALIGNED, ...source }],
      });
    },
  );

  const policy = (type: string, domain: string | undefined) =>
    createTlsPolicy({
      policy: { "policy-type": type, ...(domain !== undefined && { "policy-domain": domain }) },
      "failure-details": [],
    });

  const tls = (fields: Readonly<Record<string, unknown>>) =>
    JSON.stringify(createTlsReport(fields));

  const TLS: readonly (readonly [name: string, file: string | Uint8Array])[] = asRows`
  Google: packed, with an ending in a Z | ${gzipSync(tls({}))}
  Microsoft: a failure without the address of the server, and a plus in the id
    | ${tls({ "report-id": "133944884956529435+example.com", policies: [createTlsPolicy({ "failure-details": [{ "result-type": "sts-policy-fetch-error", "failed-session-count": 3 }] })] })}
  a gateway: no contact | ${tls({ "contact-info": null })}
  no list of failures | ${tls({ policies: [createTlsPolicy({ "failure-details": null })] })}
  Postfix: a policy of DANE for each mail host, and the domain in another one
    | ${tls({ policies: [policy("tlsa", "mx1.example.com"), policy("tlsa", "mx2.provider.example"), policy("sts", "example.com")] })}
  Postfix: a policy that was not found, without a domain | ${tls({ policies: [policy("no-policy-found", undefined), policy("sts", "example.com")] })}
`;

  test.each(TLS)("the reader reads a TLS report of %s", async (_name, file) => {
    expect(await read(file)).toMatchObject({ type: "tls", domain: "example.com" });
  });

  test.each([
    [
      "mail hosts alone",
      [policy("tlsa", "mx1.example.com"), policy("tlsa", "mx2.example.com")],
      /policies\[1\].policy.policy-domain: must be mx1.example.com/,
    ],
    [
      "no domain at all",
      [policy("no-policy-found", undefined)],
      /policies\[0\].policy.policy-domain: is missing/,
    ],
  ])(
    "the reader refuses a TLS report about %s, since its domain is unknown",
    async (_name, policies, reason) => {
      await expect(read(tls({ policies }))).rejects.toThrow(reason);
    },
  );
});

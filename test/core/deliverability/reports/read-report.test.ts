import { gzipSync } from "node:zlib";
import { readReport } from "@mailproof/core/deliverability/reports/read-report";
import {
  countMessages,
  type DmarcReport,
  getReportDay,
  type SourceSums,
  type TlsReport,
} from "@mailproof/core/deliverability/reports/report";
import { expect, test } from "vitest";
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

test("a report says who made it, for which domain and time, and what each address sent", async () => {
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
      "Amazon SES: IPv6, in its long spelling",
      createDmarcReport({ records: [createRecord({ ip: "2001:0DB8:0:0:0:0:0:1" })] }),
      { ip: "2001:db8::1" },
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
      "a mailing list, twice",
      createDmarcReport({
        records: [
          createRecord({ dkim: "fail", spf: "fail", reasons: ["mailing_list", "other"], auth: "" }),
        ],
      }),
      {
        aligned: 0,
        spfAligned: 0,
        dkimAligned: 0,
        forwarded: 1,
        reasons: { mailing_list: 1, other: 1 },
        authenticated: {},
      },
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
      "a disposition that is no word of any standard",
      createDmarcReport({ records: [createRecord({ disposition: "deliver" })] }),
      { dispositions: { unknown: 1 } },
    ],
    [
      "no policy_evaluated: the verdicts follow from the results",
      createDmarcReport().replace(/<policy_evaluated>.*<\/policy_evaluated>/, ""),
      { dispositions: { unknown: 1 } },
    ],
    [
      "no policy_evaluated, and results of another domain",
      createDmarcReport({
        records: [
          createRecord({ auth: AUTH.foreign }).replace(
            /<policy_evaluated>.*<\/policy_evaluated>/,
            "",
          ),
        ],
      }),
      {
        aligned: 0,
        spfAligned: 0,
        dkimAligned: 0,
        dispositions: { unknown: 1 },
        authenticated: { "mailer.example": 1, "bounce.mailer.example": 1 },
      },
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
      "no identifiers and no auth_results",
      createDmarcReport().replace(/<identifiers>.*<\/auth_results>/, ""),
      { authenticated: {} },
    ],
    [
      "IPv4 mapped into IPv6",
      createDmarcReport({ records: [createRecord({ ip: "::ffff:192.0.2.1" })] }),
      {},
    ],
    ["a byte order mark", `\ufeff${createDmarcReport()}`, {}],
    [
      "UTF-16, little endian, with its mark",
      Buffer.from(
        `\ufeff${createDmarcReport({ head: '<?xml version="1.0" encoding="UTF-16"?>' })}`,
        "utf16le",
      ),
      {},
    ],
    [
      "UTF-16, big endian, with its mark",
      Buffer.from(`\ufeff${createDmarcReport()}`, "utf16le").swap16(),
      {},
    ],
    ["UTF-16 without a mark", Buffer.from(createDmarcReport(), "utf16le"), {}],
    [
      "UTF-16 declared by a file in UTF-8",
      createDmarcReport({ head: '<?xml version="1.0" encoding="utf-16"?>' }),
      {},
    ],
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
    ["an end with a dot, as DNS writes names", createDmarcReport({ domain: "Example.COM." }), {}],
    [
      "times with a fraction",
      createDmarcReport({ begin: `${BEGIN}.0`, end: `${BEGIN + 86_399}.5` }),
      {},
    ],
  ];

test.each(SHAPES)("reads %s", async (_name, text, fields) => {
  const report = await readDmarc(text);

  expect(report.domain).toBe("example.com");
  expect(report.sources).toEqual([source(fields)]);
});

test("a text in latin1 is read as it declares itself", async () => {
  const head = '<?xml version="1.0" encoding="ISO-8859-1"?>';
  const bytes = Buffer.from(createDmarcReport({ head, reporter: "Bücher" }), "latin1");

  expect((await readDmarc(bytes)).reporter).toBe("Bücher");
});

test("a domain with letters beyond ASCII is stored in A-labels", async () => {
  expect((await readDmarc(createDmarcReport({ domain: "bücher.example" }))).domain).toBe(
    "xn--bcher-kva.example",
  );
});

test("a receiver without a name has that of its address", async () => {
  const text = createDmarcReport().replace(/<org_name>.*<\/org_name>/, "");

  expect((await readDmarc(text)).reporter).toBe("receiver.example");
});

test("RFC 9990: the policy for names that do not exist, test mode and how the record was found are read", async () => {
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

test("the day of a report is that of its middle, wherever its receiver's midnight is", async () => {
  const inTokyo = createDmarcReport({ begin: BEGIN - 9 * 3_600, end: BEGIN + 15 * 3_600 });

  expect(getReportDay(await readDmarc(inTokyo))).toBe("2026-03-01");
  expect(getReportDay(await readDmarc(createDmarcReport()))).toBe("2026-03-01");
});

test("a row without a message counts as a row, and adds no source", async () => {
  const report = await readDmarc(createDmarcReport({ records: [createRecord({ count: 0 })] }));

  expect([report.rows, report.sources, countMessages(report)]).toEqual([1, [], 0]);
});

test("a TLS report says how many sessions failed, and by what", async () => {
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

test("addresses in a report are not read: neither of the contact nor of an envelope", async () => {
  const text = createDmarcReport().replace(
    "<header_from>",
    "<envelope_to>ann@b.example</envelope_to><header_from>",
  );

  expect(JSON.stringify(readDmarc(text))).not.toMatch(/@|noreply/);
});

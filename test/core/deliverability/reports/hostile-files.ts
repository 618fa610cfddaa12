import { deflateSync, gzipSync } from "node:zlib";
import {
  createDmarcReport,
  createRecord,
  createTlsPolicy,
  createTlsReport,
  createZip,
} from "../../../things/made-reports.ts";

// Files that are meant to harm a reader, or that are packed, encoded or numbered as no reader expects. hostile-reports.test.ts
// has the fields one by one.

const xml = createDmarcReport();
const zip = createZip({ name: "a.xml", content: xml });
const directoryAt = zip.indexOf("PK\u0001\u0002");
const record = (fields: Parameters<typeof createRecord>[0]): string =>
  createDmarcReport({ records: [createRecord(fields)] });
const tls = (fields: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify(createTlsReport(fields));
const before = (element: string, text: string): string =>
  xml.replace(`<${element}>`, `${text}<${element}>`);

/** Four bytes of a file replaced; from the end when `at` is negative. */
const patch = (bytes: Buffer, at: number, value: number): Buffer => {
  const patched = Buffer.from(bytes);
  patched.writeUInt32LE(value, at < 0 ? patched.length + at : at);
  return patched;
};

const LAUGHS = Array.from(
  { length: 10 },
  (_, at) => `<!ENTITY l${at} "${at === 0 ? "lol" : `&l${at - 1};`.repeat(10)}">`,
).join("");

const NO_REPORT = "file: is neither a DMARC aggregate report (XML) nor a TLS report (JSON)";
const NO_DOCTYPE = "file: is no XML that is read (a document type is not allowed)";
const TOO_LARGE = "file, unpacked: is over 20000000 bytes";
const NO_COUNT = "feedback.record[1].row.count: must be a whole number";
const NO_IP = "feedback.record[1].row.source_ip: must be an IPv4 or IPv6 address";
const NO_DOMAIN = "feedback.policy_published.domain: must be a domain name";
const BEGIN_AT = "feedback.report_metadata.date_range.begin";

/** What it is, the file, and the beginning of the reason. */
export const HOSTILE_FILES: readonly (readonly [
  name: string,
  file: string | Buffer,
  reason: string,
])[] = [
  // Bombs.
  ["a billion laughs", before("feedback", `<!DOCTYPE a [${LAUGHS}]>`), NO_DOCTYPE],
  [
    "one long entity, many times",
    before("feedback", `<!DOCTYPE a [<!ENTITY a "${"a".repeat(100_000)}">]>`).replace(
      "google.com",
      "&a;".repeat(10_000),
    ),
    NO_DOCTYPE,
  ],
  [
    "a parameter entity of another host",
    before("feedback", '<!DOCTYPE a [<!ENTITY % a SYSTEM "http://192.0.2.1/a.dtd"> %a;]>'),
    NO_DOCTYPE,
  ],
  ["20 MB and a byte", Buffer.alloc(20_000_001, " "), "file: is over 20000000 bytes"],
  [
    "a gzip file of thirty members of a megabyte",
    Buffer.concat(Array.from({ length: 30 }, () => gzipSync(Buffer.alloc(1_000_000)))),
    TOO_LARGE,
  ],
  [
    "a zip bomb whose directory says five bytes",
    (() => {
      const bomb = createZip({ name: "a.xml", content: Buffer.alloc(21_000_000) });
      return patch(bomb, bomb.indexOf("PK\u0001\u0002") + 24, 5);
    })(),
    TOO_LARGE,
  ],
  [
    "four million elements, packed",
    gzipSync(`<feedback>${"<a>".repeat(4_000_000)}`),
    "feedback: does not end",
  ],
  [
    "a record of two million elements, packed",
    gzipSync(`<feedback><record>${"<dkim/>".repeat(2_000_000)}`),
    "feedback.record: has more than 5000 elements",
  ],
  [
    "thousands of reasons",
    record({ reasons: Array.from({ length: 2_000 }, () => "forwarded") }),
    "feedback.record.row.policy_evaluated: has more than 5000 elements",
  ],
  ["ten million lists", gzipSync(`{"a":${"[".repeat(10_000_000)}`), "file: is nested more than 20"],
  ["deep objects", '{"a":'.repeat(100_000), "file: is nested more than 20"],
  [
    "ten thousand failures and one",
    tls({
      policies: [
        createTlsPolicy({
          "failure-details": Array.from({ length: 10_001 }, () => ({ "failed-session-count": 1 })),
        }),
      ],
    }),
    "policies[0].failure-details: has more than 10000 entries",
  ],

  // Packing.
  [
    "two reports in one gzip file",
    Buffer.concat([gzipSync(xml), gzipSync(xml)]),
    "feedback: is followed by another report",
  ],
  [
    "gzip in zip",
    createZip({ name: "a.xml.gz", content: gzipSync(xml) }),
    "file: holds a packed file inside a packed file",
  ],
  ["half a gigabyte of zeros in gzip", gzipSync(Buffer.alloc(500_000_000)), TOO_LARGE],
  ["20 MB and a byte in gzip", gzipSync(Buffer.alloc(20_000_001, " ")), TOO_LARGE],
  ["zip in gzip", gzipSync(zip), "file: holds a packed file inside a packed file"],
  ["zlib without gzip", deflateSync(xml), NO_REPORT],
  ["tar", Buffer.from(`${"report.xml".padEnd(257, "\0")}ustar\0`), NO_REPORT],
  [
    "a zip file that says more than it holds",
    patch(zip, directoryAt + 20, 0x7f_ff_ff_ff),
    "file: is a damaged zip file (it ends too early)",
  ],
  [
    "a zip file whose report is beyond its end",
    patch(zip, directoryAt + 42, 0x7f_ff_ff_ff),
    "file: is a damaged zip file (it ends too early)",
  ],
  [
    "a zip file whose directory is beyond its end",
    patch(zip, -6, 0x7f_ff_ff_ff),
    "file: is a damaged zip file (it ends too early)",
  ],
  [
    "a zip file with a directory of two gigabytes",
    patch(zip, -10, 0x7f_ff_ff_ff),
    "file (its directory): is over 20000000 bytes",
  ],
  [
    "a zip file of the 64-bit kind",
    patch(zip, directoryAt + 42, 0xff_ff_ff_ff),
    "file (a.xml): is over 20000000 bytes",
  ],
  [
    "the beginning of a zip file",
    Buffer.from("PK\u0003\u0004"),
    "file: is a damaged zip file (it ends too early)",
  ],
  [
    "an empty file in a zip file",
    createZip({ name: "a.xml", content: "" }),
    "file: holds an empty report",
  ],
  [
    "a text document",
    createZip(
      { name: "[Content_Types].xml", content: "<Types/>" },
      { name: "word/document.xml", content: "<w/>" },
    ),
    "file: holds 2 files; send each",
  ],

  // Encodings.
  [
    "UTF-32",
    Buffer.from([...Buffer.from(xml)].flatMap((byte) => [byte, 0, 0, 0])),
    "file: starts with the element",
  ],
  ["a declaration alone", '<?xml version="1.0"?>', "file: does not end"],

  // XML.
  [
    "an attribute without an end",
    xml.replace("<feedback>", '<feedback a="1>'),
    "file: is no XML that is read (its XML ends too early)",
  ],
  [
    "CDATA without an end",
    xml.replace("<count>1", "<count><![CDATA[1"),
    "feedback.record.row.count: is no XML that is read",
  ],
  ["the word that one receiver sent for weeks", gzipSync("unused"), NO_REPORT],
  [
    "a record in a record",
    xml.replace("<record>", "<record><record>").replace("</record>", "</record></record>"),
    "feedback.record[1].row: is missing",
  ],

  // Numbers, addresses, times, names.
  ...["0x10", "+1", "999999999999999", "\u0661"].map(
    (count) => [`the count ${count}`, record({ count }), NO_COUNT] as const,
  ),
  [
    "a count of elements",
    xml.replace("<count>1</count>", "<count><n>1</n></count>"),
    "feedback.record[1].row.count: is missing",
  ],
  ...["010.0.0.1", "192.0.2.0/24"].map(
    (ip) => [`the address ${ip}`, record({ ip }), NO_IP] as const,
  ),
  [
    "the year 9999",
    createDmarcReport({ begin: 253_402_214_400, end: 253_402_300_799 }),
    `${BEGIN_AT}: must be a time between 1970 and 2100`,
  ],
  ...[
    "&lt;script&gt;",
    `${"a.".repeat(130)}example`,
    "example.com/..",
    "localhost",
    "*.example.com",
  ].map(
    (domain) =>
      [`the domain ${domain.slice(0, 20)}`, createDmarcReport({ domain }), NO_DOMAIN] as const,
  ),
  // TLS reports.
  ["two reports of TLS", tls() + tls(), "file: is not valid JSON"],
  ["a number that JSON does not have", tls().replace(":100", ":NaN"), "file: is not valid JSON"],
  ...["1e400", "null"].map(
    (count) =>
      [
        `${count} sessions`,
        tls().replace(":100", `:${count}`),
        "policies[0].summary.total-successful-session-count: must be a whole number",
      ] as const,
  ),
];

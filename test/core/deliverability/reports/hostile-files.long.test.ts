import { gzipSync } from "node:zlib";
import { readReport } from "@mailproof/core/deliverability/reports/read-report";
import { type DmarcReport, getReportDay } from "@mailproof/core/deliverability/reports/report";
import { ReportFault } from "@mailproof/core/deliverability/reports/report-fault";
import { describe, expect, test } from "vitest";
import { asRows } from "../../../runner/as-rows.ts";
import {
  createDmarcReport,
  createRecord,
  createTlsPolicy,
  createTlsReport,
  createZip,
} from "../../../things/made-reports.ts";
import { FAULTY_REPORT_SUMS, FAULTY_REPORTS, FAULTY_TLS_REPORTS } from "./faulty-reports.ts";
import { HOSTILE_FILES } from "./hostile-files.ts";

test("the hostile files number at least fifty, and differ from each other", () => {
  const files = HOSTILE_FILES.map(([, file]) => Buffer.from(file as string).toString("latin1"));

  expect(new Set(files).size).toBe(HOSTILE_FILES.length);
  expect(HOSTILE_FILES.length).toBeGreaterThanOrEqual(50);
});

test.each(HOSTILE_FILES)(
  "the reader refuses %s with the place and the reason",
  async (_name, file, reason) => {
    const refuse = () => readReport(Buffer.from(file as string));

    await expect(refuse).rejects.toThrow(ReportFault);
    await expect(refuse).rejects.toThrow(reason);
  },
);

const xml = createDmarcReport();
const before = (element: string, text: string): string =>
  xml.replace(`<${element}>`, `${text}<${element}>`);

/** Odd, and harmless: what a report says is read, and nothing else. */
const HARMLESS: readonly (readonly [name: string, file: string | Buffer])[] = asRows`
  an attribute of a megabyte | ${xml.replace("<feedback>", `<feedback a="${"x".repeat(1_000_000)}">`)}
  an attribute twice | ${xml.replace("<feedback>", '<feedback a="1" a="2">')}
  a long comment | ${before("record", `<!--${"-x".repeat(1_000_000)}-->`)}
  half a million comments | ${before("record", "<!---->".repeat(500_000))}
  a gzip file with ten thousand empty members | ${Buffer.concat([gzipSync(xml), ...Array.from({ length: 10_000 }, () => gzipSync(""))])}
  a second report inside of it | ${xml.replace("</feedback>", `${createDmarcReport({ head: "", domain: "other.example" })}</feedback>`)}
  a second policy | ${before("record", "<policy_published><domain>other.example</domain></policy_published>")}
  a second count | ${xml.replace("<count>1</count>", "<count>1</count><count>999</count>")}
  a NUL between elements | ${before("record", "\0")}
`;

test.each(HARMLESS)("the reader reads a report with %s", async (_name, file) => {
  expect(await readReport(Buffer.from(file as string))).toMatchObject({
    domain: "example.com",
    rows: 1,
    sources: [{ messages: 1 }],
  });
});

const TLS = JSON.stringify(createTlsReport());

test.each([
  ["NUL", createDmarcReport({ reporter: "a\0b" }), "a b"],
  ["a control character", createDmarcReport({ reporter: "a&#1;b" }), "a b"],
  ["half a pair of UTF-16", createDmarcReport({ reporter: "a&#xD800;b" }), "a\ufffdb"],
  ["half a pair of UTF-16 in JSON", TLS.replace("Receiver Inc.", "a\\ud800b"), "a\ufffdb"],
])("the reader stores a name with %s as valid text", async (_name, file, reporter) => {
  expect(await readReport(Buffer.from(file))).toMatchObject({ reporter });
});

test("the reader treats names of an object's own properties as ordinary names", async () => {
  const polluting = `{"__proto__":{"policies":[]},"constructor":{"prototype":{"x":1}},${TLS.slice(1)}`;
  const auth = "<dkim><domain>__proto__.example</domain><result>pass</result></dkim>";

  expect(await readReport(Buffer.from(polluting))).toMatchObject({
    domain: "example.com",
    rows: 1,
  });
  expect(
    await readReport(Buffer.from(createDmarcReport({ records: [createRecord({ auth })] }))),
  ).toMatchObject({ sources: [{ authenticated: { "__proto__.example": 1 } }] });
  expect({}).not.toHaveProperty("x");
});

const read = (file: string | Buffer) => readReport(Buffer.from(file as string));
const listNotes = ({ notes = [] }: Awaited<ReturnType<typeof read>>): readonly string[] =>
  notes.map(({ path, what }) => `${path} ${what}`);

test.each(FAULTY_REPORTS)(
  "the reader reads all sums of a report with %s, and notes the fault",
  async (_, file, note) => {
    const report = (await read(file)) as DmarcReport;

    expect(report).toMatchObject({ domain: "example.com", rows: 3, sources: FAULTY_REPORT_SUMS });
    expect(report.policy.p).toBe("none");
    expect(getReportDay(report)).toBe("2026-03-01");
    expect(listNotes(report)).toContainEqual(expect.stringContaining(note));
  },
);

test.each(FAULTY_TLS_REPORTS)(
  "the reader reads a TLS report with %s, and notes the fault",
  async (_, file, note) => {
    const report = await read(file);

    expect(report).toMatchObject({ policies: [{ succeeded: 100, failed: 3 }] });
    expect(getReportDay(report)).toBe("2026-03-01");
    expect(listNotes(report)).toEqual([expect.stringContaining(note)]);
  },
);

test("the reader adds no notes to a report without a fault", async () => {
  expect(await read(createDmarcReport())).not.toHaveProperty("notes");
});

test("the reader derives a missing report id from the text, so that a repeat has the same id", async () => {
  const write = (count: string) =>
    createDmarcReport({ id: "" }).replace("<count>1<", `<count>${count}<`);
  const ids = await Promise.all(["1", "1", "2"].map(async (n) => (await read(write(n))).reportId));

  expect(ids[0]).toBe(ids[1]);
  expect(ids[0]).not.toBe(ids[2]);
});

test("the reader calls a reporter without name and address unknown", async () => {
  const file = createDmarcReport().replace(/<org_name>.*<\/email>/, "");

  expect((await read(file)).reporter).toBe("unknown");
});

test("the reader notes twenty shortened faults of a report with thousands", async () => {
  const tags = Array.from({ length: 150 }, (_, at) => `<a${at}${"x".repeat(90)}>`).join("<e@f>");
  const { notes = [] } = await read(createDmarcReport({ reporter: `Receiver${tags}` }));

  expect(notes).toHaveLength(20);
  expect(Math.max(...notes.map(({ path, what }) => path.length + what.length))).toBeLessThan(401);
});

describe("reports with one fault", () => {
  const xml = createDmarcReport();
  const without = (name: string): string =>
    xml.replace(new RegExp(`<${name}>.*</${name}>`), "").replace(`<${name}/>`, "");
  const record = (fields: Parameters<typeof createRecord>[0]): string =>
    createDmarcReport({ records: [createRecord(), createRecord(fields)] });
  const tls = (fields: Readonly<Record<string, unknown>>): string =>
    JSON.stringify(createTlsReport(fields));
  const tlsPolicy = (fields: Readonly<Record<string, unknown>>): string =>
    tls({ policies: [createTlsPolicy(fields)] });

  const ZEROS = Buffer.alloc(21_000_000);
  const LEVELS = 100_000;

  /** What is wrong, the file, and the beginning of the reason: the place, and what to correct there. */
  const CASES: readonly (readonly [name: string, file: string | Uint8Array, reason: string])[] =
    asRows`
  // The file.
  an empty file | ${""} | file: is empty
  text | Hello | file: is neither a DMARC aggregate report (XML) nor a TLS report (JSON)
  a picture | ${Buffer.from("89504e470d0a1a0a", "hex")} | file: is neither a DMARC
  more than 20 MB | ${ZEROS} | file: is over 20000000 bytes
  a gzip bomb | ${gzipSync(ZEROS)} | file, unpacked: is over 20000000 bytes
  a zip bomb | ${createZip({ name: "a.xml", content: ZEROS })} | file, unpacked: is over 20000000 bytes
  a gzip file that is cut off | ${gzipSync(xml).subarray(0, 100)} | file: is a damaged gzip file
  zip in zip | ${createZip({ name: "a.zip", content: createZip({ name: "a.xml", content: xml }) })} | file: holds a packed file inside a packed file
  gzip of nothing | ${gzipSync("")} | file: holds an empty report
  a zip file without files | ${createZip()} | file: is a zip file without a report in it
  a zip file with two reports | ${createZip({ name: "a.xml", content: xml }, { name: "b.xml", content: xml })} | file: holds 2 files; send each
  a zip file with two files of one name | ${createZip({ name: "a.xml", content: xml }, { name: "a.xml", content: xml })}
    | file: is a damaged zip file (a.xml occurs twice)
  a zip file with many files | ${createZip(...Array.from({ length: 21 }, (_, at) => ({ name: `${at}/`, content: "" })))} | file: holds more than 20 files
  an encrypted zip file | ${createZip({ name: "a.xml", content: xml, flags: 1 })} | file: is an encrypted zip file
  a zip file with a wrong checksum | ${createZip({ name: "a.xml", content: xml, crc: 1 })} | file: is a damaged zip file (a.xml: wrong checksum)
  a zip file of another method | ${createZip({ name: "a.xml", content: xml, method: 14 })} | file: is a damaged zip file (a.xml: method 14)
  a zip file whose data is no deflate | ${damage(createZip({ name: "a.xml", content: xml }), 36)} | file: is a damaged zip file (a.xml
  // The text.
  half a letter of UTF-16 | ${Buffer.from(`\ufeff${xml}`, "utf16le").subarray(0, -1)} | feedback: is no XML that is read
  // The XML.
  an entity that grows | ${xml.replace("<feedback>", '<!DOCTYPE feedback [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><feedback>')}
    | file: is no XML that is read (a document type is not allowed)
  an entity that reads a file | ${xml.replace("<feedback>", '<!DOCTYPE feedback [<!ENTITY a SYSTEM "file:///etc/passwd">]><feedback>')}
    | file: is no XML that is read (a document type is not allowed)
  a document type inside | ${xml.replace("<record>", '<!DOCTYPE a SYSTEM "http://192.0.2.1/a.dtd"><record>')}
    | feedback: is no XML that is read (a document type is not allowed)
  a report that is cut off in a record | ${xml.slice(0, xml.indexOf("<count>") + 8)} | feedback.record.row.count: does not end
  a report that is cut off in a tag | ${xml.slice(0, xml.indexOf("<count>") + 3)} | feedback.record.row: is no XML that is read (its XML ends too early)
  ends in the wrong order | ${xml.replace("</row></record>", "</record></row>").replace("</row><identifiers>", "</identifiers><identifiers>")}
    | feedback.record.row: ends with </identifiers>
  two reports in one file | ${`${xml}${createDmarcReport({ head: "" })}`} | feedback: is followed by another report
  deep nesting | ${`<feedback>${"<a>".repeat(LEVELS)}${"</a>".repeat(LEVELS)}</feedback>`} | feedback.a.a
  a record of a hundred thousand elements | ${record({ auth: "<dkim/>".repeat(LEVELS) })} | feedback.record.auth_results: has more than 5000 elements
  an element with a long name | ${xml.replace("<record>", `<${"a".repeat(101)}/><record>`)} | feedback: has an element with a name that is too long
  a tag without an end | ${`<feedback ${"a".repeat(1_100_000)}`} | file: is no XML that is read (a tag without an end)
  a forensic report | <Feedback-Type>auth-failure</Feedback-Type> | file: starts with the element feedback-type
  more than 100,000 records | ${createDmarcReport({ records: ["<record><row><source_ip>192.0.2.1</source_ip><count>1</count></row></record>".repeat(100_001)] })}
    | feedback: has more than 100000 records
  // The fields of a DMARC report.
  no metadata | ${without("report_metadata")} | feedback.report_metadata: is missing
  no policy | ${without("policy_published")} | feedback.policy_published: is missing
  no range | ${without("date_range")} | feedback.report_metadata.date_range.begin: is missing
  no domain | ${xml.replace("<domain>example.com</domain><adkim>", "<adkim>")} | feedback.policy_published.domain: is missing
  a domain that is none | ${createDmarcReport({ domain: "not a domain" })} | feedback.policy_published.domain: must be a domain name
  a record without an address | ${xml.replace(/<source_ip>.*<\/source_ip>/, "")} | feedback.record[1].row.source_ip: is missing
  a name in the place of an address | ${record({ ip: "mail.example.com" })} | feedback.record[2].row.source_ip: must be an IPv4 or IPv6 address
  no count | ${xml.replace(/<count>.*<\/count>/, "")} | feedback.record[1].row.count: is missing
  a negative count | ${record({ count: -1 })} | feedback.record[2].row.count: must be a whole number
  a count without end | ${record({ count: "9".repeat(400) })} | feedback.record[2].row.count: must be a whole number
  // TLS reports.
  JSON that is cut off | ${tls({}).slice(0, -1)} | file: is not valid JSON
  deep JSON | ${`{"a":${"[".repeat(LEVELS)}`} | file: is nested more than 20 levels deep
  JSON of many values | ${`{"a":[${"1,".repeat(600_000)}1]}`} | file: has more than 500000 values
  JSON of something else | {} | date-range: is missing
  a range that is a list | ${tls({ "date-range": [] })} | date-range: must be a JSON object
  a day that does not exist | ${tls({ "date-range": { "start-datetime": "2026-13-01T00:00:00Z" } })} | date-range.start-datetime: must be a time between 1970 and 2100
  no policies | ${tls({ policies: [] })} | policies: is empty
  too many policies | ${tls({ policies: Array.from({ length: 1_001 }, () => 1) })} | policies: has more than 1000 entries
  policies of two domains | ${tls({ policies: [createTlsPolicy(), createTlsPolicy({ policy: { "policy-type": "sts", "policy-domain": "b.example" } })] })}
    | policies[1].policy.policy-domain: must be example.com, the domain of the policies before it
  a policy of an unknown type | ${tlsPolicy({ policy: { "policy-type": "magic", "policy-domain": "example.com" } })}
    | policies[0].policy.policy-type: must be one of sts, tlsa, no-policy-found
  a policy without a domain | ${tlsPolicy({ policy: { "policy-type": "sts" } })} | policies[0].policy.policy-domain: is missing
  sessions below zero | ${tlsPolicy({ summary: { "total-successful-session-count": 1, "total-failure-session-count": -1 } })}
    | policies[0].summary.total-failure-session-count: must be a whole number
  a failure without sessions | ${tlsPolicy({ "failure-details": [{ "result-type": "sts-policy-invalid" }] })}
    | policies[0].failure-details[0].failed-session-count: is missing
`;

  function damage(bytes: Buffer, at: number): Buffer {
    const index = at < 0 ? bytes.length + at : at;
    bytes.writeUInt32LE((bytes.readUInt32LE(index) ^ 0x5a_5a_5a_5a) >>> 0, index);
    return bytes;
  }

  test("the hostile or broken reports number at least fifty", () => {
    expect(CASES.length).toBeGreaterThanOrEqual(50);
  });

  test.each(CASES)(
    "the reader refuses %s in a report with the place and the reason",
    async (_name, file, reason) => {
      const refuse = () => readReport(Buffer.from(file as string));

      await expect(refuse).rejects.toThrow(ReportFault);
      await expect(refuse).rejects.toThrow(reason);
    },
  );

  test("the reader refuses only a too large file for its size", async () => {
    const sizes: string[] = [];
    for (const [name, file] of CASES)
      await readReport(Buffer.from(file as string)).catch((error: ReportFault) => {
        if (error.isTooLarge) sizes.push(name);
      });

    expect(sizes).toEqual(["more than 20 MB", "a gzip bomb", "a zip bomb"]);
  });

  test("the reader counts an unknown failure type as other, and uses no name as an object's key", async () => {
    const details = ["__proto__", "constructor", "<script>"].map((type) => ({
      "result-type": type,
      "failed-session-count": 1,
    }));
    const report = await readReport(Buffer.from(tlsPolicy({ "failure-details": details })));

    expect(report).toMatchObject({ policies: [{ failures: { other: 2, constructor: 1 } }] });
  });

  test("the reader reads a packed report of 99,999 different addresses", async () => {
    const records = Array.from(
      { length: 99_999 },
      (_, at) =>
        `<record><row><source_ip>10.${(at >> 16) & 255}.${(at >> 8) & 255}.${at & 255}</source_ip><count>1</count></row></record>`,
    );
    const report = await readReport(gzipSync(createDmarcReport({ records })));

    expect(report).toMatchObject({ rows: 99_999 });
  });
});

import { gzipSync } from "node:zlib";
import { readReport } from "@mailproof/core/deliverability/reports/read-report";
import { type DmarcReport, getReportDay } from "@mailproof/core/deliverability/reports/report";
import { ReportFault } from "@mailproof/core/deliverability/reports/report-fault";
import { expect, test } from "vitest";
import { asRows } from "../../../runner/as-rows.ts";
import { createDmarcReport, createRecord, createTlsReport } from "../../../things/made-reports.ts";
import { FAULTY_REPORT_SUMS, FAULTY_REPORTS, FAULTY_TLS_REPORTS } from "./faulty-reports.ts";
import { HOSTILE_FILES } from "./hostile-files.ts";

test("there are at least fifty, of which no two are the same", () => {
  const files = HOSTILE_FILES.map(([, file]) => Buffer.from(file as string).toString("latin1"));

  expect(new Set(files).size).toBe(HOSTILE_FILES.length);
  expect(HOSTILE_FILES.length).toBeGreaterThanOrEqual(50);
});

test.each(HOSTILE_FILES)("refuses %s, and says where and why", async (_name, file, reason) => {
  const refuse = () => readReport(Buffer.from(file as string));

  await expect(refuse).rejects.toThrow(ReportFault);
  await expect(refuse).rejects.toThrow(reason);
});

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

test.each(HARMLESS)("reads a report with %s", async (_name, file) => {
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
])("a name with %s is stored as text that every reader takes", async (_name, file, reporter) => {
  expect(await readReport(Buffer.from(file))).toMatchObject({ reporter });
});

test("names of an object's own properties are ordinary names", async () => {
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
  "reads all sums of a report with %s, and notes it",
  async (_, file, note) => {
    const report = (await read(file)) as DmarcReport;

    expect(report).toMatchObject({ domain: "example.com", rows: 3, sources: FAULTY_REPORT_SUMS });
    expect(report.policy.p).toBe("none");
    expect(getReportDay(report)).toBe("2026-03-01");
    expect(listNotes(report)).toContainEqual(expect.stringContaining(note));
  },
);

test.each(FAULTY_TLS_REPORTS)("reads a TLS report with %s, and notes it", async (_, file, note) => {
  const report = await read(file);

  expect(report).toMatchObject({ policies: [{ succeeded: 100, failed: 3 }] });
  expect(getReportDay(report)).toBe("2026-03-01");
  expect(listNotes(report)).toEqual([expect.stringContaining(note)]);
});

test("a report without a fault has no notes", async () => {
  expect(await read(createDmarcReport())).not.toHaveProperty("notes");
});

test("a report without an id has one of its text: the same report is the same, another is another", async () => {
  const write = (count: string) =>
    createDmarcReport({ id: "" }).replace("<count>1<", `<count>${count}<`);
  const ids = await Promise.all(["1", "1", "2"].map(async (n) => (await read(write(n))).reportId));

  expect(ids[0]).toBe(ids[1]);
  expect(ids[0]).not.toBe(ids[2]);
});

test("a reporter without a name and an address is called unknown", async () => {
  const file = createDmarcReport().replace(/<org_name>.*<\/email>/, "");

  expect((await read(file)).reporter).toBe("unknown");
});

test("of a report with thousands of faults twenty are noted, shortened", async () => {
  const tags = Array.from({ length: 150 }, (_, at) => `<a${at}${"x".repeat(90)}>`).join("<e@f>");
  const { notes = [] } = await read(createDmarcReport({ reporter: `Receiver${tags}` }));

  expect(notes).toHaveLength(20);
  expect(Math.max(...notes.map(({ path, what }) => path.length + what.length))).toBeLessThan(401);
});

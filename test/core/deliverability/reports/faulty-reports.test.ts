import { readReport } from "@mailproof/core/deliverability/reports/read-report";
import { type DmarcReport, getReportDay } from "@mailproof/core/deliverability/reports/report";
import { expect, test } from "vitest";
import { FAULTY_REPORT_SUMS, FAULTY_REPORTS, FAULTY_TLS_REPORTS } from "./faulty-reports.ts";
import { createDmarcReport } from "./made-reports.ts";

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

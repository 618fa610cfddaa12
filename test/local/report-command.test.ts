import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { gzipSync } from "node:zlib";
import type { GetDomainReportsData } from "@mailproof/client/types";
import { showReports } from "@mailproof/local/cli/show-reports";
import { paintAnsi } from "@mailproof/local/cli/terminal";
import { expect, test } from "vitest";
import { createFolder, whenCommandedWith, whenStarted } from "../servers/running.ts";
import { createDmarcReport, createRecord } from "../things/made-reports.ts";
import { createReportMail } from "../things/reports.ts";

/** Yesterday, so that the report is among those of the last days. */
const begin = Math.floor(Date.now() / 86_400_000) * 86_400 - 86_400;
const records = [
  createRecord({ count: 9 }),
  createRecord({ ip: "198.51.100.7", dkim: "fail", spf: "fail", auth: "" }),
];
const REPORT = createDmarcReport({ begin, end: begin + 86_399, records });

const whenServed = async () => {
  const { ready } = await whenStarted(createFolder());
  const folder = createFolder();
  const write = (name: string, content: string | Uint8Array): string => {
    const file = join(folder, name);
    writeFileSync(file, content);
    return file;
  };
  const env = {
    MAILPROOF_DIR: folder,
    MAILPROOF_API: ready.base_url,
    MAILPROOF_KEY: ready.test_key,
  };
  return { env, write };
};

test("mailproof report uploads each report with its outcome, and check --reports prints their sums", async () => {
  const { env, write } = await whenServed();
  const files = [
    write("a.xml", REPORT),
    write("a.xml.gz", gzipSync(REPORT)),
    write("broken.xml", REPORT.replace("<count>9<", "<count>nine<")),
    write("noted.xml", REPORT.replace("google.com", "A&B").replace("1234567890", "2")),
    join(createFolder(), "absent.xml"),
  ];

  const { code, out, err } = await whenCommandedWith(env, "report", ...files);

  const lines = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines).toMatchObject([
    { file: files[0], type: "dmarc", messages: 10, duplicate: false },
    { file: files[1], duplicate: true },
    { file: files[3], notes: [{ field: "feedback.report_metadata.org_name" }] },
  ]);
  expect(err).toContain(`${files[2]}: feedback.record[1].row.count: must be a whole number`);
  expect(err).toContain(`${files[4]}: cannot be read (ENOENT).`);
  expect(code).toBe(3);

  const checked = await whenCommandedWith(env, "check", "example.com", "--reports");
  expect(checked.code).toBe(0);
  const reports = JSON.parse(checked.out) as GetDomainReportsData;
  expect(reports.dmarc).toMatchObject({ reports: 2, messages: 20, aligned_share: 0.9 });

  const shown = stripVTControlCharacters(showReports(reports, { columns: 80, paint: paintAnsi }));
  expect(shown).toContain("2 DMARC reports, 0 TLS reports");
  expect(shown).toContain("90% of 20 messages aligned (SPF 18, DKIM 18)");
  expect(shown).toContain("198.51.100.7  2 messages, 0% aligned");
  expect(shown).toContain("add ip4:198.51.100.7");
  expect(shown).toMatch(/Counted, with a fault: the report of A&B, .*report_metadata\.org_name/s);

  const day = { day: "2026-11-21", mails: 2, field: "file", message: "is empty" };
  const unread = showReports({ ...reports, unreadable: [day] }, { columns: 80, paint: paintAnsi });
  expect(unread).toContain("2026-11-21: 2 mails with a report that could not be read.");
});

test("mailproof report uploads each report of the mails in a file", async () => {
  const { env, write } = await whenServed();
  const mails = [[2], [3, 4], []].map((counts) =>
    createReportMail(
      counts.map((count) => ({
        content: createDmarcReport({
          begin,
          end: begin + 86_399,
          records: [createRecord({ count })],
        }).replace("1234567890", `${count}`),
        type: "text/xml",
      })),
    ),
  );
  const mbox = mails.map((mail) => `From a@b.example Sun Nov 29 2026\r\n${mail}\r\n`).join("");
  const files = [write("a.mbox", mbox), write("none.eml", mails[2] ?? "")];

  const { code, out, err } = await whenCommandedWith(env, "report", ...files);

  const lines = out.trim().split("\n");
  expect(lines.map((line) => JSON.parse(line).messages)).toEqual([2, 3, 4]);
  expect([code, err]).toEqual([2, `${files[1]}: is mail without a DMARC or TLS report.\n`]);
});

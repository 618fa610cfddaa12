import { MessageReportBody } from "@mailproof/api/schema/message-report";
import { toMessageReport } from "@mailproof/api/schema/to-message-report";
import * as v from "valibot";
import { expect, test } from "vitest";
import type { Zone } from "../../zone.ts";
import { assess, GOOD, sign, writeMail } from "./mails.ts";

test("a mail without fault has a hundred points, and nothing is found", async () => {
  const report = await assess(await sign(writeMail()));

  expect(report.findings).toEqual([]);
  expect(report.scored).toMatchObject({ score: 100, grade: "A", cappedBy: null });
  expect(report.openParts).toEqual([]);
  expect(report.dkim).toMatchObject([{ result: "pass", domain: "example.com", keyBits: 2048 }]);
  expect(report.spf).toMatchObject({ result: "pass", domain: "example.com", helo: "pass" });
  expect(report.dmarc).toMatchObject({ result: "pass", policy: "reject", disposition: "none" });
  expect(report.requirements.map(({ status }) => status)).toEqual(
    report.requirements.map(() => "met"),
  );
});

test("a report is JSON, and its response has the schema's fields", async () => {
  const zone: Zone = { ...GOOD, "example.com": { TXT: ["v=spf1 -all"] } };
  for (const report of [
    await assess(await sign(writeMail())),
    await assess(writeMail({ fields: { From: null } }), zone, { tls: undefined, mailFrom: "" }),
    await assess("", {}),
  ]) {
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
    const response = toMessageReport(report);
    expect(v.parse(MessageReportBody, response)).toEqual(response);
  }
});

import { expect, test } from "vitest";
import { given } from "../../../given.ts";
import { uploadReport } from "../../../reports.ts";
import { send } from "../../../send.ts";

const FAILED = { dkim: "fail", spf: "fail", auth: "", count: 3 };
const UNALIGNED = { records: [{ count: 7 }, { ...FAILED, ip: "198.51.100.7" }] };

const givenMonitor = async (domain = "example.com") => {
  const ctx = await given({ balance: 100 });
  const { world, liveKey: key } = ctx;
  await send(world, "POST /v1/deliverability/monitors", { key, body: { domain } });
  return ctx;
};

const listEvents = ({ table }: Awaited<ReturnType<typeof given>>) =>
  table.items().filter(({ pk, type }) => pk.startsWith("EVENT#") && type === "dmarc.failed");

test("a report with unaligned mail of a monitored domain emits dmarc.failed, once a day", async () => {
  const ctx = await givenMonitor();
  await uploadReport(ctx.world, ctx.liveKey, UNALIGNED);
  await uploadReport(ctx.world, ctx.liveKey, UNALIGNED);
  await uploadReport(ctx.world, ctx.liveKey, { ...UNALIGNED, reporter: "yahoo.com" });

  expect(listEvents(ctx)).toMatchObject([
    {
      data: {
        domain: "example.com",
        check_id: null,
        status: "unaligned",
        policy: "none",
        issues: ["REPORT_UNALIGNED"],
        report: {
          reporter: "google.com",
          report_id: "report-1",
          day: "2026-11-20",
          messages: 10,
          unaligned: 3,
        },
      },
    },
  ]);
  ctx.later(86_400_000);
  await uploadReport(ctx.world, ctx.liveKey, { ...UNALIGNED, reporter: "mail.ru" });
  expect(listEvents(ctx)).toHaveLength(2);
});

test("reports that arrive together emit one event, and all of them are stored", async () => {
  const ctx = await givenMonitor();
  const reporters = ["a.example", "b.example", "c.example"];

  const sent = await Promise.all(
    reporters.map((reporter) => uploadReport(ctx.world, ctx.liveKey, { ...UNALIGNED, reporter })),
  );

  expect(sent.map(({ statusCode }) => statusCode)).toEqual([201, 201, 201]);
  expect(listEvents(ctx)).toHaveLength(1);
});

test.each([
  ["of a domain that nothing monitors", { ...UNALIGNED, domain: "other.example" }],
  ["with aligned mail only", { records: [{ count: 10 }] }],
  ["with forwarded mail only", { records: [{ ...FAILED, reasons: ["mailing_list"] }] }],
  ["about a day of last month", { ...UNALIGNED, daysBefore: 20 }],
])("a report %s emits nothing", async (_what, report) => {
  const ctx = await givenMonitor();

  expect(await uploadReport(ctx.world, ctx.liveKey, report)).toMatchObject({ statusCode: 201 });

  expect(listEvents(ctx)).toEqual([]);
});

import { gzipSync } from "node:zlib";
import { setRetention } from "@mailproof/core/accounts/retention";
import { BYTES_PER_DAY_MAX } from "@mailproof/core/deliverability/reports/report-items";
import { expect, test } from "vitest";
import { given, START } from "../app/given.ts";
import { send } from "../app/send.ts";
import { createTlsReport, createZip } from "../things/made-reports.ts";
import {
  createDailyReport,
  createReportMail,
  uploadFile,
  uploadReport,
} from "../things/reports.ts";

const ROUTE = "POST /v1/deliverability/reports";

const STORED = {
  type: "dmarc",
  reporter: "google.com",
  report_id: "report-1",
  domain: "example.com",
  domain_unicode: "example.com",
  begins_at: "2026-11-20T00:00:00.000Z",
  ends_at: "2026-11-20T23:59:59.000Z",
  rows: 1,
  messages: 1,
  notes: [],
  duplicate: false,
};

const listReports = ({ table }: Awaited<ReturnType<typeof given>>) =>
  table.items().filter(({ pk }) => pk.startsWith("REPORTS#"));

test.each([
  ["without a container", createDailyReport()],
  ["in gzip", gzipSync(createDailyReport())],
  ["in zip", createZip({ name: "a.xml", content: createDailyReport() })],
  ["in a mail", createReportMail([{ content: gzipSync(createDailyReport()) }])],
  [
    "in a mail with a line of text that begins with From",
    createReportMail([{ content: gzipSync(createDailyReport()) }]).replace("This is", "From us"),
  ],
])("the service stores a report %s, and the response summarises it", async (_how, file) => {
  const ctx = await given();

  const { statusCode, data } = await uploadFile(ctx.world, ctx.liveKey, file);

  expect(statusCode).toBe(201);
  expect(data).toEqual(STORED);
  expect(listReports(ctx)).toHaveLength(1);
});

test.each([
  ["without a report", [], "is mail without a DMARC or TLS report"],
  ["with two reports", ["a", "b"], "holds 2 reports"],
])("the service refuses a mail %s", async (_case, ids, message) => {
  const { world, liveKey } = await given();
  const parts = ids.map((id) => ({ content: gzipSync(createDailyReport({ id })) }));

  const { statusCode, error } = await uploadFile(world, liveKey, createReportMail(parts));

  expect([statusCode, error?.message]).toEqual([400, expect.stringContaining(message)]);
});

test("the service counts a report with a fault that no sum needs, and notes the fault", async () => {
  const { world, liveKey } = await given();
  const file = createDailyReport({ reporter: "A&B Mail" });

  const { statusCode, data } = await uploadFile(world, liveKey, file);

  expect(statusCode).toBe(201);
  expect(data).toEqual({
    ...STORED,
    reporter: "A&B Mail",
    notes: [
      {
        field: "feedback.report_metadata.org_name",
        message: "is no XML that is read (the entity &B Mail)",
      },
    ],
  });
});

test("the service accepts a report as base64 in a JSON body", async () => {
  const { world, liveKey: key } = await given();
  const content = Buffer.from(createDailyReport()).toString("base64");

  const { statusCode, data } = await send(world, ROUTE, { key, body: { content } });

  expect([statusCode, data]).toEqual([201, STORED]);
});

test("the service stores a TLS report for the domain of its policies", async () => {
  const { world, liveKey: key } = await given();

  const { statusCode, data } = await uploadFile(world, key, JSON.stringify(createTlsReport()));

  expect(statusCode).toBe(201);
  expect(data).toMatchObject({
    type: "tls",
    reporter: "Receiver Inc.",
    domain: "example.com",
    rows: 1,
    messages: 103,
  });
});

test("the service stores one report of a reporter once, packed or not", async () => {
  const ctx = await given();
  const { world, liveKey: key } = ctx;
  await uploadReport(world, key);

  const { statusCode, data } = await uploadFile(world, key, gzipSync(createDailyReport()));

  expect([statusCode, data]).toEqual([200, { ...STORED, duplicate: true }]);
  expect(listReports(ctx)).toHaveLength(1);
  await uploadReport(world, key, { reporter: "yahoo.com" });
  expect(listReports(ctx)).toHaveLength(2);
});

test("the service stores one of several equal reports that arrive together, and the others as duplicates", async () => {
  const ctx = await given();
  const { world, liveKey: key } = ctx;
  const body = { content: Buffer.from(createDailyReport()).toString("base64") };
  const sent = Array.from({ length: 5 }, () => send(world, ROUTE, { key, body }));

  const outcomes = (await Promise.all(sent)).map(({ data }) => data.duplicate);

  expect(outcomes.filter((isDuplicate) => !isDuplicate)).toHaveLength(1);
  expect(listReports(ctx)).toHaveLength(1);
});

test("a faulty report answers 400 with the faulty element's name", async () => {
  const ctx = await given();
  const report = createDailyReport({ records: [{}, { count: "many" }] });

  const { statusCode, error } = await uploadFile(ctx.world, ctx.liveKey, report);

  expect(statusCode).toBe(400);
  expect(error).toMatchObject({
    code: "INVALID_REQUEST",
    money: "nothing_charged",
    details: [
      {
        field: "feedback.record[2].row.count",
        message: "must be a whole number from 0 to 1000000000000",
      },
    ],
  });
  expect(listReports(ctx)).toEqual([]);
});

test.each([
  ["no file", [], "file: is required"],
  ["two files", [["file"], ["file"]], "file: is sent twice"],
  ["an unknown field", [["file"], ["domain"]], "domain: is not a known field"],
] as const)("a form with %s answers 400", async (_what, parts, reason) => {
  const { world, liveKey: key } = await given();
  const form = parts.map(([name]) => ({ name, fileName: "a.xml", content: createDailyReport() }));

  const { statusCode, error } = await send(world, ROUTE, {
    key,
    form: form.length > 0 ? form : [{ name: "file", fileName: "", content: "" }],
  });

  expect(statusCode).toBe(400);
  expect(error.message).toContain(form.length > 0 ? reason : "file: ");
});

test.each([
  [{ content: "not base64!" }, "content: must be base64"],
  [{ content: "" }, "content: must not be empty"],
  [{}, "content: is required"],
  [{ content: "aGVsbG8=" }, "file: is neither a DMARC aggregate report (XML) nor a TLS report"],
])("a report in the body %j answers 400", async (body, reason) => {
  const { world, liveKey: key } = await given();

  const { statusCode, error } = await send(world, ROUTE, { key, body });

  expect([statusCode, error.message]).toEqual([400, expect.stringContaining(reason)]);
});

test("a report that unpacks to more than 20 MB answers 413", async () => {
  const { world, liveKey: key } = await given();

  const { statusCode, error } = await uploadFile(world, key, gzipSync(Buffer.alloc(21_000_000)));

  expect([statusCode, error.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
  expect(error.message).toContain("at most 20000000 bytes");
});

test("a report beyond an account's daily bytes answers 409", async () => {
  const ctx = await given();
  const { world, table, account } = ctx;
  await uploadReport(world, ctx.liveKey);
  const counted = { pk: `REPORTBYTES#${account}`, sk: "2026-11-21" };
  await table.write({ update: counted, set: { bytes: BYTES_PER_DAY_MAX } });

  const refused = await uploadReport(world, ctx.liveKey, { reporter: "yahoo.com" });

  expect(refused).toMatchObject({ statusCode: 409, error: { code: "LIMIT_REACHED" } });
  expect(await uploadReport(world, ctx.liveKey)).toMatchObject({ statusCode: 200 });
  ctx.later(86_400_000);
  const tomorrow = await uploadReport(world, ctx.liveKey, { reporter: "yahoo.com" });
  expect(tomorrow).toMatchObject({ statusCode: 201 });
});

test("a report whose write has no reply answers 503, and the client may send it again", async () => {
  const ctx = await given();
  const key = ctx.liveKey;
  await uploadReport(ctx.world, key, { reporter: "yahoo.com" });
  const transact = async () => ({ outcome: "ambiguous" }) as const;

  const down = await uploadReport({ ...ctx.world, table: { ...ctx.table, transact } }, key);

  expect(down).toMatchObject({ statusCode: 503, error: { retryable: true } });
  expect(await uploadReport(ctx.world, key)).toMatchObject({ statusCode: 201 });
});

test("the service stores a report for as long as the account keeps results", async () => {
  const ctx = await given();
  await uploadReport(ctx.world, ctx.liveKey);
  await setRetention(ctx.world.table, ctx.account, 3);
  await uploadReport(ctx.world, ctx.liveKey, { reporter: "yahoo.com" });

  const days = listReports(ctx).map(({ expires_at: until = 0 }) =>
    Math.round((until - START.getTime() / 1_000) / 86_400),
  );

  expect(new Set(days)).toEqual(new Set([3, 30]));
});

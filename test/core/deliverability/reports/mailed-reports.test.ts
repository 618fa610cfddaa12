import { gzipSync } from "node:zlib";
import { closeAccount, disableAccount } from "@mailproof/core/accounts/account-status";
import { findRecipient } from "@mailproof/core/deliverability/inbound-mail";
import { BYTES_PER_DAY_MAX } from "@mailproof/core/deliverability/reports/report-items";
import { expect, test } from "vitest";
import { given } from "../../../given.ts";
import { whenMailArrives } from "../../../mail-tests.ts";
import {
  createBareReportMail,
  createDailyReport,
  createReportMail,
  readReportsAddress,
  toReceived,
  uploadFile,
  uploadReport,
} from "../../../reports.ts";
import { send } from "../../../send.ts";
import { createTlsReport, createZip } from "./made-reports.ts";

const setup = async () => {
  const ctx = await given();
  const address = await readReportsAddress(ctx.world, ctx.liveKey);
  const arrives = (text: string) => whenMailArrives(ctx.world, address, toReceived(text));
  return { ...ctx, address, arrives };
};

type Context = Awaited<ReturnType<typeof setup>>;

const readReports = async ({ world, liveKey: key }: Context, domain = "example.com") => {
  const route = `GET /v1/deliverability/domains/${domain}/reports`;
  const { data } = await send(world, route, { key });
  return { reporters: data.reporters, messages: data.dmarc.messages, tls: data.tls.succeeded };
};

const XML = createDailyReport({ records: [{ count: 7 }] });
const DMARC_READ = { reporters: [{ name: "google.com", reports: 1 }], messages: 7, tls: 0 };

test.each([
  ["in gzip", createReportMail([{ content: gzipSync(XML) }])],
  [
    "in zip",
    createReportMail([
      { content: createZip({ name: "a.xml", content: XML }), type: "application/zip" },
    ]),
  ],
  [
    "of an unknown media type",
    createReportMail([{ content: gzipSync(XML), type: "application/octet-stream" }]),
  ],
  [
    "as XML that its type tells",
    createReportMail([
      { content: XML.replace(/^.*\n/, "<!-- made by hand -->\n"), type: "text/xml" },
    ]),
  ],
  [
    "as XML in UTF-16 that its name tells",
    createReportMail([
      {
        content: Buffer.from(`\ufeff${XML.replace("UTF-8", "UTF-16")}`, "utf16le"),
        type: 'application/octet-stream; name="a.xml"',
      },
    ]),
  ],
  ["as the whole mail, in gzip", createBareReportMail({ content: gzipSync(XML) })],
  ["as the whole mail, as text", createBareReportMail({ content: XML, type: "text/plain" })],
])("a report %s is stored as an uploaded one", async (_how, mail) => {
  const ctx = await setup();

  expect(await ctx.arrives(mail)).toBe("stored");

  expect(await readReports(ctx)).toEqual(DMARC_READ);
});

test("a TLS report comes in a part of its own type (RFC 8460)", async () => {
  const ctx = await setup();
  const content = gzipSync(JSON.stringify(createTlsReport()));
  const part = { content, type: "application/tlsrpt+gzip" };

  expect(await ctx.arrives(createReportMail([part], 'report; report-type="tlsrpt"'))).toBe(
    "stored",
  );

  expect(ctx.table.items().filter(({ pk }) => pk.includes("REPORTS#"))).toHaveLength(1);
});

test("several reports in one mail are stored, about whatever domain, also beside a file that is none", async () => {
  const ctx = await setup();
  const content = gzipSync(createDailyReport({ domain: "parked.example" }));

  const outcome = await ctx.arrives(
    createReportMail([
      { content: "<svg/>", type: "image/svg+xml" },
      { content: "<broken", type: "text/xml" },
      { content: gzipSync(XML) },
      { content },
    ]),
  );

  expect(outcome).toBe("stored");
  expect(await readReports(ctx)).toEqual(DMARC_READ);
  expect(await readReports(ctx, "parked.example")).toMatchObject({ messages: 1 });
});

test("a report that comes again, by mail or by an upload, is stored once", async () => {
  const ctx = await setup();
  const mail = createReportMail([{ content: gzipSync(XML) }]);

  expect([await ctx.arrives(mail), await ctx.arrives(mail)]).toEqual(["stored", "stored"]);

  const uploads = [
    await uploadFile(ctx.world, ctx.liveKey, XML),
    await uploadFile(ctx.world, ctx.liveKey, XML),
  ];
  expect(uploads.map(({ data }) => data.duplicate)).toEqual([false, true]);
  expect(await readReports(ctx)).toEqual(DMARC_READ);
});

const FAILURE_REPORT = createReportMail(
  [
    { content: "Feedback-Type: auth-failure\r\n", type: "message/feedback-report" },
    {
      content: createReportMail([{ content: gzipSync(XML) }]),
      type: "message/rfc822",
    },
  ],
  "report; report-type=feedback-report",
);

const NEARLY_ALL = gzipSync(`<feedback>${" ".repeat(19_000_000)}`);

test.each([
  ["no report", createReportMail([]), "has no report in it"],
  ["a failure report about a single message", FAILURE_REPORT, "has no report in it"],
  [
    "a damaged report",
    createReportMail([{ content: gzipSync(XML).subarray(0, 99) }]),
    "is a damaged gzip file",
  ],
  [
    "a bomb",
    createReportMail([{ content: gzipSync(Buffer.alloc(30_000_000)) }]),
    "unpacks to more than 20000000 bytes",
  ],
  [
    "more than ten reports",
    createReportMail(
      Array.from({ length: 11 }, (_, at) => ({
        content: gzipSync(createDailyReport({ reporter: `${at}.example` })),
      })),
    ),
    "has more than 10 reports",
  ],
  [
    "two reports that together unpack to more than 20 MB",
    createReportMail([{ content: NEARLY_ALL }, { content: NEARLY_ALL }]),
    "unpacks to more than 20000000 bytes",
  ],
  ["nothing at all", "", "has no report in it"],
])("a mail with %s is refused, stores nothing, and the log says why", async (_what, mail, what) => {
  const ctx = await setup();
  const before = ctx.table.items();

  expect(await ctx.arrives(mail)).toBe("unreadable");

  const isNew = ({ pk }: { pk: string }) =>
    !pk.startsWith("REPORTBYTES#") && !pk.startsWith("RATE#");
  expect(ctx.table.items().filter(isNew)).toEqual(before.filter(isNew));
  expect(ctx.logged).toEqual([
    {
      event: "report_mail_refused",
      fields: expect.objectContaining({ account: ctx.account, what }),
    },
  ]);
});

test("nothing of the mail is stored: no file, no sender, no text", async () => {
  const ctx = await setup();

  await ctx.arrives(createReportMail([{ content: gzipSync(XML) }]));

  expect(ctx.blobs.keys()).toEqual([]);
  expect(JSON.stringify(ctx.table.items())).not.toMatch(/receiver\.example|Submitter/);
});

test("the address stays the same, for every domain and in every case of its letters", async () => {
  const { world, liveKey, address } = await setup();

  expect(address).toMatch(/^reports-[0-9a-f]{32}@mail\.example\.com$/);
  expect(await readReportsAddress(world, liveKey, "other.example")).toBe(address);
  expect(await findRecipient(world, address.toUpperCase())).toBe("open");
  expect(await findRecipient(world, address.replace(/.@/, "@"))).toBe("unknown");
});

test("of requests that ask for the first time together, each gets the same address", async () => {
  const { world, liveKey } = await given();

  const asked = Array.from({ length: 4 }, () => readReportsAddress(world, liveKey));

  expect(new Set(await Promise.all(asked)).size).toBe(1);
});

test("a test key has no address, nor has a service that receives no mail", async () => {
  const { world, testKey, liveKey } = await given();
  const deaf = { ...world, settings: { ...world.settings, mailDomain: null } };

  expect(await readReportsAddress(world, testKey)).toBeUndefined();
  expect(await readReportsAddress(deaf, liveKey)).toBeUndefined();
});

test("the address of a disabled account takes nothing until it is enabled, and that of a closed one never", async () => {
  const { world, account, address, arrives } = await setup();

  await disableAccount(world, account);
  expect(await findRecipient(world, address)).toBe("unknown");
  await closeAccount(world, account);
  expect(await arrives(createReportMail([{ content: XML }]))).toBe("unknown");
});

test("mails that unpack to more than a minute's bytes are to come later, whether their reports are broken or not", async () => {
  const ctx = await setup();
  const whole = createReportMail([{ content: gzipSync(XML) }]);

  expect(await ctx.arrives(createReportMail([{ content: NEARLY_ALL }]))).toBe("unreadable");
  for (let sent = 0; sent < 60; sent++) await ctx.arrives(createReportMail([]));

  expect(await ctx.arrives(whole)).toBe("busy");
  ctx.later(60_000);
  expect(await ctx.arrives(whole)).toBe("stored");
});

test("mails above the bytes of a day are to come later, and take nothing from what the account uploads itself", async () => {
  const ctx = await setup();
  const counted = { pk: `REPORTBYTES#${ctx.account}`, sk: "2026-11-21#mail" };
  await ctx.table.write({ update: counted, set: { bytes: BYTES_PER_DAY_MAX }, orCreate: true });

  expect(await ctx.arrives(createReportMail([{ content: gzipSync(XML) }]))).toBe("busy");

  expect(await uploadReport(ctx.world, ctx.liveKey)).toMatchObject({ statusCode: 201 });
});

test("a failure of ours refuses nothing: the sender is to try again", async () => {
  const ctx = await setup();
  const transact = async () => ({ outcome: "ambiguous" }) as const;
  const down = { ...ctx.world, table: { ...ctx.table, transact } };
  const mail = toReceived(createReportMail([{ content: gzipSync(XML) }]));

  await expect(whenMailArrives(down, ctx.address, mail)).rejects.toThrow("not known");

  expect(await whenMailArrives(ctx.world, ctx.address, mail)).toBe("stored");
});

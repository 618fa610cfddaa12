import { gzipSync } from "node:zlib";
import { closeAccount, disableAccount } from "@mailproof/core/background/close-account";
import { findRecipient } from "@mailproof/core/deliverability/inbound-mail";
import { BYTES_PER_DAY_MAX } from "@mailproof/core/deliverability/reports/report-items";
import { expect, test } from "vitest";
import { given } from "../../../app/given.ts";
import { send } from "../../../app/send.ts";
import { asRows } from "../../../runner/as-rows.ts";
import { createTlsReport, createZip } from "../../../things/made-reports.ts";
import { whenMailArrives } from "../../../things/mail-tests.ts";
import {
  createBareReportMail,
  createDailyReport,
  createReportMail,
  readReportsAddress,
  toReceived,
  uploadFile,
  uploadReport,
} from "../../../things/reports.ts";

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

const readFaults = async ({ world, liveKey: key }: Context, query = {}) => {
  const route = "GET /v1/deliverability/domains/example.com/reports";
  const { data } = await send(world, route, { key, query });
  return { notes: data.notes, unreadable: data.unreadable };
};

const listStored = ({ table }: Context) =>
  table.items().filter(({ pk }) => !pk.startsWith("REPORTBYTES#") && !pk.startsWith("RATE#"));

const XML = createDailyReport({ records: [{ count: 7 }] });
const DMARC_READ = { reporters: [{ name: "google.com", reports: 1 }], messages: 7, tls: 0 };

test.each(asRows`
  in gzip | ${createReportMail([{ content: gzipSync(XML) }])}
  in zip | ${createReportMail([{ content: createZip({ name: "a.xml", content: XML }), type: "application/zip" }])}
  of an unknown media type | ${createReportMail([{ content: gzipSync(XML), type: "application/octet-stream" }])}
  as XML that its type tells | ${createReportMail([{ content: XML.replace(/^.*\n/, "<!-- made by hand -->\n"), type: "text/xml" }])}
  as XML in UTF-16 that its name tells
    | ${createReportMail([{ content: Buffer.from(`\ufeff${XML.replace("UTF-8", "UTF-16")}`, "utf16le"), type: 'application/octet-stream; name="a.xml"' }])}
  as the whole mail, in gzip | ${createBareReportMail({ content: gzipSync(XML) })}
  as the whole mail, as text | ${createBareReportMail({ content: XML, type: "text/plain" })}
`)("the service stores a mailed report %s like an uploaded one", async (_how, mail) => {
  const ctx = await setup();

  expect(await ctx.arrives(mail)).toBe("stored");

  expect(await readReports(ctx)).toEqual(DMARC_READ);
});

test("the service stores a TLS report from a part of its own media type (RFC 8460)", async () => {
  const ctx = await setup();
  const content = gzipSync(JSON.stringify(createTlsReport()));
  const part = { content, type: "application/tlsrpt+gzip" };

  expect(await ctx.arrives(createReportMail([part], 'report; report-type="tlsrpt"'))).toBe(
    "stored",
  );

  expect(ctx.table.items().filter(({ pk }) => pk.includes("REPORTS#"))).toHaveLength(1);
});

test("the service stores several reports of one mail, about any domain, and ignores a file that is no report", async () => {
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

test("the service stores a report once when it arrives again by mail or upload", async () => {
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
  ["no report", createReportMail([])],
  ["a failure report about a single message", FAILURE_REPORT],
  ["no content at all", ""],
])("the service refuses a mail with %s, and stores nothing", async (_what, mail) => {
  const ctx = await setup();
  const before = listStored(ctx);

  expect(await ctx.arrives(mail)).toBe("unreadable");

  expect(listStored(ctx)).toEqual(before);
  expect(ctx.logged).toMatchObject([{ event: "report_mail_refused" }]);
});

test.each(asRows`
  a damaged report | ${createReportMail([{ content: gzipSync(XML).subarray(0, 99) }])} | ${{ field: "file", message: "is a damaged gzip file" }}
  a report with a wrong count | ${createReportMail([{ content: XML.replace("<count>7", "<count>seven") }])}
    | ${{ field: "feedback.record[1].row.count", message: "must be a whole number from 0 to 1000000000000" }}
  a bomb | ${createReportMail([{ content: gzipSync(Buffer.alloc(30_000_000)) }])} | ${{ field: "mail", message: "unpacks to more than 20000000 bytes" }}
  more than ten reports | ${createReportMail(Array.from({ length: 11 }, (_, at) => ({ content: gzipSync(createDailyReport({ reporter: `${at}.example` })) })))}
    | ${{ field: "mail", message: "has more than 10 reports" }}
  two reports that together unpack to more than 20 MB | ${createReportMail([{ content: NEARLY_ALL }, { content: NEARLY_ALL }])}
    | ${{ field: "mail", message: "unpacks to more than 20000000 bytes" }}
`)(
  "the service accepts a mail with %s, counts nothing, and shows the mail as unreadable",
  async (_what, mail, fault) => {
    const ctx = await setup();

    expect(await ctx.arrives(mail)).toBe("stored");

    expect(await readFaults(ctx)).toEqual({
      notes: [],
      unreadable: [{ day: "2026-11-21", mails: 1, from: "receiver.example", ...fault }],
    });
    expect(await readReports(ctx)).toMatchObject({ reporters: [], messages: 0 });
    expect(ctx.logged).toMatchObject([
      { event: "report_mail_unreadable", fields: { account: ctx.account, path: fault.field } },
    ]);
  },
);

test("one item stores the unreadable mails of a day with the last fault, and the report shows each day of its window", async () => {
  const ctx = await setup();
  for (const content of ["<a", "<b/>", "<feedback/>"])
    await ctx.arrives(createReportMail([{ content, type: "text/xml" }]));
  ctx.later(86_400_000);
  await ctx.arrives(createReportMail([{ content: "{}", type: "application/json" }]));

  const { unreadable } = await readFaults(ctx);

  expect(ctx.table.items().filter(({ pk }) => pk.startsWith("UNREADREPORTS#"))).toHaveLength(2);
  expect(unreadable).toMatchObject([
    { day: "2026-11-22", mails: 1, field: "date-range" },
    { day: "2026-11-21", mails: 3, field: "feedback.report_metadata" },
  ]);
  const { unreadable: earlier } = await readFaults(ctx, { to: "2026-11-21" });
  expect(earlier).toEqual(unreadable.slice(1));
});

test("a mailed report with a fault outside its sums counts, and the report shows the fault", async () => {
  const ctx = await setup();
  const content = XML.replace("noreply@receiver.example", "<noreply@receiver.example>");

  expect(await ctx.arrives(createReportMail([{ content: gzipSync(content) }]))).toBe("stored");

  expect(await readReports(ctx)).toEqual(DMARC_READ);
  expect(await readFaults(ctx)).toMatchObject({
    notes: [{ day: "2026-11-20", reporter: "google.com", report_id: "report-1" }],
    unreadable: [],
  });
});

test("the service stores neither file nor sender nor text of a report mail", async () => {
  const ctx = await setup();

  await ctx.arrives(createReportMail([{ content: gzipSync(XML) }]));

  expect(ctx.blobs.keys()).toEqual([]);
  expect(JSON.stringify(ctx.table.items())).not.toMatch(/receiver\.example|Submitter/);
});

test("an account's report address stays the same for every domain, and ignores the case of its letters", async () => {
  const { world, liveKey, address } = await setup();

  expect(address).toMatch(/^reports-[0-9a-f]{32}@mail\.example\.com$/);
  expect(await readReportsAddress(world, liveKey, "other.example")).toBe(address);
  expect(await findRecipient(world, address.toUpperCase())).toBe("open");
  expect(await findRecipient(world, address.replace(/.@/, "@"))).toBe("unknown");
});

test("concurrent first requests for the report address all return the same address", async () => {
  const { world, liveKey } = await given();

  const asked = Array.from({ length: 4 }, () => readReportsAddress(world, liveKey));

  expect(new Set(await Promise.all(asked)).size).toBe(1);
});

test("the service gives no report address to a test key, or to any key when it receives no mail", async () => {
  const { world, testKey, liveKey } = await given();
  const deaf = { ...world, settings: { ...world.settings, mailDomain: null } };

  expect(await readReportsAddress(world, testKey)).toBeUndefined();
  expect(await readReportsAddress(deaf, liveKey)).toBeUndefined();
});

test("a disabled account's address refuses mail until the account is enabled, and a closed account's address always", async () => {
  const { world, account, address, arrives } = await setup();

  await disableAccount(world, account);
  expect(await findRecipient(world, address)).toBe("unknown");
  await closeAccount(world, account);
  expect(await arrives(createReportMail([{ content: XML }]))).toBe("unknown");
});

test("the service defers mails that unpack to more than the bytes of a minute, with valid or broken reports", async () => {
  const ctx = await setup();
  const whole = createReportMail([{ content: gzipSync(XML) }]);

  expect(await ctx.arrives(createReportMail([{ content: NEARLY_ALL }]))).toBe("stored");
  for (let sent = 0; sent < 60; sent++) await ctx.arrives(createReportMail([]));

  expect(await ctx.arrives(whole)).toBe("busy");
  ctx.later(60_000);
  expect(await ctx.arrives(whole)).toBe("stored");
});

test("the service defers mails above the bytes of a day, and subtracts nothing from the account's uploads", async () => {
  const ctx = await setup();
  const counted = { pk: `REPORTBYTES#${ctx.account}`, sk: "2026-11-21#mail" };
  await ctx.table.write({ update: counted, set: { bytes: BYTES_PER_DAY_MAX }, orCreate: true });

  expect(await ctx.arrives(createReportMail([{ content: gzipSync(XML) }]))).toBe("busy");

  expect(await uploadReport(ctx.world, ctx.liveKey)).toMatchObject({ statusCode: 201 });
});

test("the service defers a mail, and refuses none, when our own part fails", async () => {
  const ctx = await setup();
  const transact = async () => ({ outcome: "ambiguous" }) as const;
  const down = { ...ctx.world, table: { ...ctx.table, transact } };
  const mail = toReceived(createReportMail([{ content: gzipSync(XML) }]));

  await expect(whenMailArrives(down, ctx.address, mail)).rejects.toThrow("not known");

  expect(await whenMailArrives(ctx.world, ctx.address, mail)).toBe("stored");
});

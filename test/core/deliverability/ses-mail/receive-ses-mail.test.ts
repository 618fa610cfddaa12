import { gzipSync } from "node:zlib";
import { findMail } from "@mailproof/core/deliverability/mail-tests/items";
import { BYTES_PER_DAY_MAX } from "@mailproof/core/deliverability/reports/report-items";
import {
  INBOUND_MAIL_QUEUE,
  receiveSesMail,
} from "@mailproof/core/deliverability/ses-mail/receive-ses-mail";
import { expect, test } from "vitest";
import { whenWorked } from "../../../app/drain-queues.ts";
import { streamPieces } from "../../../app/form.ts";
import { given, START } from "../../../app/given.ts";
import { createMail, readTest, whenTestCreated } from "../../../things/mail-tests.ts";
import {
  createDailyReport,
  createReportMail,
  readReportsAddress,
} from "../../../things/reports.ts";
import { createReceipt, createSesFields, SES_ID } from "../../../things/ses.ts";

const BLOB = `inbound/${SES_ID}`;
const MAIL = Buffer.from(createMail(START).raw).toString();

const setup = async () => {
  const ctx = await given({ balance: 100 });
  const { data } = await whenTestCreated(ctx.world, ctx.liveKey);
  return { ...ctx, address: String(data.address), id: String(data.test_id) };
};

type Context = Awaited<ReturnType<typeof setup>>;

const store = ({ blobs }: Pick<Context, "blobs">, text: string) =>
  blobs.put(BLOB, streamPieces(text));

const receive = (
  { world }: Pick<Context, "world">,
  recipients: readonly string[],
  source?: string,
) => receiveSesMail.handle(world, createReceipt(recipients, source));

test("the service accepts a mail that SES stored as its client sent it, with SES's client address, and removes the file", async () => {
  const ctx = await setup();
  await store(ctx, createSesFields() + MAIL);

  await receive(ctx, [ctx.address]);

  const mail = await findMail(ctx.table, ctx.id);
  expect(mail).toMatchObject({
    mailFrom: "news@shop.example",
    helo: "mx.shop.example",
    ip: "192.0.2.1",
    tls: "unknown",
    receivedAt: "2026-11-21T00:00:00.000Z",
  });
  const found = await ctx.blobs.get(mail?.blob ?? "");
  expect(Buffer.concat(await Array.fromAsync(found?.content ?? [])).toString()).toBe(MAIL);
  expect(ctx.blobs.keys()).not.toContain(BLOB);
});

test("the report shows TLS as unknown, without a cost, for a mail from SES", async () => {
  const ctx = await setup();
  await store(ctx, createSesFields() + MAIL);
  await receive(ctx, [ctx.address]);

  await whenWorked(ctx);

  const { data } = await readTest(ctx.world, ctx.liveKey, ctx.id);
  expect(data.report.envelope).toMatchObject({ tls_status: "unknown" });
  expect(data.report.envelope).not.toHaveProperty("tls_version");
  const ids = data.report.findings.map(({ id }: { id: string }) => id);
  expect(ids.filter((id: string) => id.startsWith("TLS"))).toEqual([]);
  expect(data.report.requirements.find((one: { id: string }) => one.id === "tls")).toMatchObject({
    status: "unknown",
  });
});

test("the service treats a mail for each recipient's address, and drops the mail for unknown addresses", async () => {
  const ctx = await setup();
  const reports = await readReportsAddress(ctx.world, ctx.liveKey);
  const report = createReportMail([{ content: gzipSync(createDailyReport()) }]);
  await store(ctx, createSesFields() + report);

  await receive(ctx, [reports, ctx.address, "postmaster@mail.example.com"], "");

  expect(ctx.table.items().filter(({ pk }) => pk.includes("REPORTS#"))).toHaveLength(1);
  expect(await findMail(ctx.table, ctx.id)).toMatchObject({ mailFrom: "" });
  expect(ctx.logged).toEqual([
    { event: "mail_dropped", fields: { messageId: SES_ID, reason: "unknown" } },
  ]);
  expect(ctx.blobs.keys()).not.toContain(BLOB);
});

test("a message that arrives twice changes nothing", async () => {
  const ctx = await setup();
  await store(ctx, createSesFields() + MAIL);
  await receive(ctx, [ctx.address]);
  const before = ctx.table.items();

  await receive(ctx, [ctx.address]);

  expect(ctx.table.items()).toEqual(before);
});

test.each([
  ["no field of SES", ""],
  [
    "a Received field of the mail's own",
    createSesFields({
      received: "from a.example (a.example [192.0.2.9]) by mx.shop.example with SMTP id 1; Sat",
    }),
  ],
  [
    "a Received field that looks like SES's, of another mail",
    createSesFields().replace(SES_ID, "another"),
  ],
  ["a client without an address", createSesFields().replace("[192.0.2.1]", "[999.1.2.3]")],
])(
  "a message with %s fails without a charge to the test, since its client is unknown",
  async (_what, fields) => {
    const ctx = await setup();
    await store(ctx, fields + MAIL);

    await expect(receive(ctx, [ctx.address])).rejects.toThrow("the fields of SES are not as known");

    expect((await readTest(ctx.world, ctx.liveKey, ctx.id)).data.status).toBe("waiting");
    expect(ctx.blobs.keys()).toContain(BLOB);
  },
);

test("the service trusts SES's fields, and leaves the same fields below them in the mail", async () => {
  const ctx = await setup();
  const own =
    "Received: from inner (inner [192.0.2.99]) by out.shop.example with SMTP id 2; x\r\nReceived-SPF: pass; helo=liar.example;\r\n";
  await store(ctx, createSesFields({ others: [] }) + own + MAIL);

  await receive(ctx, [ctx.address]);

  const mail = await findMail(ctx.table, ctx.id);
  const found = await ctx.blobs.get(mail?.blob ?? "");
  expect(Buffer.concat(await Array.fromAsync(found?.content ?? [])).toString()).toBe(own + MAIL);
  expect(mail).toMatchObject({ ip: "192.0.2.1", helo: "out.shop.example" });
});

test("the report shows an IPv6 client, and a sender at another host", async () => {
  const ctx = await setup();
  const received = `from out.shop.example (out.shop.example [2001:db8::1]) by inbound-smtp.us-east-1.amazonaws.com with SMTP id ${SES_ID} for x; Sat`;
  const others = [
    'Received-SPF: none client-ip=2001:db8::1; envelope-from="a; helo=liar.example;"@shop.example; helo=true.shop.example;',
  ];
  await store(ctx, createSesFields({ received, others }) + MAIL);

  await receive(ctx, [ctx.address]);

  const mail = await findMail(ctx.table, ctx.id);
  expect(mail).toMatchObject({ ip: "2001:db8::1", helo: "true.shop.example" });
});

test("the service drops a mail over 10 MB, as the receiver on one machine refuses it", async () => {
  const ctx = await setup();
  await store(ctx, createSesFields() + "x".repeat(10_000_000));

  await receive(ctx, [ctx.address]);

  expect(ctx.blobs.keys()).not.toContain(BLOB);
  expect(ctx.logged).toMatchObject([{ fields: { reason: "too_large" } }]);
});

test("reports above the limit of a day wait 15 minutes at a time, and the service drops them a day later", async () => {
  const ctx = await setup();
  const reports = await readReportsAddress(ctx.world, ctx.liveKey);
  const counted = { pk: `REPORTBYTES#${ctx.account}`, sk: "2026-11-21#mail" };
  await ctx.table.write({ update: counted, set: { bytes: BYTES_PER_DAY_MAX }, orCreate: true });
  await store(
    ctx,
    createSesFields() + createReportMail([{ content: gzipSync(createDailyReport()) }]),
  );
  const sent: unknown[] = [];
  const sendMany: typeof ctx.queue.sendMany = async (name, messages) => {
    sent.push([name, ...messages]);
    return messages.map(() => "sent");
  };
  const world = { ...ctx.world, queue: { ...ctx.queue, sendMany } };

  await receive({ world }, [reports, "other@mail.example.com"]);

  const waiting = { body: createReceipt([reports]), delaySeconds: 900 };
  const { mail } = createReceipt([reports, "other@mail.example.com"]);
  expect(sent).toEqual([
    [INBOUND_MAIL_QUEUE.name, { ...waiting, body: { ...waiting.body, mail } }],
  ]);
  expect(ctx.blobs.keys()).toContain(BLOB);
  ctx.later(86_400_000);
  await ctx.table.write({
    update: { ...counted, sk: "2026-11-22#mail" },
    set: { bytes: BYTES_PER_DAY_MAX },
    orCreate: true,
  });
  await receive({ world }, [reports]);
  expect(sent).toHaveLength(1);
  expect(ctx.blobs.keys()).not.toContain(BLOB);
});

test("a failure of our own leaves the mail for the next attempt", async () => {
  const ctx = await setup();
  await store(ctx, createSesFields() + MAIL);
  const transact = async () => ({ outcome: "ambiguous" }) as const;
  const world = { ...ctx.world, table: { ...ctx.table, transact } };

  await expect(receive({ world }, [ctx.address])).rejects.toThrow("unknown");
  await receive(ctx, [ctx.address]);

  expect((await readTest(ctx.world, ctx.liveKey, ctx.id)).data.status).toBe("assessing");
});

test("a message that is no receipt fails, and becomes a dead letter", async () => {
  const ctx = await setup();

  await expect(receiveSesMail.handle(ctx.world, { notificationType: "Bounce" })).rejects.toThrow(
    'Expected "Received"',
  );
});

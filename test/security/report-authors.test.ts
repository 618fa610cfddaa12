import { gzipSync } from "node:zlib";
import { receiveSesMail } from "@mailproof/core/deliverability/ses-mail/receive-ses-mail";
import { expect, test } from "vitest";
import { withDnsLookups } from "../app/dns-lookups.ts";
import { given } from "../app/given.ts";
import { send } from "../app/send.ts";
import type { Zone } from "../app/zone.ts";
import { whenMailArrives } from "../things/mail-tests.ts";
import { GOOD, sign } from "../things/mails.ts";
import {
  createDailyReport,
  createReportMail,
  RECEIVER_ZONE,
  readReportsAddress,
  toReceived,
  uploadReport,
} from "../things/reports.ts";
import { createReceipt, createSesFields, SES_ID } from "../things/ses.ts";

// Goal: who knows a published address for reports talks no domain into a stricter policy, and sets off no event.
// Method: a fortnight of reports that make a domain ready, from the reporter and from another host.

const ZONE: Zone = {
  ...GOOD,
  "_dmarc.example.com": { TXT: ["v=DMARC1; p=none; rua=mailto:d@example.com"] },
  ...RECEIVER_ZONE,
};
const ROUTE = "/v1/deliverability/domains/example.com";

const setup = async (zone: Zone = ZONE) => {
  const ctx = await given({ balance: 1_000 });
  const world = withDnsLookups(ctx.world, zone);
  const key = ctx.liveKey;
  const body = { domain: "example.com" };
  await send(world, "POST /v1/deliverability/check", { key, body });
  await send(world, "POST /v1/deliverability/monitors", { key, body });
  return { ...ctx, world, key, address: await readReportsAddress(world, key) };
};

type Context = Awaited<ReturnType<typeof setup>>;

const RECORDS = [{ count: 20 }, { ip: "198.51.100.9", dkim: "fail", spf: "fail", count: 0 }];

const writeMail = (daysBefore: number, records: typeof RECORDS = RECORDS) =>
  createReportMail([{ content: gzipSync(createDailyReport({ daysBefore, records })) }]);

const REPORTER = { mailFrom: "noreply@receiver.example", ip: "192.0.2.1" };
const OTHER = { mailFrom: "noreply@receiver.example", ip: "198.51.100.66" };

/** The oldest last, so that the one that makes the domain ready is not the only one that is judged. */
const whenReported = async ({ world, address }: Context, client: typeof REPORTER) => {
  for (let day = 14; day > 0; day--)
    expect(
      await whenMailArrives(world, address, { ...toReceived(writeMail(day)), ...client }),
    ).toBe("stored");
};

const read = async ({ world, key }: Context) => {
  const { data: progress } = await send(world, `GET ${ROUTE}`, { key });
  const { data: reports } = await send(world, `GET ${ROUTE}/reports`, { key });
  const { messages, unauthenticated, policy } = reports.dmarc;
  const sums = { reports: reports.dmarc.reports, others: reports.dmarc.unauthenticated_reports };
  const { sources } = reports.dmarc;
  return { isReady: progress.dmarc.ready, ...sums, messages, unauthenticated, policy, sources };
};

const listEvents = ({ table }: Context) =>
  table
    .items()
    .filter(
      ({ pk, type }) =>
        pk.startsWith("EVENT#") && ["dmarc.ready", "dmarc.failed"].includes(type as string),
    );

test("a report counts when its reporter's mail passes DMARC", async () => {
  const ctx = await setup();
  await whenReported(ctx, REPORTER);

  expect(await read(ctx)).toMatchObject({ isReady: true, reports: 14, others: 0 });
});

test("the service marks the reports of another host, and no domain becomes ready by them", async () => {
  const ctx = await setup();
  await whenReported(ctx, OTHER);

  const found = await read(ctx);

  expect(found).toMatchObject({ isReady: false, reports: 14, others: 14 });
  expect(found).toMatchObject({ messages: 280, unauthenticated: 280, policy: undefined });
  expect(found.sources).toMatchObject([{ messages: 280, unauthenticated: 280 }]);
  expect(listEvents(ctx)).toEqual([]);
});

test.each([
  ["another host's", 0, OTHER],
  ["a reporter's", 1, REPORTER],
])("%s report about unaligned mail causes %i events", async (_whose, events, client) => {
  const ctx = await setup();
  const mail = writeMail(1, RECORDS.with(1, { ...RECORDS[1], count: 9 } as never));

  await whenMailArrives(ctx.world, ctx.address, { ...toReceived(mail), ...client });

  expect(listEvents(ctx)).toHaveLength(events);
});

test("a report that another host sent first does not displace the true one, which alone counts", async () => {
  const ctx = await setup();
  const forged = { ...toReceived(writeMail(1)), ...OTHER };
  await whenMailArrives(ctx.world, ctx.address, forged);

  const uploaded = await uploadReport(ctx.world, ctx.key, { records: [{ count: 3 }] });
  await whenMailArrives(ctx.world, ctx.address, forged);

  expect(uploaded).toMatchObject({ statusCode: 201, data: { duplicate: false } });
  expect(await read(ctx)).toMatchObject({ reports: 1, others: 0, messages: 3 });
});

test("a signature that leaves the end of a mail open authenticates no report in it", async () => {
  const zone = { ...ZONE, "_dmarc.example.com": { TXT: ["v=DMARC1; p=reject"] } };
  const ctx = await setup(zone);
  const of = (mail: string) => mail.replace("noreply-dmarc@receiver.example", "ann@example.com");
  const whole = await sign(of(writeMail(1)));
  const open = await sign(of(writeMail(2)), { bodyLength: 1, maxBodyLength: 1 });

  for (const mail of [whole, open])
    await whenMailArrives(ctx.world, ctx.address, { ...toReceived(mail), ...OTHER });

  expect(open).toContain("l=1");
  expect(await read(ctx)).toMatchObject({ reports: 2, others: 1 });
});

test("the service defers a report mail when DNS does not answer", async () => {
  const ctx = await setup();
  const silent = withDnsLookups(ctx.world, async () => ({ kind: "timeout" }));

  const outcome = await whenMailArrives(silent, ctx.address, toReceived(writeMail(1)));

  expect(outcome).toBe("busy");
});

test("the service judges report mail from Amazon SES by the same rule, regardless of SES's verdicts", async () => {
  const ctx = await setup();
  for (const client of [REPORTER, OTHER]) {
    const day = client === REPORTER ? 1 : 2;
    const fields = createSesFields().replaceAll("192.0.2.1", client.ip);
    await ctx.world.blobs.put(
      `inbound/${SES_ID}`,
      (async function* () {
        yield Buffer.from(fields + writeMail(day));
      })(),
    );
    await receiveSesMail.handle(ctx.world, createReceipt([ctx.address], client.mailFrom));
  }

  expect(await read(ctx)).toMatchObject({ reports: 2, others: 1 });
});

import { parseDmarc } from "@mailproof/mail/dmarc/record";
import { expect, test } from "vitest";
import { withDnsLookups } from "../app/dns-lookups.ts";
import { whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { send } from "../app/send.ts";
import { createZoneDns, type Records } from "../app/zone.ts";
import { createDmarcReport, createRecord } from "../things/made-reports.ts";
import { createMail, whenMailArrives, whenTestCreated } from "../things/mail-tests.ts";
import { KEY, sign, writeMail } from "../things/mails.ts";
import { uploadFile } from "../things/reports.ts";

// A weak domain becomes strict: its owner does what the service says next, and nothing else. The owner knows the key of
// the mail server, and where the servers of the domain send from; DNS, the mail and the receivers are made here.

const DOMAIN = "example.com";
const DAY_MS = 86_400_000;
const SERVER = "8.8.8.10";
const SERVICE = "203.0.113.7";

type Names = Record<string, Records>;

const createWeakZone = (): Names => ({
  [DOMAIN]: { MX: [`10 mx.${DOMAIN}`], NS: ["ns1.example.net", "ns2.example.net"] },
  [`mx.${DOMAIN}`]: { A: ["8.8.8.8"] },
  [`out.${DOMAIN}`]: { A: [SERVER] },
  "10.8.8.8.in-addr.arpa": { PTR: [`out.${DOMAIN}`] },
  "spf.mailjet.com": { TXT: [`v=spf1 ip4:${SERVICE} -all`] },
  "2.0.0.127.bl.test": { A: ["127.0.0.2"] },
});

const setup = async () => {
  const ctx = await given({ balance: 2_000 });
  const zone = createWeakZone();
  const world = withDnsLookups(ctx.world, async (type, name) => createZoneDns(zone)(type, name));
  await send(world, "POST /v1/deliverability/monitors", {
    key: ctx.liveKey,
    body: { domain: DOMAIN },
  });
  const { data: feed } = await send(world, "GET /v1/events", { key: ctx.liveKey });
  const { cursor } = feed;
  return { ...ctx, world, zone, cursor, signs: { server: false, service: false } };
};

type TestContext = Awaited<ReturnType<typeof setup>>;

const readProgress = async ({ world, liveKey: key }: TestContext) =>
  (await send(world, `GET /v1/deliverability/domains/${DOMAIN}`, { key })).data;

/** Publishes the record as it is, with what only the owner knows filled in. */
const publish = ({ zone }: TestContext, { record, replaces = [] }: any): void => {
  const fill = (text: string) =>
    text
      .replace("<selector>", "s1")
      .replace("<public key>", KEY.record.slice(KEY.record.indexOf("p=") + 2));
  const removed: readonly string[] = replaces.map(({ value }: { value: string }) => value);
  const name = fill(record.name);
  const texts = zone[name]?.TXT ?? [];
  if (typeof texts === "string") throw new Error(texts);
  const others = texts.filter((text) => !removed.includes(text));
  expect(others).toHaveLength(texts.length - removed.length);
  zone[name] = { ...zone[name], [record.type]: [...others, fill(record.value)] };
};

const check = ({ world, liveKey: key }: TestContext) =>
  send(world, "POST /v1/deliverability/check", { key, body: { domain: DOMAIN, refresh: true } });

const sendTestMail = async (ctx: TestContext): Promise<void> => {
  const { data } = await whenTestCreated(ctx.world, ctx.liveKey);
  const mail = writeMail();
  const raw = Buffer.from(ctx.signs.server ? await sign(mail) : mail, "latin1");
  const envelope = { raw, mailFrom: `bounce@${DOMAIN}`, helo: `out.${DOMAIN}`, ip: SERVER };
  await whenMailArrives(ctx.world, data.address, createMail(ctx.world.now(), envelope));
  await whenWorked(ctx);
};

const readText = ({ zone }: TestContext, name: string, start: string): string => {
  const texts = zone[name]?.TXT ?? [];
  return (typeof texts === "string" ? [] : texts).find((text) => text.startsWith(start)) ?? "";
};

/** What a receiver saw of the last day, by what the domain published and how its mail was signed. */
const uploadReport = async (ctx: TestContext): Promise<void> => {
  const record = parseDmarc(readText(ctx, `_dmarc.${DOMAIN}`, "v=DMARC1"));
  if (record.reports.length === 0) return;
  const spf = readText(ctx, DOMAIN, "v=spf1");
  const toRow = (ip: string, count: number, isSigned: boolean, term: string) =>
    createRecord({
      ip,
      count,
      dkim: isSigned ? "pass" : "fail",
      spf: spf.includes(term) ? "pass" : "fail",
      auth: `<spf><domain>${ip === SERVICE ? "bnc3.mailjet.com" : DOMAIN}</domain><result>pass</result></spf>`,
    });
  const now = ctx.world.now().getTime();
  const begin = (now - (now % DAY_MS) - DAY_MS) / 1_000;
  const report = createDmarcReport({
    id: `${begin}`,
    begin,
    end: begin + 86_399,
    policy: `<p>${record.p}</p><sp>${record.sp ?? record.p}</sp>`,
    records: [
      toRow(SERVER, 40, ctx.signs.server, SERVER),
      toRow(SERVICE, 10, ctx.signs.service, "spf.mailjet.com"),
      createRecord({ ip: "198.51.100.9", dkim: "fail", spf: "fail", reasons: ["forwarded"] }),
    ],
  });
  expect(await uploadFile(ctx.world, ctx.liveKey, report)).toMatchObject({ statusCode: 201 });
};

/** A day passes: the monitor checks, and a receiver reports. */
const whenDayPasses = async (ctx: TestContext): Promise<void> => {
  ctx.later(DAY_MS);
  await whenReconciled(ctx);
  await whenWorked(ctx);
  await uploadReport(ctx);
};

/** What the owner does when the service says so. */
const ACTIONS: Readonly<Record<string, (ctx: TestContext, next: any) => Promise<unknown>>> = {
  check_domain: check,
  send_test_mail: sendTestMail,
  collect_reports: whenDayPasses,
  correct_mail: async (ctx, next) => {
    if (next.record) publish(ctx, next);
    ctx.signs.server = true;
    await sendTestMail(ctx);
  },
  correct_source: async (ctx, next) => {
    if (next.record) publish(ctx, next);
    if (next.text.includes("DKIM")) ctx.signs.service = true;
    await whenDayPasses(ctx);
  },
};

const publishAndCheck = async (ctx: TestContext, next: any): Promise<unknown> => {
  publish(ctx, next);
  return check(ctx);
};

const listReadyEvents = async ({ world, liveKey: key, cursor: after }: TestContext) => {
  const { data } = await send(world, "GET /v1/events", { key, query: { after, limit: "100" } });
  return data.events.filter(({ type }: { type: string }) => type === "dmarc.ready");
};

test("a weak domain reaches a strict policy when its owner follows each response of the service", async () => {
  const ctx = await setup();
  const codes: string[] = [];
  let progress = await readProgress(ctx);
  for (let turn = 0; turn < 120 && progress.next.code !== "keep_watching"; turn++) {
    const { next } = progress;
    if (codes.at(-1) !== next.code) codes.push(next.code);
    // Nothing that the owner does takes no time: of two checks one is later.
    ctx.later(60_000);
    await (ACTIONS[next.code] ?? publishAndCheck)(ctx, next);
    progress = await readProgress(ctx);
  }

  expect(codes).toEqual([
    "check_domain",
    "publish_spf",
    "publish_dkim",
    "publish_dmarc",
    "send_test_mail",
    "correct_mail",
    "collect_reports",
    "correct_source",
    "collect_reports",
    "tighten_policy",
    "collect_reports",
    "tighten_policy",
  ]);
  expect(progress.steps.map(({ step, status }: Step) => [step, status])).toEqual([
    ["published", "done"],
    ["tested", "done"],
    ["reported", "done"],
    ["enforced", "done"],
  ]);
  expect(progress.dmarc).toMatchObject({ policy: "reject", ready: false, aligned_share: 1 });
  expect(ctx.zone[DOMAIN]?.TXT).toEqual(["v=spf1 mx include:spf.mailjet.com ~all"]);
  expect(ctx.zone[`_dmarc.${DOMAIN}`]?.TXT).toEqual([
    `v=DMARC1; p=reject; np=reject; rua=mailto:dmarc@${DOMAIN}`,
  ]);
  expect(await listReadyEvents(ctx)).toMatchObject([
    { data: { domain: DOMAIN, policy: "none", ready_for: "quarantine", days: 13 } },
    { data: { domain: DOMAIN, policy: "quarantine", ready_for: "reject", days: 7 } },
  ]);
});

type Step = { readonly step: string; readonly status: string };

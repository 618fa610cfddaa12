import type { AppWorld } from "@mailproof/core/app-world";
import { expect, test } from "vitest";
import { withDnsLookups } from "../app/dns-lookups.ts";
import { given } from "../app/given.ts";
import { send } from "../app/send.ts";
import { KEY } from "../things/mails.ts";
import { uploadReport } from "../things/reports.ts";

const ask = (world: AppWorld, key: string, domain = "example.com") =>
  send(world, `GET /v1/deliverability/domains/${domain}`, { key });

const check = (world: AppWorld, key: string, domain: string) =>
  send(world, "POST /v1/deliverability/check", { key, body: { domain } });

const getStatuses = (data: { steps: { step: string; status: string }[] }) =>
  data.steps.map(({ step, status }) => `${step} ${status}`);

test("the domain progress of a domain without records lists every step as open, and a check as the next one", async () => {
  const { world, liveKey: key } = await given();

  const { statusCode, data } = await ask(world, key);

  expect(statusCode).toBe(200);
  expect(data).toEqual({
    domain: "example.com",
    domain_unicode: "example.com",
    monitored: false,
    steps: [
      { step: "published", status: "open", missing: ["The domain was not checked yet."] },
      {
        step: "tested",
        status: "open",
        missing: ["No test mail from example.com arrived yet."],
      },
      {
        step: "reported",
        status: "open",
        missing: ["There is no DMARC report about the last 14 days."],
      },
      { step: "enforced", status: "open", missing: ["No DMARC policy is known."] },
    ],
    next: { code: "check_domain", text: "Check example.com." },
    dmarc: {
      ready: false,
      reasons: [
        { code: "not_checked", text: expect.stringContaining("could read the DMARC record") },
        { code: "no_reports", text: "There is no DMARC report about the last 14 days." },
      ],
      from: "2026-11-07",
      to: "2026-11-21",
      truncated: false,
      reports: 0,
      reporters: 0,
      days: 0,
      days_at_policy: 0,
      messages: 0,
      forwarded: 0,
      unaligned_source_count: 0,
      unaligned_sources: [],
    },
  });
});

test("two weeks of aligned mail prepare a domain for a record that is one step stricter", async () => {
  const { world, testKey: key } = await given();
  const { data: checked } = await check(world, key, "ready.example");

  const { data } = await ask(world, key, "ready.example");

  expect(getStatuses(data)).toEqual([
    "published done",
    "tested open",
    "reported done",
    "enforced open",
  ]);
  expect(data.steps[0]).toMatchObject({
    check_id: checked.check_id,
    observed_at: checked.checked_at,
  });
  expect(data.next).toEqual({
    code: "tighten_policy",
    text: expect.stringContaining("Publish the DMARC policy quarantine"),
    record: {
      name: "_dmarc.ready.example",
      type: "TXT",
      value: "v=DMARC1; p=quarantine; np=quarantine; rua=mailto:dmarc@ready.example",
    },
    replaces: [
      {
        name: "_dmarc.ready.example",
        type: "TXT",
        value: "v=DMARC1; p=none; rua=mailto:dmarc@ready.example",
      },
    ],
  });
  expect(data.dmarc).toMatchObject({
    policy: "none",
    ready: true,
    ready_for: "quarantine",
    reasons: [],
    days: 14,
    days_at_policy: 14,
    messages: 602,
    forwarded: 42,
    aligned_share: 1,
  });
});

test("the domain progress lists a service that sends unaligned mail, with the SPF term to publish", async () => {
  const { world, testKey: key } = await given();
  await check(world, key, "unaligned.example");

  const { data } = await ask(world, key, "unaligned.example");

  expect(data.steps[2]).toMatchObject({ step: "reported", status: "failing" });
  expect(data.dmarc).toMatchObject({
    ready: false,
    reasons: [{ code: "low_aligned_share" }, { code: "unaligned_senders" }],
    aligned_share: 0.8,
    unaligned_source_count: 1,
    unaligned_sources: [{ ip: "203.0.113.7", provider: "mailjet" }],
  });
  expect(data.next).toMatchObject({
    code: "correct_source",
    record: {
      name: "unaligned.example",
      value: "v=spf1 mx ip4:192.0.2.1 include:spf.mailjet.com -all",
    },
    replaces: [{ value: "v=spf1 mx ip4:192.0.2.1 -all" }],
  });
});

test("the next step adds a source's term to the SPF record that the check proposes, which replaces the published one", async () => {
  const ctx = await given({ balance: 10 });
  const spf = "v=spf1 ip4:192.0.2.1 ip4:192.0.2.1 ?all";
  const world = withDnsLookups(ctx.world, {
    "example.com": { TXT: [spf], MX: ["10 mx.example.com"] },
    "mx.example.com": { A: ["9.9.9.9"] },
    "s1._domainkey.example.com": { TXT: [KEY.record] },
    "_dmarc.example.com": { TXT: ["v=DMARC1; p=none; rua=mailto:d@example.com"] },
  });
  await check(world, ctx.liveKey, "example.com");
  const service = "<dkim><domain>bounces.mailjet.com</domain><result>pass</result></dkim>";
  const records = [
    { count: 90 },
    { ip: "203.0.113.7", count: 30, dkim: "fail", spf: "fail", auth: service },
  ];
  for (let daysBefore = 1; daysBefore <= 10; daysBefore++)
    await uploadReport(world, ctx.liveKey, { daysBefore, records });

  const { next } = (await ask(world, ctx.liveKey, "example.com")).data;

  expect(next).toMatchObject({
    code: "correct_source",
    record: { value: "v=spf1 ip4:192.0.2.1 include:spf.mailjet.com ~all" },
    replaces: [{ value: spf }],
  });
});

test.each([
  ["nospf.example", "failing", "publish_spf"],
  ["nodkim.example", "failing", "publish_dkim"],
  ["nodmarc.example", "failing", "publish_dmarc"],
  ["weak.example", "done", "request_reports"],
  ["example.com", "done", "send_test_mail"],
])(
  "the domain progress of %s marks its publication as %s, with %s as the next step",
  async (domain, status, code) => {
    const { world, testKey: key } = await given();
    await check(world, key, domain);

    const { data } = await ask(world, key, domain);

    expect(data.steps[0]).toMatchObject({ step: "published", status });
    expect(data.next.code).toBe(code);
  },
);

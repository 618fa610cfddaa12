import type { AppWorld } from "@mailproof/core/app-world";
import { expect, test } from "vitest";
import { withDnsLookups } from "../../../dns-lookups.ts";
import { whenReconciled, whenWorked } from "../../../drain-queues.ts";
import { given } from "../../../given.ts";
import { uploadReport } from "../../../reports.ts";
import { send } from "../../../send.ts";
import { createZoneDns, type Records } from "../../../zone.ts";
import { GOOD } from "../message/mails.ts";

const DAY_MS = 86_400_000;
const ALIGNED = { records: [{ count: 20 }] };
const UNALIGNED = {
  records: [{ count: 20 }, { ip: "198.51.100.7", count: 9, dkim: "fail", spf: "fail", auth: "" }],
};

/** A domain with the policy none, and reports of the 13 days up to the day before yesterday. */
const setup = async ({ isMonitored = true } = {}) => {
  const ctx = await given({ balance: 1_000 });
  const zone: Record<string, Records> = { ...(GOOD as Record<string, Records>) };
  const publish = (p: string) => {
    zone["_dmarc.example.com"] = { TXT: [`v=DMARC1; p=${p}; rua=mailto:d@example.com`] };
  };
  publish("none");
  const world = withDnsLookups(ctx.world, async (type, name) => createZoneDns(zone)(type, name));
  const key = ctx.liveKey;
  for (let day = 14; day > 1; day--)
    await uploadReport(world, key, { ...ALIGNED, daysBefore: day });
  await send(world, "POST /v1/deliverability/check", { key, body: { domain: "example.com" } });
  if (isMonitored)
    await send(world, "POST /v1/deliverability/monitors", { key, body: { domain: "example.com" } });
  return { ...ctx, world, publish, report: createReporter(world, key) };
};

type TestContext = Awaited<ReturnType<typeof setup>>;

const createReporter =
  (world: AppWorld, key: string) =>
  (report: Parameters<typeof uploadReport>[2] = ALIGNED) =>
    uploadReport(world, key, report);

const listEvents = ({ table }: TestContext) =>
  table.items().filter(({ pk, type }) => pk.startsWith("EVENT#") && type === "dmarc.ready");

const whenDayPasses = async (ctx: TestContext) => {
  ctx.later(DAY_MS);
  await whenReconciled(ctx);
  await whenWorked(ctx);
};

test("the report that makes a monitored domain ready emits dmarc.ready, once", async () => {
  const ctx = await setup();
  await ctx.report();
  await ctx.report({ ...ALIGNED, reporter: "yahoo.com" });
  await whenDayPasses(ctx);
  await ctx.report({ ...ALIGNED, daysBefore: 0 });

  expect(listEvents(ctx)).toMatchObject([
    {
      data: {
        domain: "example.com",
        check_id: expect.any(String),
        policy: "none",
        ready_for: "quarantine",
        aligned_share: 1,
        messages: 280,
        days: 14,
      },
    },
  ]);
});

test("the check of a monitor emits it as well, without a report of that day", async () => {
  const ctx = await setup();
  await whenWorked(ctx);

  expect(listEvents(ctx)).toHaveLength(1);
  await whenDayPasses(ctx);
  expect(listEvents(ctx)).toHaveLength(1);
});

test("reports that arrive together emit one event, and all of them are stored", async () => {
  const ctx = await setup();
  const sent = await Promise.all(
    ["a.example", "b.example", "c.example"].map((reporter) =>
      ctx.report({ ...UNALIGNED, reporter, records: [{ count: 20 }] }),
    ),
  );

  expect(sent.map(({ statusCode }) => statusCode)).toEqual([201, 201, 201]);
  expect(listEvents(ctx)).toHaveLength(1);
});

test("a domain that was not ready in between emits it again", async () => {
  const ctx = await setup();
  await ctx.report();
  ctx.later(DAY_MS);
  await ctx.report({ ...UNALIGNED, daysBefore: 0 });
  expect(listEvents(ctx)).toHaveLength(1);
  for (let day = 0; day < 16; day++) {
    await whenDayPasses(ctx);
    await ctx.report({ ...ALIGNED, daysBefore: -day - 1 });
  }

  expect(listEvents(ctx)).toHaveLength(2);
});

test("a new policy emits it for its own next step, after days of its own", async () => {
  const ctx = await setup();
  await ctx.report();
  ctx.publish("quarantine");
  for (let day = 0; day < 8; day++) {
    await whenDayPasses(ctx);
    await ctx.report({ ...ALIGNED, daysBefore: -day, policy: "<p>quarantine</p>" });
  }

  expect(listEvents(ctx)).toMatchObject([
    { data: { policy: "none", ready_for: "quarantine" } },
    { data: { policy: "quarantine", ready_for: "reject", days: 7 } },
  ]);
});

test("a domain that nothing monitors emits nothing", async () => {
  const ctx = await setup({ isMonitored: false });
  await ctx.report();

  expect(listEvents(ctx)).toEqual([]);
});

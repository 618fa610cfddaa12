import type { AppWorld } from "@mailproof/core/app-world";
import type { Table } from "@mailproof/core/ports/table";
import { describe, expect, test } from "vitest";
import { withDnsLookups } from "../../../app/dns-lookups.ts";
import { whenReconciled, whenWorked } from "../../../app/drain-queues.ts";
import { given } from "../../../app/given.ts";
import { send } from "../../../app/send.ts";
import { createZoneDns, type Records } from "../../../app/zone.ts";
import { GOOD } from "../../../things/mails.ts";
import { uploadReport } from "../../../things/reports.ts";

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

test("the report that completes a monitored domain's readiness emits dmarc.ready once", async () => {
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

test("the check of a monitor emits dmarc.ready without a report of that day", async () => {
  const ctx = await setup();
  await whenWorked(ctx);

  expect(listEvents(ctx)).toHaveLength(1);
  await whenDayPasses(ctx);
  expect(listEvents(ctx)).toHaveLength(1);
});

const REPORTERS = ["a.example", "b.example", "c.example"];

/** The table holds the first transaction of each report up until all of them have read what there is. */
const createCrowdedWorld = (world: AppWorld): AppWorld => {
  const { table } = world;
  let waiting = 0;
  let goOn = () => {};
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const transact: Table["transact"] = async (writes, attempt) => {
    if (++waiting === REPORTERS.length) goOn();
    await gate;
    return table.transact(writes, attempt);
  };
  return { ...world, table: { ...table, transact } };
};

test.each([
  ["never", 0],
  ["on an earlier day", 1],
])(
  "concurrent reports about a domain that was judged %s emit dmarc.ready once, and the service stores all of them",
  async (_when, judged) => {
    const ctx = await setup();
    if (judged > 0) {
      // A share below the limit, which the reports of today correct.
      await ctx.report({ records: [{ count: 1 }, { ...UNALIGNED.records[1], count: 6 }] });
      ctx.later(DAY_MS);
    }
    expect(listEvents(ctx)).toEqual([]);
    const key = ctx.liveKey;
    const crowded = createCrowdedWorld(ctx.world);
    const sent = await Promise.all(
      REPORTERS.map((reporter) =>
        uploadReport(crowded, key, { reporter, daysBefore: 1 - judged, records: [{ count: 100 }] }),
      ),
    );

    expect(sent.map(({ statusCode }) => statusCode)).toEqual([201, 201, 201]);
    expect(listEvents(ctx)).toHaveLength(1);
  },
);

test("a report that is sent again after a lost reply emits dmarc.ready once", async () => {
  const ctx = await setup();
  const { table } = ctx.world;
  const transact: Table["transact"] = async (writes, attempt) => {
    await table.transact(writes, attempt);
    return { outcome: "ambiguous" };
  };
  await uploadReport({ ...ctx.world, table: { ...table, transact } }, ctx.liveKey, ALIGNED);
  expect(await ctx.report()).toMatchObject({ statusCode: 200, data: { duplicate: true } });

  expect(listEvents(ctx)).toHaveLength(1);
});

test("a domain that was not ready for a time emits dmarc.ready again", async () => {
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

test("a new policy emits dmarc.ready for its own next step, after its own days", async () => {
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

test("a domain without a monitor emits no event", async () => {
  const ctx = await setup({ isMonitored: false });
  await ctx.report();

  expect(listEvents(ctx)).toEqual([]);
});

describe("events of reports", () => {
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

  test("a report with unaligned mail of a monitored domain emits dmarc.failed once a day", async () => {
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

  test("concurrent reports emit one event, and the service stores all of them", async () => {
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
  ])("a report %s emits no event", async (_what, report) => {
    const ctx = await givenMonitor();

    expect(await uploadReport(ctx.world, ctx.liveKey, report)).toMatchObject({ statusCode: 201 });

    expect(listEvents(ctx)).toEqual([]);
  });
});

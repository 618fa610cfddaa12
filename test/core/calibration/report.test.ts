import { recordEvents } from "@mailproof/core/activity/record";
import { addToCell, toFateField } from "@mailproof/core/calibration/items";
import { createLearnedBounces } from "@mailproof/core/calibration/learned-bounces";
import { reportCalibration } from "@mailproof/core/calibration/report";
import { estimateShare } from "@mailproof/core/lib/wilson";
import { storeVerdictSample } from "@mailproof/core/verify/store-verdict";
import fc from "fast-check";
import { expect, test } from "vitest";
import { withTable } from "../../app/faulty-worlds.ts";
import { asRows } from "../../runner/as-rows.ts";
import { createEvent, toRecordedEvent } from "../../things/activity.ts";
import {
  BLOCKED,
  createResult,
  givenSqliteWorld,
  HARD,
  SOFT,
  whenMailReported,
  whenVerdictGiven,
} from "../../things/calibration.ts";

const DAY_MS = 86_400_000;

const readStatus = async (world: ReturnType<typeof givenSqliteWorld>["world"], status = "valid") =>
  (await reportCalibration(world, 2)).byStatus.find((row) => row.status === status);

test("the report counts the fate of mail by provider, status and band of ten points", async () => {
  const { world } = givenSqliteWorld();
  for (let n = 0; n < 40; n++) {
    await whenVerdictGiven(world, "acc_1", `p${n}@x.com`, { score: 95 });
    await whenMailReported(world, "acc_1", `p${n}@x.com`, { fate: n < 4 ? HARD : "delivered" });
  }
  await whenVerdictGiven(world, "acc_1", "q@x.com", {
    status: "risky",
    score: 55,
    provider: "yahoo",
  });
  await whenMailReported(world, "acc_1", "q@x.com", { fate: HARD });

  const { cells, months } = await reportCalibration(world, 1);

  expect(months).toEqual(["2026-11"]);
  expect(cells).toEqual([
    {
      provider: "google",
      status: "valid",
      band: 90,
      sent: 40,
      bounced: 4,
      soft: 0,
      accounts: 1,
      share: 0.1,
      interval: [0.04, 0.231],
    },
    {
      provider: "yahoo",
      status: "risky",
      band: 50,
      sent: 1,
      bounced: 1,
      soft: 0,
      accounts: 1,
      share: null,
      interval: null,
    },
  ]);
});

test("an address counts once, by its worst certain event, in any order of arrival", async () => {
  const orders = [
    ["delivered", HARD, SOFT],
    [HARD, SOFT, "delivered"],
    [SOFT, "delivered", HARD],
  ] as const;
  for (const fates of orders) {
    const { world } = givenSqliteWorld();
    await whenVerdictGiven(world, "acc_1", "ann@x.com");
    for (const fate of fates) await whenMailReported(world, "acc_1", "ann@x.com", { fate });

    expect(await readStatus(world)).toMatchObject({ sent: 1, bounced: 1, soft: 0 });
  }
});

test("events of one request count like events of several requests", async () => {
  const { world } = givenSqliteWorld();
  const emails = Array.from({ length: 60 }, (_, n) => `p${n % 30}@x.com`);
  for (const email of emails.slice(0, 30)) await whenVerdictGiven(world, "acc_1", email);
  const events = emails.map((email, n) =>
    toRecordedEvent(createEvent(n < 30 ? "delivery" : "bounce", 0, { email })),
  );

  await recordEvents(
    world,
    { account: "acc_1", channel: "api" },
    events.map((event, n) => (n >= 50 ? { ...event, bounce: HARD } : event)),
  );

  expect(await readStatus(world)).toMatchObject({ sent: 30, bounced: 10 });
});

test("the report ignores a bounce about the message, mail from before the verdict, and mail long after it", async () => {
  const { world, later } = givenSqliteWorld();
  const before = new Date(world.now().getTime() - DAY_MS);
  await whenVerdictGiven(world, "acc_1", "ann@x.com");
  await whenMailReported(world, "acc_1", "ann@x.com", { fate: BLOCKED });
  await whenMailReported(world, "acc_1", "ann@x.com", { fate: "delivered", at: before });
  await whenMailReported(world, "acc_2", "ann@x.com", { fate: HARD });
  await whenMailReported(world, "acc_1", "bo@x.com", { fate: HARD });
  later(29 * DAY_MS);
  await whenVerdictGiven(world, "acc_1", "cy@x.com");
  later(31 * DAY_MS);
  await whenMailReported(world, "acc_1", "cy@x.com", { fate: HARD });

  expect((await reportCalibration(world, 13)).cells).toEqual([]);
});

test("an address counts again after another verification", async () => {
  const { world } = givenSqliteWorld();
  await whenVerdictGiven(world, "acc_1", "ann@x.com");
  await whenMailReported(world, "acc_1", "ann@x.com", { fate: "delivered" });
  await whenVerdictGiven(world, "acc_1", "ann@x.com");
  await whenMailReported(world, "acc_1", "ann@x.com", { fate: HARD });

  expect(await readStatus(world)).toMatchObject({ sent: 2, bounced: 1 });
});

test("the sample stores one row in ten of a list, and the same rows at each verification", async () => {
  const [first, second] = [givenSqliteWorld(), givenSqliteWorld()];
  for (const { world } of [first, second, second]) {
    const results = Array.from({ length: 2_000 }, (_, n) => createResult(world, `p${n}@x.com`, {}));
    await storeVerdictSample(
      world,
      "acc_1",
      results.map((result) => ({ result, elsewhere: undefined })),
    );
  }
  const counts = await Promise.all(
    [first, second].map(async ({ world }) => {
      for (let n = 0; n < 2_000; n += 500)
        await recordEvents(
          world,
          { account: "acc_1", channel: "api" },
          Array.from({ length: 500 }, (_, at) =>
            toRecordedEvent(createEvent("delivery", 0, { email: `p${n + at}@x.com` })),
          ),
        );
      return (await readStatus(world))?.sent ?? 0;
    }),
  );

  expect(counts[0]).toBe(counts[1]);
  expect(counts[0]).toBeGreaterThan(140);
  expect(counts[0]).toBeLessThan(260);
});

// The first three are in tables of Wilson's interval (Newcombe 1998, Table I, method 3).
test.each([
  [81, 263, 0.2553, 0.3662],
  [15, 148, 0.0624, 0.1605],
  [0, 20, 0, 0.1611],
  [1, 29, 0.0061, 0.1718],
  [0, 0, 0, 1],
])("the interval of %i in %i reaches from %f to %f", (count, of, least, most) => {
  const interval = estimateShare(count, of);

  expect(interval.least).toBeCloseTo(least, 4);
  expect(interval.most).toBeCloseTo(most, 4);
});

test("a share's confidence interval lies within 0 and 1, contains the share, and narrows with more data", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (of, part) => {
        const count = Math.round(of * part);
        const { least, most } = estimateShare(count, of);
        const larger = estimateShare(count * 2, of * 2);
        expect(least).toBeGreaterThanOrEqual(0);
        expect(most).toBeLessThanOrEqual(1);
        expect(least).toBeLessThanOrEqual(count / of);
        expect(most).toBeGreaterThanOrEqual(count / of);
        expect(larger.most - larger.least).toBeLessThan(most - least);
      },
    ),
  );
});

type Reports = Readonly<Record<string, { readonly delivered: number; readonly hard: number }>>;

/** Addresses that were `valid` at a provider, by the account that reported on them. */
const givenReports = async (reports: Reports, { month = "2026-11", status = "valid" } = {}) => {
  const ctx = givenSqliteWorld();
  const cell = { provider: "fastmail", month, status, band: 90 };
  for (const [tag, counts] of Object.entries(reports))
    for (const fate of ["delivered", "hard"] as const)
      await ctx.world.table.write(
        addToCell(
          cell,
          Number(tag) % 4,
          { [fate]: counts[fate], [toFateField(fate, Number(tag))]: counts[fate] },
          ctx.world.now(),
        ),
      );
  return ctx;
};

const LATE = { delivered: 160, hard: 40 };
const ORDINARY = { delivered: 196, hard: 4 };

test.each(asRows<[string, Reports, boolean]>`
  three accounts of which each saw a fifth bounce | ${{ 1: LATE, 2: LATE, 3: LATE }} | true
  one account, however many addresses it reports | ${{ 1: { delivered: 0, hard: 9_000 } }} | false
  two accounts | ${{ 1: LATE, 2: LATE }} | false
  one account against many others | ${{ 1: { delivered: 0, hard: 9_000 }, 2: ORDINARY, 3: ORDINARY, 4: ORDINARY }} | false
  three accounts of which each saw an ordinary share bounce | ${{ 1: ORDINARY, 2: ORDINARY, 3: ORDINARY }} | false
  a third of too few addresses | ${{ 1: { delivered: 20, hard: 10 }, 2: { delivered: 20, hard: 10 }, 3: { delivered: 20, hard: 10 } }} | false
  a share that chance explains | ${{ 1: { delivered: 88, hard: 12 }, 2: { delivered: 88, hard: 12 }, 3: { delivered: 88, hard: 12 } }} | false
  no account | ${{}} | false
`)(
  "bounces from %s decide whether an acceptance proves a mailbox at the provider: %#",
  async (_, reports, expected) => {
    const { world } = await givenReports(reports);

    expect(await createLearnedBounces(world)("fastmail")).toBe(expected);
    expect(await createLearnedBounces(world)("google")).toBe(false);
  },
);

test("learned bounces exclude bounces of other verdicts and of an earlier season", async () => {
  const all = { 1: LATE, 2: LATE, 3: LATE };

  expect(
    await createLearnedBounces((await givenReports(all, { status: "risky" })).world)("fastmail"),
  ).toBe(false);
  expect(
    await createLearnedBounces((await givenReports(all, { month: "2026-09" })).world)("fastmail"),
  ).toBe(false);
  expect(
    await createLearnedBounces((await givenReports(all, { month: "2026-10" })).world)("fastmail"),
  ).toBe(true);
});

test("the engine reads learned bounces once an hour, and keeps the last ones when the table fails", async () => {
  const ctx = await givenReports({ 1: LATE, 2: LATE, 3: LATE });
  const { table } = ctx.world;
  let reads = 0;
  let isDown = false;
  const world = withTable(
    { world: ctx.world, table },
    {
      query: (query) => {
        reads++;
        return isDown ? Promise.reject(new Error("the table is down")) : table.query(query);
      },
    },
  );
  const hasLearned = createLearnedBounces(world);
  await Promise.all(Array.from({ length: 100 }, () => hasLearned("fastmail")));
  // Two months, four shards.
  expect(reads).toBe(8);

  isDown = true;
  ctx.later(3_600_000);

  expect(await hasLearned("fastmail")).toBe(true);
  expect(reads).toBe(16);
});

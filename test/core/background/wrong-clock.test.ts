import { audit } from "@mailproof/core/background/audit";
import { readGauges } from "@mailproof/core/background/gauges";
import { reconcile } from "@mailproof/core/background/reconciler";
import { isUnexpired } from "@mailproof/core/lib/time";
import { scheduleWork } from "@mailproof/core/runtime/leases";
import { createCatchAllCache } from "@mailproof/core/smtp-pool/catch-all-cache";
import { expect, test } from "vitest";
import { given, START } from "../../app/given.ts";
import { whenVerified } from "../../app/send.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

test.each([
  ["30 days behind", -30],
  ["12 days ahead", 12],
  ["a year behind", -365],
])(
  "the audit reports no broken invariant for a credit spent while the clock was %s",
  async (_, days) => {
    const ctx = await given({ balance: 10 });
    const { world, liveKey, jump } = ctx;

    jump(days * DAY_MS);
    await whenVerified(world, liveKey, { email: "ann@example.com" });
    const whileWrong = await audit(world.table, world.now());
    jump(-days * DAY_MS);
    const whenRight = await audit(world.table, world.now());

    expect(whileWrong.violations).toEqual([]);
    expect(whenRight.violations).toEqual([]);
  },
);

/** Reconciles until each partition had its turn. */
const reconcileAll = async ({ world, later }: Awaited<ReturnType<typeof given>>) => {
  for (let run = 0; run < 8; run++) {
    await reconcile.run(world);
    later(MINUTE_MS);
  }
};

test.each([
  ["two hours", 2 * HOUR_MS],
  ["half an hour", HOUR_MS / 2],
  ["a month", 30 * DAY_MS],
])(
  "the reconciler does work that was deferred before the clock jumped back by %s",
  async (_, by) => {
    const ctx = await given({ balance: 10 });
    const { world, jump } = ctx;
    const rubbish = { pk: "RUBBISH#1", sk: "RUBBISH" };
    const at = new Date(START.getTime() + 5 * MINUTE_MS);
    await world.table.write({ put: { ...rubbish, ...scheduleWork("verify", "job_1", at, "t") } });

    jump(-by);
    const before = await readGauges(world);
    await reconcileAll(ctx);
    const after = await readGauges(world);

    expect(before.dueMisplaced).toBe(1);
    expect(after.dueMisplaced).toBe(0);
    expect((await world.table.get(rubbish))?.["token"]).not.toBe("t");
  },
);

test("the reconciler ignores work before its due time", async () => {
  const ctx = await given({ balance: 10 });
  const { world } = ctx;
  const at = new Date(START.getTime() + 30 * DAY_MS);
  const monitor = { pk: "MONITOR#1", sk: "MONITOR", ...scheduleWork("monitor", "mon_1", at, "t") };
  await world.table.write({ put: monitor });

  await reconcileAll(ctx);

  expect(await world.table.get({ pk: "MONITOR#1", sk: "MONITOR" })).toEqual(monitor);
  expect((await readGauges(world)).dueMisplaced).toBe(0);
});

test("a due time counts as past when the code never plans so far ahead", () => {
  const longestMs = HOUR_MS;

  expect(isUnexpired(HOUR_MS, 0, longestMs)).toBe(true);
  expect(isUnexpired(0, 0, longestMs)).toBe(false);
  expect(isUnexpired(HOUR_MS + MINUTE_MS, 0, longestMs)).toBe(true);
  expect(isUnexpired(HOUR_MS + MINUTE_MS + 1, 0, longestMs)).toBe(false);
});

test("the engine checks a domain again when the time of its stored facts lies in the future", async () => {
  const { world, jump } = await given();
  const cache = createCatchAllCache(world.table, world.now);
  const before = await cache.find("example.com", "");
  await cache.storeProof("example.com", "", "yes", before);

  jump(-2 * DAY_MS);

  expect(await cache.find("example.com", "")).toMatchObject({ acceptsEveryone: false });
  const other = createCatchAllCache(world.table, world.now);
  expect(await other.find("example.com", "")).toMatchObject({ acceptsEveryone: false });
});

test("the service never serves a cached result whose time lies in the future", async () => {
  const { world, liveKey, jump } = await given({ balance: 10 });
  await whenVerified(world, liveKey, { email: "ann@example.com" });

  jump(-2 * DAY_MS);
  const again = await whenVerified(world, liveKey, { email: "ann@example.com" });

  expect(again.data.cached).toBe(false);
});

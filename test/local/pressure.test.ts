import { spawn } from "node:child_process";
import fs, { existsSync, readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { getHeapStatistics } from "node:v8";
import { openAccount } from "@mailproof/core/accounts/accounts";
import { readGauges } from "@mailproof/core/background/gauges";
import { credits } from "@mailproof/core/money/credits";
import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { createClockWatch } from "@mailproof/local/server/clock-watch";
import {
  countFreeDescriptors,
  createOwnErrorWatch,
  shareDescriptors,
} from "@mailproof/local/server/descriptors";
import {
  computeMemoryShare,
  computePressure,
  PRESSURE_LIMITS,
  type PressureReading,
  startPressureMeter,
} from "@mailproof/local/server/pressure";
import { expect, onTestFinished, test, vi } from "vitest";
import { given } from "../app/given.ts";
import { send, whenVerified } from "../app/send.ts";
import { asRows } from "../runner/as-rows.ts";
import { endWithTest } from "../runner/eventually.ts";
import { MAILPROOF } from "../servers/package.ts";
import { createFolder, PRELOADED } from "../servers/running.ts";
import { connectTo } from "../servers/slow-clients.ts";

const CALM: PressureReading = { delayMs: 0, memoryShare: 0.1, requests: 5 };
const { delayMs: late, memoryShare: short } = PRESSURE_LIMITS;

test.each(asRows`
  a late event loop | null | ${{ ...CALM, delayMs: late.from }} | event_loop_late
  a slightly late event loop | null | ${{ ...CALM, delayMs: late.from - 1 }} | null
  an event loop that still catches up | event_loop_late | ${{ ...CALM, delayMs: late.until }} | event_loop_late
  an event loop that has caught up | event_loop_late | ${{ ...CALM, delayMs: late.until - 1 }} | null
  memory near its limit | null | ${{ ...CALM, memoryShare: short.from }} | memory_short
  memory that is being freed | memory_short | ${{ ...CALM, memoryShare: short.until }} | memory_short
  memory that is free again | memory_short | ${CALM} | null
  both a late event loop and short memory | null | ${{ ...CALM, delayMs: late.from, memoryShare: short.from }} | memory_short
`)("the pressure meter computes the right pressure for %s", (_, pressure, reading, after) => {
  const before = { pressure, lateReadings: pressure === "event_loop_late" ? 3 : 2 };

  expect(computePressure(before, reading).pressure).toBe(after);
});

test("the pressure meter reports the third late reading in a row, and only while requests are in progress", () => {
  const LATE = { ...CALM, delayMs: late.from };
  const readAll = (readings: readonly PressureReading[]) => {
    let state: ReturnType<typeof computePressure> | undefined;
    return readings.map((reading) => {
      state = computePressure(state, reading);
      return state.pressure;
    });
  };

  expect(readAll([LATE, LATE, LATE])).toEqual([null, null, "event_loop_late"]);
  expect(readAll([LATE, LATE, CALM, LATE])).toEqual([null, null, null, null]);
  const IDLE = { ...LATE, requests: 0 };
  expect(readAll([IDLE, IDLE, IDLE, IDLE])).toEqual([null, null, null, null]);
  expect(readAll([LATE, LATE, LATE, IDLE]).at(-1)).toBeNull();
});

test("the pressure meter reports free memory only below half of the process's limit", () => {
  const [low, high] = [0.49, 0.5].map((memoryShare) => {
    const meter = startPressureMeter(
      () => {},
      () => 1,
      () => ({ ...CALM, memoryShare }),
    );
    meter.stop();
    meter.poll();
    return meter.hasMemory();
  });

  expect([low, high]).toEqual([true, false]);
});

test("the pressure meter logs once when pressure begins and once when it ends", () => {
  let reading = CALM;
  const logged: string[] = [];
  const {
    pressure,
    poll: look,
    stop,
  } = startPressureMeter(
    (event) => logged.push(event),
    () => 1,
    () => reading,
  );
  stop();

  look();
  reading = { ...CALM, delayMs: 1_000 };
  for (let n = 0; n < 4; n++) look();
  const during = pressure();
  reading = CALM;
  look();

  expect(during).toBe("event_loop_late");
  expect(pressure()).toBeNull();
  expect(logged).toEqual(["pressure_began", "pressure_ended"]);
});

test("the pressure meter measures pressure once a second", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let reading = CALM;
  const { pressure, stop } = startPressureMeter(
    () => {},
    () => 1,
    () => reading,
  );

  reading = { ...CALM, memoryShare: 0.99 };
  vi.advanceTimersByTime(999);
  const before = pressure();
  vi.advanceTimersByTime(1);
  const after = pressure();
  stop();
  reading = CALM;
  vi.advanceTimersByTime(10_000);

  expect([before, after]).toEqual([null, "memory_short"]);
  // Stopped, it does not look any more.
  expect(pressure()).toBe("memory_short");
});

test.each([
  ["the heap", { heapUsed: getHeapStatistics().heap_size_limit * short.from }, undefined],
  ["the container", { rss: 900, heapUsed: 1 }, 1_000],
])(
  "the pressure meter reports short memory when %s is nearly full",
  (_what, usage, constrained = process.constrainedMemory()) => {
    const {
      pressure,
      poll: look,
      stop,
    } = startPressureMeter(
      () => {},
      () => 1,
    );
    stop();
    vi.spyOn(process, "memoryUsage").mockReturnValue({ ...process.memoryUsage(), ...usage });
    vi.spyOn(process, "constrainedMemory").mockReturnValue(constrained);
    onTestFinished(() => void vi.restoreAllMocks());

    look();

    expect(pressure()).toBe("memory_short");
  },
);

test("the pressure meter reports a late loop when the loop is blocked", async () => {
  const {
    pressure,
    poll: look,
    stop,
  } = startPressureMeter(
    () => {},
    () => 1,
  );
  stop();
  const turns = async (blockedMs: number) => {
    for (let turn = 0; turn < 4; turn++) {
      const until = performance.now() + blockedMs;
      while (performance.now() < until);
      // The next turn at once: a turn that waits would be on time, and there would be more of them on a busy machine.
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  look();

  for (let n = 0; n < 3; n++) {
    await turns(500);
    look();
  }

  expect(pressure()).toBe("event_loop_late");
});

const MEGABYTE = 1_000_000;
const MEMORY = {
  rss: 3_000 * MEGABYTE,
  heapUsed: 100 * MEGABYTE,
  heapMax: 4_000 * MEGABYTE,
  containerMax: 0,
  machineMax: 16_000 * MEGABYTE,
  available: 500 * MEGABYTE,
};

test.each([
  ["the machine when the heap is nearly empty", {}, 3 / 3.5],
  ["the container below the machine's memory", { containerMax: 6_000 * MEGABYTE }, 0.5],
  ["the machine when the container's limit exceeds its memory", { containerMax: 2 ** 63 }, 3 / 3.5],
  ["the heap when the heap is fuller", { heapUsed: 3_800 * MEGABYTE }, 0.95],
])("the pressure meter computes the memory share from %s", (_of, memory, share) => {
  expect(computeMemoryShare({ ...MEMORY, ...memory })).toBeCloseTo(share);
});

test("the local service refuses paid requests under its meter's pressure, and reads continue", async () => {
  const usage = process.memoryUsage();
  const ctx = createApp(readEnvironment({ MAILPROOF_DIR: createFolder() }), () => "", null);
  onTestFinished(() => ctx.close());
  expect(ctx.world.pressure()).toBeNull();
  const opening = { name: "Ann's Shop", plan: "pro", opening: credits(10) } as const;
  const { liveKey: key } = await openAccount(ctx.world, opening);
  vi.spyOn(process, "memoryUsage").mockReturnValue({ ...usage, heapUsed: Number.MAX_SAFE_INTEGER });
  onTestFinished(() => void vi.restoreAllMocks());

  await vi.waitUntil(() => ctx.world.pressure() === "memory_short", { timeout: 20_000 });

  const verified = await whenVerified(ctx.world, key, { email: "ann@example.com" });
  expect(verified.statusCode).toBe(503);
  expect((await send(ctx.world, "GET /v1/account", { key })).statusCode).toBe(200);
});

const HOUR_MS = 3_600_000;

test.each([
  ["set back by two hours", -2 * HOUR_MS, -7200],
  ["set forwards by twelve days", 12 * 24 * HOUR_MS, 12 * 86_400],
  ["adjusted by a second", 1_000, 0],
])("the gauges show the jump of a clock that is %s for an hour", async (_, by, seconds) => {
  const { world, jump, later, logged } = await given();
  let steadyMs = 0;
  const watch = createClockWatch(() => steadyMs);
  await watch.run(world);

  steadyMs += 1_000;
  later(1_000);
  jump(by);
  await watch.run(world);
  const isWithin = await readGauges(world);
  later(HOUR_MS);
  const after = await readGauges(world);

  expect(isWithin.clockJumpSeconds).toBe(seconds);
  expect(logged.filter(({ event }) => event === "clock_jumped")).toHaveLength(
    seconds === 0 ? 0 : 1,
  );
  expect(after.clockJumpSeconds).toBe(0);
});

test("the gauges show a jump when the clock is behind an earlier process's latest time", async () => {
  const { world, jump } = await given();
  await createClockWatch(() => 0).run(world);

  jump(-30 * 24 * HOUR_MS);
  await createClockWatch(() => 0).run(world);

  expect((await readGauges(world)).clockJumpSeconds).toBe(-30 * 86_400);
});

test("the gauges show no jump after the service was stopped for a week", async () => {
  const { world, later } = await given();
  await createClockWatch(() => 0).run(world);

  later(7 * 24 * HOUR_MS);
  await createClockWatch(() => 0).run(world);

  expect((await readGauges(world)).clockJumpSeconds).toBe(0);
});

test.each([
  [1_048_576, { connections: 524_256, sessions: 700 }],
  [4_096, { connections: 2_016, sessions: 700 }],
  [1_024, { connections: 480, sessions: 360 }],
  [256, { connections: 96, sessions: 72 }],
  [64, { connections: 8, sessions: 6 }],
  [Number.POSITIVE_INFINITY, { connections: Number.POSITIVE_INFINITY, sessions: 700 }],
])("the server divides %s free descriptors between callers and mail servers", (limit, shares) => {
  expect(shareDescriptors(limit)).toEqual(shares);
});

test.each([128, 256, 1_024, 4_096])(
  "the server keeps the reserve of %s free descriptors out of the shares",
  (limit) => {
    const { connections, sessions } = shareDescriptors(limit);

    expect(connections + sessions).toBeLessThanOrEqual(limit - Math.min(64, limit * 0.75));
  },
);

test("the process counts the descriptors that it may still open", () => {
  expect(countFreeDescriptors()).toBeGreaterThan(0);
});

test("the gauges show a lack of descriptors, and the log states it once", async () => {
  const { world, logged } = await given();
  let count = 0;
  const watch = createOwnErrorWatch(() => count);

  await watch.run(world);
  const before = await readGauges(world);
  count = 3;
  await watch.run(world);
  await watch.run(world);

  expect(before.resourcesExhausted).toBe(0);
  expect((await readGauges(world)).resourcesExhausted).toBe(3);
  expect(logged.filter(({ event }) => event === "resources_exhausted")).toHaveLength(1);
});

test("the server closes an idle connection for a request when descriptors are few", async () => {
  const folder = createFolder();
  const command = `ulimit -n 512; exec "$0" ${[...PRELOADED, ...MAILPROOF].join(" ")} start`;
  const env = {
    PATH: process.env["PATH"] ?? "",
    MAILPROOF_DIR: folder,
    PORT: "0",
    REACH_DOMAINS: "",
  };
  const server = spawn("sh", ["-c", command, process.execPath], { env, stdio: "ignore" });
  endWithTest(server);
  const file = join(folder, "ready.json");
  while (!existsSync(file)) await setTimeout(20);
  const { base_url: url } = JSON.parse(readFileSync(file, "utf8")) as { base_url: string };

  // The share of all 512 is 224, and the server has opened some of them already.
  for (let count = 0; count < 230; count++) await connectTo(Number(new URL(url).port));

  expect((await fetch(`${url}/health`)).status).toBe(200);
});

const whenStatfs = (answer: () => object): void => {
  vi.spyOn(fs, "statfsSync").mockImplementation(() => answer() as fs.StatsFs);
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
};

test.each(asRows`
  has no limit | ${() => ({ blocks: 0, bavail: 0, bsize: 4_096 })}
  refuses the question | ${() => {
    throw new Error("ENOSYS: function not implemented, statfs");
  }}
`)(
  "the local service accepts paid requests when its disk %s, and omits it from /health",
  async (_how, answer) => {
    const { world, close } = createApp(
      readEnvironment({ MAILPROOF_DIR: createFolder() }),
      () => "",
      null,
    );
    onTestFinished(close);
    whenStatfs(answer);

    expect(world.pressure()).toBeNull();
    const health = await send(world, "GET /health");
    expect(health).toMatchObject({ statusCode: 200, checks: { table: "ok" } });
    expect(health).not.toHaveProperty("checks.disk");
  },
);

test("the local service refuses paid requests with the reason while its disk is full, and charges nothing", async () => {
  const ctx = createApp(readEnvironment({ MAILPROOF_DIR: createFolder() }), () => "", null);
  onTestFinished(() => ctx.close());
  const opening = { name: "Ann's Shop", plan: "pro", opening: credits(10) } as const;
  const { liveKey: key } = await openAccount(ctx.world, opening);
  whenStatfs(() => ({ blocks: 9, bavail: 1, bsize: 1 }));

  const verified = await whenVerified(ctx.world, key, { email: "ann@example.com" });

  expect(verified).toMatchObject({
    statusCode: 503,
    error: {
      message: expect.stringContaining("The disk of this service is full."),
      money: "nothing_charged",
    },
  });
  expect(await send(ctx.world, "GET /health")).toMatchObject({ checks: { disk: "full" } });
  const { data } = await send(ctx.world, "GET /v1/account", { key });
  expect(data.credits.available).toBe(10);
});

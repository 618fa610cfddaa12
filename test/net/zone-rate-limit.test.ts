import { getEventListeners } from "node:events";
import { createLossCheck, createResolverPool } from "@mailproof/net/resolver-pool";
import { sleep } from "@mailproof/net/sleep";
import {
  createPacketBucket,
  createZoneRateLimiter,
  toZone,
  ZONE_RATE_LIMITS,
} from "@mailproof/net/zone-rate-limit";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { serveZone } from "../servers/dns-server.ts";

/** A bucket on a clock that stands still; `slept` is how long each packet had to wait. */
const givenBucket = (packetsPerSecond: number) => {
  let ms = 0;
  const slept: number[] = [];
  const bucket = createPacketBucket(packetsPerSecond, {
    nowMs: () => ms,
    sleep: async (forMs) => void slept.push(forMs),
  });
  const acquireMany = (count: number) =>
    Promise.all(Array.from({ length: count }, () => bucket.take()));
  return {
    bucket,
    slept,
    takeMany: acquireMany,
    later: (passedMs: number) => void (ms += passedMs),
  };
};

test("the rate limit sends a small burst of packets at once, and the rest at its rate", async () => {
  const { takeMany: acquireMany, slept } = givenBucket(100);

  await acquireMany(3);
  expect(slept).toEqual([]);

  await acquireMany(3);
  expect(slept).toEqual([10, 20, 30]);
});

test("no second contains more packets than the rate and one burst", async () => {
  const { takeMany: acquireMany, slept } = givenBucket(800);

  await acquireMany(2000);

  const inFirstSecond = 2000 - slept.filter((ms) => ms >= 1000).length;
  expect(inFirstSecond).toBeLessThanOrEqual(817);
});

test("a pause without queries allows no larger burst afterwards", async () => {
  const { takeMany: acquireMany, slept, later } = givenBucket(100);
  later(60_000);

  await acquireMany(4);

  expect(slept).toEqual([10]);
});

test("packets sent without asking the rate limit delay later packets", async () => {
  const { bucket, takeMany: acquireMany, slept } = givenBucket(100);
  await acquireMany(3);

  bucket.owe(2);
  await bucket.take();

  expect(slept).toEqual([30]);
});

test("the rate limit refuses a packet that would wait too long, and delays no other packet by it", async () => {
  const { takeMany: acquireMany, later } = givenBucket(10);

  const passedCount = await acquireMany(1000);
  expect(passedCount.filter(Boolean)).toHaveLength(101);

  later(1000);
  expect((await acquireMany(1000)).filter(Boolean)).toHaveLength(10);
});

const setup = (lost: readonly number[] = []) => {
  const counts = { asked: 0, losses: 0 };
  let ms = 0;
  const isLossy = createLossCheck({
    askControl: async () => !lost.includes((counts.asked += 1)),
    onLoss: () => {
      counts.losses += 1;
    },
    nowMs: () => ms,
  });
  const wait = (more: number) => {
    ms += more;
  };
  return { isLossy, counts, wait };
};

test("packets count as lost, and only once, when one control query has no answer", async () => {
  const { isLossy, counts } = setup([3]);

  expect(await Promise.all([isLossy(), isLossy()])).toEqual([true, true]);
  expect(counts).toEqual({ asked: 5, losses: 1 });
});

test("packets do not count as lost when each control query has an answer", async () => {
  const { isLossy, counts } = setup();

  expect(await isLossy()).toBe(false);
  expect(counts).toEqual({ asked: 5, losses: 0 });
});

test("the packet-loss check repeats its control queries after a second", async () => {
  const { isLossy, counts, wait } = setup([6]);

  expect(await isLossy()).toBe(false);
  wait(999);
  expect(await isLossy()).toBe(false);
  wait(1);
  expect(await isLossy()).toBe(true);
  expect(counts.asked).toBe(10);
});

describe("sleep", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("sleep ends after its time, and leaves nothing at its signal", async () => {
    const { signal } = new AbortController();
    const slept = sleep(1_000, signal);
    await vi.advanceTimersByTimeAsync(1_000);

    await slept;
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("sleep ends without an error when its signal fires, and leaves no timer", async () => {
    const controller = new AbortController();
    const slept = sleep(1_000, controller.signal);
    controller.abort("finished");

    expect(await slept).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("sleep ends at once when its signal has fired before", async () => {
    const slept = sleep(1_000, AbortSignal.abort());

    expect(await slept).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("DNS queries in one zone", () => {
  // How many questions about one zone go out, on a clock that stands still: `waitedMs` is how long each had to wait.

  const CEILINGS = {
    ordinary: { perSecond: 10, burst: 5 },
    wide: { perSecond: 100, burst: 50 },
    wideZones: new Set(["outlook.com"]),
  };

  const setup = (ceilings = CEILINGS) => {
    let waitedMs: number[] = [];
    const ceiling = createZoneRateLimiter(ceilings, {
      nowMs: () => 0,
      sleep: async (ms) => void waitedMs.push(ms),
    });
    const askAll = async (names: readonly string[]) => {
      waitedMs = [];
      const mayGo = await Promise.all(names.map((name) => ceiling.wait(name)));
      return { waitedMs, refused: mayGo.filter((may) => !may).length };
    };
    return { askAll };
  };

  const below = (zone: string, count: number) =>
    Array.from({ length: count }, (_, n) => `r${n}.${zone}`);

  test("DNS queries below one domain above the burst wait for their turn", async () => {
    const { askAll } = setup();

    const { waitedMs } = await askAll(below("example.com", 9));

    expect(waitedMs).toEqual([100, 200, 300]);
  });

  test("many queries below one domain delay no other domain's query", async () => {
    const { askAll } = setup();
    await askAll(below("flooded.com", 100));

    expect(await askAll(["other.com", "a.co.uk", "b.co.uk"])).toEqual({ waitedMs: [], refused: 0 });
  });

  test("the rate limit refuses a DNS query that would wait too long", async () => {
    const { askAll } = setup();

    const { waitedMs, refused } = await askAll(below("example.com", 1_000));

    expect(Math.max(...waitedMs)).toBeLessThanOrEqual(10_000);
    expect(refused).toBeGreaterThan(800);
  });

  test("a provider with one host name for each customer gets a higher ceiling", async () => {
    const { askAll } = setup();

    const { waitedMs } = await askAll(below("mail.protection.outlook.com", 50));

    expect(waitedMs).toEqual([]);
  });

  test.each([
    ["example.com", "example.com"],
    ["a.b.Example.COM.", "example.com"],
    ["a.example.co.uk", "example.co.uk"],
    ["a.example.com.br", "example.com.br"],
    ["a.b.example.de", "example.de"],
    ["com", "com"],
    ["4.3.2.1.in-addr.arpa", "2.1.in-addr.arpa"],
    ["5.4.3.2.1.in-addr.arpa", "2.1.in-addr.arpa"],
    ["a.lab.test", "lab.test"],
  ])("the name %s belongs to the zone %s", (name, zone) => {
    expect(toZone(name)).toBe(zone);
  });

  test("one check of a domain waits for nothing with the default limits", async () => {
    const { askAll } = setup(ZONE_RATE_LIMITS as typeof CEILINGS);

    expect(await askAll(below("example.com", 250))).toEqual({ waitedMs: [], refused: 0 });
  });

  test("no second contains more queries than the rate and one burst with the default limits", async () => {
    const { askAll } = setup(ZONE_RATE_LIMITS as typeof CEILINGS);

    const { waitedMs } = await askAll(below("example.com", 5_000));

    const inFirstSecond = 5_000 - waitedMs.filter((ms) => ms >= 1_000).length;
    expect(waitedMs.filter((ms) => ms < 1_000).length).toBeLessThanOrEqual(100);
    expect(inFirstSecond).toBeGreaterThan(0);
  });

  test("a resolver's client sends no more queries about one domain than its ceiling allows", async () => {
    const server = await serveZone({
      "flooded.com": { A: ["8.8.8.8"] },
      "other.com": { A: ["8.8.8.8"] },
    });
    // A question in twenty seconds: the turn of a fourth is further off than a question waits.
    const ordinary = { perSecond: 0.05, burst: 2 };
    const dns = createResolverPool({
      servers: [server.address],
      packetsPerSecond: 10_000,
      zoneLimits: { ...CEILINGS, ordinary },
    });
    onTestFinished(async () => {
      dns.close();
      await server.close();
    });

    const flood = await Promise.all(below("flooded.com", 50).map((name) => dns("A", name)));
    const other = await dns("A", "other.com");

    expect(other).toEqual({ kind: "ok", records: ["8.8.8.8"] });
    expect(flood.filter(({ kind }) => kind === "timeout")).toHaveLength(47);
    expect(server.questions.filter((question) => question.endsWith("flooded.com"))).toHaveLength(3);
  });
});

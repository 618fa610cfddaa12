import { getEventListeners } from "node:events";
import { createPacketBucket } from "@mailproof/net/packet-bucket";
import { createLossCheck } from "@mailproof/net/packet-loss";
import { sleep } from "@mailproof/net/sleep";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

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

test("a small burst goes out at once, and the rest at the rate", async () => {
  const { takeMany: acquireMany, slept } = givenBucket(100);

  await acquireMany(3);
  expect(slept).toEqual([]);

  await acquireMany(3);
  expect(slept).toEqual([10, 20, 30]);
});

test("no second sees more than the rate and one burst", async () => {
  const { takeMany: acquireMany, slept } = givenBucket(800);

  await acquireMany(2000);

  const inFirstSecond = 2000 - slept.filter((ms) => ms >= 1000).length;
  expect(inFirstSecond).toBeLessThanOrEqual(817);
});

test("a pause does not save up for a flood", async () => {
  const { takeMany: acquireMany, slept, later } = givenBucket(100);
  later(60_000);

  await acquireMany(4);

  expect(slept).toEqual([10]);
});

test("packets that went out unasked are waited for", async () => {
  const { bucket, takeMany: acquireMany, slept } = givenBucket(100);
  await acquireMany(3);

  bucket.owe(2);
  await bucket.take();

  expect(slept).toEqual([30]);
});

test("a packet whose turn is too far off is refused, and takes no turn from others", async () => {
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

test("packets are lost if one control question has no answer, and this is counted once", async () => {
  const { isLossy, counts } = setup([3]);

  expect(await Promise.all([isLossy(), isLossy()])).toEqual([true, true]);
  expect(counts).toEqual({ asked: 5, losses: 1 });
});

test("packets are not lost if each control question has an answer", async () => {
  const { isLossy, counts } = setup();

  expect(await isLossy()).toBe(false);
  expect(counts).toEqual({ asked: 5, losses: 0 });
});

test("a check is valid for a second, however many questions it decides about", async () => {
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

  test("it ends after its time, and leaves nothing at its signal", async () => {
    const { signal } = new AbortController();
    const slept = sleep(1_000, signal);
    await vi.advanceTimersByTimeAsync(1_000);

    await slept;
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("it ends without an error when its signal fires, and leaves no timer", async () => {
    const controller = new AbortController();
    const slept = sleep(1_000, controller.signal);
    controller.abort("finished");

    expect(await slept).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("it ends at once if its signal has fired before", async () => {
    const slept = sleep(1_000, AbortSignal.abort());

    expect(await slept).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });
});

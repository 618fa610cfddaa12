import { createPacketBucket } from "@mailproof/net/packet-bucket";
import { expect, test } from "vitest";

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

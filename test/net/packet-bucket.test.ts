import { packetBucket } from "@mailproof/net/packet-bucket";
import { expect, test } from "vitest";

/** A bucket on a clock that stands still; `slept` is how long each packet was told to wait. */
const givenBucket = (packetsPerSecond: number) => {
  let ms = 0;
  const slept: number[] = [];
  const bucket = packetBucket(packetsPerSecond, {
    nowMs: () => ms,
    sleep: async (forMs) => void slept.push(forMs),
  });
  const takeMany = (count: number) =>
    Promise.all(Array.from({ length: count }, () => bucket.take()));
  return { bucket, slept, takeMany, later: (passedMs: number) => void (ms += passedMs) };
};

test("a small burst goes out at once, and the rest at the rate", async () => {
  const { takeMany, slept } = givenBucket(100);

  await takeMany(3);
  expect(slept).toEqual([]);

  await takeMany(3);
  expect(slept).toEqual([10, 20, 30]);
});

test("no second sees more than the rate and one burst", async () => {
  const { takeMany, slept } = givenBucket(800);

  await takeMany(2000);

  const inFirstSecond = 2000 - slept.filter((ms) => ms >= 1000).length;
  expect(inFirstSecond).toBeLessThanOrEqual(817);
});

test("a pause does not save up for a flood", async () => {
  const { takeMany, slept, later } = givenBucket(100);
  later(60_000);

  await takeMany(4);

  expect(slept).toEqual([10]);
});

test("packets that went out unasked are waited for", async () => {
  const { bucket, takeMany, slept } = givenBucket(100);
  await takeMany(3);

  bucket.owe(2);
  await bucket.take();

  expect(slept).toEqual([30]);
});

test("a packet whose turn is too far off is told so, and takes no turn from others", async () => {
  const { takeMany, later } = givenBucket(10);

  const taken = await takeMany(1000);
  expect(taken.filter(Boolean)).toHaveLength(101);

  later(1000);
  expect((await takeMany(1000)).filter(Boolean)).toHaveLength(10);
});

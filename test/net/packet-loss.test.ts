import { createLossCheck } from "@mailproof/net/packet-loss";
import { expect, test } from "vitest";

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

import { getEventListeners } from "node:events";
import { sleep } from "@mailproof/net/sleep";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

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

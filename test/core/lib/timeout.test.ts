import { withTimeout } from "@mailproof/core/lib/timeout";
import { expect, test } from "vitest";
import { givenWorld } from "../../given.ts";

const after = async (world: ReturnType<typeof givenWorld>["world"], ms: number) => {
  await world.sleep(ms);
  return "done";
};

test.each([
  [9, "done"],
  [11, "late"],
])("of work that takes %d ms, ten milliseconds bring: %s", async (ms, outcome) => {
  const { world } = givenWorld();

  expect(await withTimeout(world, 10, after(world, ms))).toBe(outcome);
});

test("work that breaks in time breaks the waiting, too", async () => {
  const { world } = givenWorld();

  await expect(withTimeout(world, 10, Promise.reject(new Error("broken")))).rejects.toThrow(
    "broken",
  );
});

test("work that fails after its timeout is no unhandled rejection", async () => {
  const { world } = givenWorld();
  const breaking = after(world, 20).then(() => Promise.reject(new Error("broken")));

  expect(await withTimeout(world, 10, breaking)).toBe("late");
  await world.sleep(100);
});

test.each(["before", "during"])(
  "work is late at once when the signal fires %s it",
  async (when) => {
    const { world } = givenWorld();
    const { signal, abort } = createSignal();
    if (when === "before") abort();
    const work = Promise.withResolvers<string>();

    const outcome = withTimeout(world, 60_000, work.promise, signal);
    abort();

    expect(await outcome).toBe("late");
    work.reject(new Error("broken"));
  },
);

const createSignal = () => {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
};

test("the timer is aborted once the work is done", async () => {
  const { world } = givenWorld();
  const signals: (AbortSignal | undefined)[] = [];
  const sleep: typeof world.sleep = (ms, signal) => {
    signals.push(signal);
    return world.sleep(ms, signal);
  };

  await withTimeout({ sleep }, 60_000, Promise.resolve("done"));

  expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
});

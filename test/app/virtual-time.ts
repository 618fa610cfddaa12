import type { World } from "@mailproof/core/ports/world";
import { isAnyCallPending } from "../aws/pending-calls.ts";

type Sleeper = { readonly at: number; readonly order: number; readonly wake: () => void };

/** The sleepers by the time when they wake, and of one time by the order in which they fell asleep: a binary heap. */
const createSleepers = () => {
  const heap: Sleeper[] = [];
  const isBefore = (a: Sleeper, b: Sleeper) => a.at - b.at || a.order - b.order;
  const swap = (a: number, b: number): void => {
    [heap[a], heap[b]] = [heap[b] as Sleeper, heap[a] as Sleeper];
  };
  const up = (from: number): void => {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (isBefore(heap[at] as Sleeper, heap[parent] as Sleeper) >= 0) return;
      swap(at, parent);
      at = parent;
    }
  };
  const down = (from: number): void => {
    for (let at = from; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let least = at;
      for (const child of [left, right])
        if (child < heap.length && isBefore(heap[child] as Sleeper, heap[least] as Sleeper) < 0)
          least = child;
      if (least === at) return;
      swap(at, least);
      at = least;
    }
  };
  const take = (): Sleeper | undefined => {
    const [first] = heap;
    const last = heap.pop();
    if (!first || !last || first === last) return first;
    heap[0] = last;
    down(0);
    return first;
  };
  return {
    size: () => heap.length,
    add: (sleeper: Sleeper): void => {
      heap.push(sleeper);
      up(heap.length - 1);
    },
    take,
  };
};

/**
 * A clock that stands still while anything can happen without it, and then goes to the next moment that a caller
 * waits for. So an hour takes no time, and who sleeps shorter wakes first.
 */
export const createVirtualTime = (start: Date) => {
  let ms = start.getTime();
  /** By how much the clock is wrong. Sleepers do not look at it. */
  let offsetMs = 0;
  const sleepers = createSleepers();
  const awake = new Set<Sleeper>();
  let order = 0;
  let isPumping = false;

  /** A turn of the event loop comes only when no promise is left to be settled. */
  const scheduleWake = (): void => {
    isPumping = sleepers.size() > 0;
    if (isPumping) setImmediate(wakeNext);
  };

  const wakeNext = (): void => {
    // An answer from outside the process takes real time, and none of this one.
    if (isAnyCallPending()) return void setTimeout(scheduleWake, 1);
    let next = sleepers.take();
    while (next && awake.delete(next)) next = sleepers.take();
    if (next) {
      ms = Math.max(ms, next.at);
      next.wake();
    }
    scheduleWake();
  };

  const sleep: World["sleep"] = (passed, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      let isAsleep = true;
      const wake = (): void => {
        isAsleep = false;
        resolve();
      };
      const sleeper = { at: ms + passed, order: order++, wake };
      signal?.addEventListener("abort", () => {
        // One that is awake already moves no clock when its time comes.
        if (isAsleep) awake.add(sleeper);
        wake();
      });
      sleepers.add(sleeper);
      if (!isPumping) scheduleWake();
    });

  return {
    now: () => new Date(ms + offsetMs),
    later: (passed: number) => {
      ms += passed;
    },
    /** Sets the clock forwards or back. No sleep is longer or shorter for it. */
    jump: (by: number) => {
      offsetMs += by;
    },
    sleep,
  };
};

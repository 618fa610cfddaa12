import type { World } from "@mailproof/core/ports/world";
import { isAnybodyBusy } from "./aws/pending-calls.ts";

type Sleeper = { readonly at: number; readonly wake: () => void };

/**
 * A clock that stands still while anything can happen without it, and then goes to the next moment that somebody
 * waits for. So an hour takes no time, and who sleeps shorter wakes first.
 */
export const createVirtualTime = (start: Date) => {
  let ms = start.getTime();
  /** By how much the clock is wrong. Sleepers do not look at it. */
  let offsetMs = 0;
  let sleepers: Sleeper[] = [];
  let isPumping = false;

  /** A turn of the event loop comes only when no promise is left to be settled. */
  const scheduleWake = (): void => {
    isPumping = sleepers.length > 0;
    if (isPumping) setImmediate(wakeNext);
  };

  const wakeNext = (): void => {
    // An answer from outside the process takes real time, and none of this one.
    if (isAnybodyBusy()) return void setTimeout(scheduleWake, 1);
    const next = sleepers.reduce<Sleeper | undefined>(
      (first, one) => (first && first.at <= one.at ? first : one),
      undefined,
    );
    if (next) {
      sleepers = sleepers.filter((one) => one !== next);
      ms = Math.max(ms, next.at);
      next.wake();
    }
    scheduleWake();
  };

  const sleep: World["sleep"] = (passed, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const sleeper = { at: ms + passed, wake: resolve };
      signal?.addEventListener("abort", () => {
        sleepers = sleepers.filter((one) => one !== sleeper);
        resolve();
      });
      sleepers.push(sleeper);
      if (!isPumping) scheduleWake();
    });

  return {
    now: () => new Date(ms + offsetMs),
    later: (passed: number) => {
      ms += passed;
    },
    /** Sets the clock forwards or back. Nobody sleeps longer or shorter for it. */
    jump: (by: number) => {
      offsetMs += by;
    },
    sleep,
  };
};

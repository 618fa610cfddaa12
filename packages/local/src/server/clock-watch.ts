import { performance } from "node:perf_hooks";
import { recordIncident } from "@mailproof/core/background/incidents";
import { CLOCK_SKEW_MS } from "@mailproof/core/lib/time";
import type { Key } from "@mailproof/core/ports/table";
import type { World } from "@mailproof/core/ports/world";
import type { Schedule } from "@mailproof/core/runtime/worker";
import * as v from "valibot";

// Layout
//
//   pk     sk      what
//   CLOCK  LATEST  at: the latest time of any server of this folder

const KEY: Key = { pk: "CLOCK", sk: "LATEST" };
const Latest = v.object({ at: v.string() });

/** NTP adjusts a clock by smaller steps. */
const JUMP_MS = 5_000;
/** The interval at which the watch stores the latest time. */
const STORE_EVERY_MS = 60_000;

/**
 * Compares the clock with a monotonic one, and at the start with the latest time of an earlier process. A jump is
 * logged and shown in the gauges for an hour. Every reader treats a time that is too far ahead as already over.
 */
export const createClockWatch = (steadyMs: () => number = () => performance.now()): Schedule => {
  let storedMs = Number.NEGATIVE_INFINITY;
  let last: { readonly wallMs: number; readonly steadyMs: number } | undefined;

  const measureJump = async (world: World, wallMs: number): Promise<number> => {
    if (last) return wallMs - last.wallMs - (steadyMs() - last.steadyMs);
    const stored = v.safeParse(Latest, await world.table.get(KEY));
    // A later time after a stop is no jump.
    const behindMs = stored.success ? wallMs - Date.parse(stored.output.at) : 0;
    return behindMs < -CLOCK_SKEW_MS ? behindMs : 0;
  };

  return {
    name: "watch the clock",
    everySeconds: 1,
    async run(world) {
      const wallMs = world.now().getTime();
      const byMs = await measureJump(world, wallMs);
      last = { wallMs, steadyMs: steadyMs() };
      const isJump = Math.abs(byMs) >= JUMP_MS;
      if (isJump || last.steadyMs - storedMs >= STORE_EVERY_MS) {
        storedMs = last.steadyMs;
        await world.table.write({ put: { ...KEY, at: new Date(wallMs).toISOString() } });
      }
      if (!isJump) return;
      const seconds = Math.round(byMs / 1000);
      world.log("clock_jumped", { seconds });
      await recordIncident(world, "clock_jumped", seconds);
    },
  };
};

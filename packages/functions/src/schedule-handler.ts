import type { AppWorld } from "@mailproof/core/app-world";
import type { Schedule } from "@mailproof/core/runtime/worker";
import { createChain, hideCause } from "./chain.ts";

/** The whole Lambda of one schedule. AWS counts a thrown error, and an alarm watches that count. */
export const createScheduleHandler = (schedule: Schedule<AppWorld>, world: AppWorld) =>
  createChain<unknown, void>([
    hideCause(world.log, "schedule_failed", { schedule: schedule.name }),
  ]).handler(() => schedule.run(world));

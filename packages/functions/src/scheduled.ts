import type { Schedule } from "@mailproof/core/worker";
import type { World } from "@mailproof/core/world";
import { toldByLog } from "./told-by-log.ts";

/** The whole Lambda of one schedule. What it throws is counted by AWS as an error, and there is an alarm on those. */
export const scheduled = (schedule: Schedule, world: World) => (): Promise<void> =>
  toldByLog(world.log, "schedule_failed", { schedule: schedule.name }, () => schedule.run(world));

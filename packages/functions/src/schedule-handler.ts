import type { AppWorld } from "@mailproof/core/app-world";
import type { Schedule } from "@mailproof/core/runtime/worker";
import { withErrorBoundary } from "./error-boundary.ts";

/** The whole Lambda of one schedule. AWS counts a thrown error, and an alarm watches that count. */
export const createScheduleHandler =
  (schedule: Schedule<AppWorld>, world: AppWorld) => (): Promise<void> =>
    withErrorBoundary(world.log, "schedule_failed", { schedule: schedule.name }, () =>
      schedule.run(world),
    );

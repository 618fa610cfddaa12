import { readGauges } from "@mailproof/core/gauges";
import { putMetric } from "../measure.ts";
import { createScheduleHandler } from "../scheduled.ts";
import { createLambdaWorld } from "../world.ts";

/** What an operator's alarms go by: nothing else would say that repairs stand still. */
const gauge = {
  name: "gauge",
  everySeconds: 60,
  async run(world: ReturnType<typeof createLambdaWorld>) {
    const { dueAgeSeconds, heldOverAnHour, dueMisplaced } = await readGauges(world);
    putMetric("due_age_seconds", dueAgeSeconds, world.now());
    putMetric("due_misplaced", dueMisplaced, world.now());
    putMetric("held_over_an_hour", heldOverAnHour, world.now());
  },
};

export const handler = createScheduleHandler(gauge, createLambdaWorld());

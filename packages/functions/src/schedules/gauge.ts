import { readGauges } from "@mailproof/core/background/gauges";
import { createLambdaWorld } from "../lambda-world.ts";
import { putMetric } from "../put-metric.ts";
import { createScheduleHandler } from "../schedule-handler.ts";

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

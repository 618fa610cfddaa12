import { readGauges } from "@mailproof/core/background/gauges";
import { createLambdaWorld } from "../lambda-world.ts";
import { putMetric } from "../put-metric.ts";
import { createScheduleHandler } from "../schedule-handler.ts";

/** The gauges of the operator's alarms: nothing else would show that repairs have stopped. */
const gauge = {
  name: "gauge",
  everySeconds: 60,
  async run(world: ReturnType<typeof createLambdaWorld>) {
    const gauges = await readGauges(world);
    const { dueAgeSeconds, heldOverAnHour, dueMisplaced, providersInDoubt } = gauges;
    putMetric("due_age_seconds", dueAgeSeconds, world.now());
    putMetric("due_misplaced", dueMisplaced, world.now());
    putMetric("held_over_an_hour", heldOverAnHour, world.now());
    putMetric("providers_in_doubt", providersInDoubt, world.now());
  },
};

export const handler = createScheduleHandler(gauge, createLambdaWorld());

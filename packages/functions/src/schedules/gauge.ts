import { readGauges } from "@mailproof/core/background/gauges";
import { createLambdaWorld } from "../lambda-world.ts";
import { putMetric } from "../metrics.ts";
import { createScheduleHandler } from "../schedule-handler.ts";

/** The gauges of the operator's alarms: nothing else would show that repairs have stopped. */
const gauge = {
  name: "gauge",
  everySeconds: 60,
  async run(world: ReturnType<typeof createLambdaWorld>) {
    const gauges = await readGauges(world);
    putMetric("due_age_seconds", gauges.dueAgeSeconds);
    putMetric("due_misplaced", gauges.dueMisplaced);
    putMetric("held_over_an_hour", gauges.heldOverAnHour);
    putMetric("providers_in_doubt", gauges.providersInDoubt);
    putMetric("mail_providers_blocked", gauges.mailProvidersBlocked);
  },
};

export const handler = createScheduleHandler(gauge, createLambdaWorld());

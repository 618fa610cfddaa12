import { readGauges } from "@mailproof/core/background/gauges";
import { createLambdaWorld } from "../lambda-world.ts";
import { metrics } from "../metrics.ts";
import { createScheduleHandler } from "../schedule-handler.ts";

/** The gauges of the operator's alarms: nothing else would show that repairs have stopped. */
const gauge = {
  name: "gauge",
  everySeconds: 60,
  async run(world: ReturnType<typeof createLambdaWorld>) {
    const gauges = await readGauges(world);
    metrics.set("mailproof_due_age_seconds", gauges.dueAgeSeconds);
    metrics.set("mailproof_due_misplaced_items", gauges.dueMisplaced);
    metrics.set("mailproof_credits_held_over_an_hour", gauges.heldOverAnHour);
    metrics.set("mailproof_mail_providers_in_doubt", gauges.providersInDoubt);
    metrics.set("mailproof_mail_providers_blocked", gauges.mailProvidersBlocked);
  },
};

export const handler = createScheduleHandler(gauge, createLambdaWorld());

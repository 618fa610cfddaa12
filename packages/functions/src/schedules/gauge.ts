import { readGauges } from "@mailproof/core/gauges";
import { measure } from "../measure.ts";
import { scheduled } from "../scheduled.ts";
import { awsWorld } from "../world.ts";

/** What an operator's alarms go by: nothing else would say that repairs stand still. */
const gauge = {
  name: "gauge",
  everySeconds: 60,
  async run(world: ReturnType<typeof awsWorld>) {
    const { dueAgeSeconds, heldOverAnHour, dueMisplaced } = await readGauges(world);
    measure("due_age_seconds", dueAgeSeconds, world.now());
    measure("due_misplaced", dueMisplaced, world.now());
    measure("held_over_an_hour", heldOverAnHour, world.now());
  },
};

export const handler = scheduled(gauge, awsWorld());

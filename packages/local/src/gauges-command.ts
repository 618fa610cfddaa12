import { readGauges } from "@mailproof/core/gauges";
import * as v from "valibot";
import { inHouse } from "./admin.ts";

/** Repairs look each minute, so what is later than this stands still. On AWS the same numbers ring (infra/cdk/alarms.ts). */
const DUE_AGE_SECONDS_MAX = 300;

export const gaugesCommand = inHouse({
  name: "admin gauges",
  usage: "",
  options: v.strictObject({}),
  async run(world) {
    const { dueAgeSeconds, heldOverAnHour } = await readGauges(world);
    const dead = await world.queue.countDead();
    const isWell = dueAgeSeconds < DUE_AGE_SECONDS_MAX && heldOverAnHour === 0 && dead === 0;
    const output = {
      ok: isWell,
      due_age_seconds: dueAgeSeconds,
      credits_held_over_an_hour: heldOverAnHour,
      dead_letters: dead,
    };
    return { output, exitCode: isWell ? 0 : 1 };
  },
});

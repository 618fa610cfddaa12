import { readGauges } from "@mailproof/core/background/gauges";
import * as v from "valibot";
import { defineAdmin } from "./define-admin.ts";

/** Repairs run each minute, so an older item is stuck. On AWS the same numbers raise alarms (infra/cdk/alarms.ts). */
const DUE_AGE_SECONDS_MAX = 300;

export const gaugesDefinition = defineAdmin({
  usage: "",
  options: v.strictObject({}),
  async run(world) {
    const gauges = await readGauges(world);
    const dead = await world.queue.countDeadLetters();
    const { dueAgeSeconds, ...others } = gauges;
    const isHealthy =
      dueAgeSeconds < DUE_AGE_SECONDS_MAX &&
      [...Object.values(others), dead].every((value) => value === 0);
    const output = {
      ok: isHealthy,
      due_age_seconds: dueAgeSeconds,
      due_misplaced: gauges.dueMisplaced,
      credits_held_over_an_hour: gauges.heldOverAnHour,
      clock_jump_seconds: gauges.clockJumpSeconds,
      resources_exhausted: gauges.resourcesExhausted,
      providers_in_doubt: gauges.providersInDoubt,
      mail_providers_blocked: gauges.mailProvidersBlocked,
      dead_letters: dead,
    };
    return { output, exitCode: isHealthy ? 0 : 1 };
  },
});

import { readGauges } from "@mailproof/core/background/gauges";
import { workers } from "@mailproof/core/background/workers";
import { redact } from "@mailproof/core/lib/redact";
import type { Json } from "@mailproof/core/ports/table";
import * as v from "valibot";
import { defineAdmin } from "./define-admin.ts";

/** Repairs run each minute, so an older item is stuck. On AWS the same numbers raise alarms (infra/cdk/alarms.ts). */
const DUE_AGE_SECONDS_MAX = 300;

const LISTED_MAX = 100;
const QUEUE_NAMES = workers
  .map(({ queue }) => queue.name)
  .filter((name) => !name.endsWith("-dead"));
const QueueName = v.picklist(QUEUE_NAMES, `must be one of ${QUEUE_NAMES.join(", ")}`);

export const machineDefinitions = {
  "admin dead-letters list": defineAdmin({
    usage: "",
    options: v.strictObject({}),
    async run({ queue }) {
      const messages = queue.listDead(LISTED_MAX).map((one) => redact(one) as Json);
      return { output: { waiting: await queue.countDeadLetters(), messages } };
    },
  }),

  "admin dead-letters replay": defineAdmin({
    usage: `--queue ${QUEUE_NAMES.join("|")}`,
    options: v.strictObject({ queue: QueueName }),
    async run(world, { queue }) {
      return { output: { queue, replayed: await world.queue.replay(queue) } };
    },
  }),

  "admin gauges": defineAdmin({
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
  }),
};

/**
 * Handlers of the topology that are not written yet. It only ever gets shorter; a product that can be deployed has
 * nothing here.
 */
export const NOT_BUILT_YET: readonly string[] = [
  "packages/functions/src/workers/prober.handler",
  "packages/functions/src/workers/singles.handler",
  "packages/functions/src/workers/chunks.handler",
  "packages/functions/src/workers/monitors.handler",
  "packages/functions/src/workers/activity.handler",
  "packages/functions/src/workers/singles-dead.handler",
  "packages/functions/src/workers/chunks-dead.handler",
  "packages/functions/src/workers/monitors-dead.handler",
  "packages/functions/src/schedules/reconcile.handler",
  "packages/functions/src/schedules/gauge.handler",
  "packages/functions/src/schedules/audit.handler",
];

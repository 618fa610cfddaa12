import type { AppWorld } from "../app-world.ts";
import { queueLetters } from "../mails/week.ts";
import { type Schedule, type Worker, withDeadLetterWorkers } from "../runtime/worker.ts";
import { reconcile } from "./reconciler.ts";
import * as work from "./work.ts";

/** Both runtimes run exactly these workers and schedules. */
export const workers: readonly Worker<AppWorld>[] = withDeadLetterWorkers<AppWorld>(
  Object.values(work)
    .filter((one) => "queue" in one)
    // Vitest and Node list the names of a module in different orders.
    .toSorted((a, b) => a.queue.name.localeCompare(b.queue.name)),
);
export const schedules: readonly Schedule<AppWorld>[] = [reconcile, queueLetters];

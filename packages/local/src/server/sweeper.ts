import { readIncident } from "@mailproof/core/background/incidents";
import type { Schedule } from "@mailproof/core/runtime/worker";
import type { SqliteTable } from "../storage/sqlite-table.ts";

const BATCH = 1_000;
// Bounded, so that a large number of expired items never delays callers.
const BATCHES_MAX = 50;

/** DynamoDB deletes expired items automatically; SQLite does not. */
export const createSweeper = (table: SqliteTable): Schedule => ({
  name: "sweep expired items",
  everySeconds: 60,
  async run(world) {
    // Items that expired by a clock jump survive when somebody corrects the clock within the hour.
    if ((await readIncident(world, "clock_jumped")) !== 0) return;
    for (let batch = 0; batch < BATCHES_MAX; batch++)
      if ((await table.sweep(BATCH)) < BATCH) return;
  },
});

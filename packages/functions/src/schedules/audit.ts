import { audit } from "@mailproof/core/background/audit";
import { createLambdaWorld } from "../lambda-world.ts";
import { metrics } from "../metrics.ts";
import { createScheduleHandler } from "../schedule-handler.ts";

/** Runs `mailproof admin audit` each day, for an alarm. */
const auditDaily = {
  name: "audit",
  everySeconds: 86_400,
  async run(world: ReturnType<typeof createLambdaWorld>) {
    const { violations, accounts, late } = await audit(world.table, world.now());
    for (const violation of violations) world.log("invariant_broken", violation);
    for (const entries of late) world.log("late_entries_found", entries);
    world.log("audited", { accounts, violations: violations.length });
    metrics.set("mailproof_audit_violations", violations.length);
  },
};

export const handler = createScheduleHandler(auditDaily, createLambdaWorld());

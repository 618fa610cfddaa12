import { audit } from "@mailproof/core/money/audit";
import { measure } from "../measure.ts";
import { scheduled } from "../scheduled.ts";
import { awsWorld } from "../world.ts";

/** The same as `mailproof admin audit`, each day, for an alarm. */
const auditDaily = {
  name: "audit",
  everySeconds: 86_400,
  async run(world: ReturnType<typeof awsWorld>) {
    const { violations, accounts } = await audit(world.table, world.now());
    for (const violation of violations) world.log("law_broken", violation);
    world.log("audited", { accounts, violations: violations.length });
    measure("audit_violations", violations.length, world.now());
  },
};

export const handler = scheduled(auditDaily, awsWorld());

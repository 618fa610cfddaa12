import { recordIncident } from "@mailproof/core/background/incidents";
import type { Schedule } from "@mailproof/core/runtime/worker";
import { countOwnErrors } from "@mailproof/net/local-resource-errors";

/** Records in the gauges how often this process has lacked descriptors, memory or ports since its start. */
export const createOwnErrorWatch = (count: () => number = countOwnErrors): Schedule => {
  let seen = 0;
  return {
    name: "watch own errors",
    everySeconds: 5,
    async run(world) {
      const total = count();
      if (total === seen) return;
      world.log("resources_exhausted", { times: total - seen });
      seen = total;
      await recordIncident(world, "resources_exhausted", total);
    },
  };
};

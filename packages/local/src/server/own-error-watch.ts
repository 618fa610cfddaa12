import { recordIncident } from "@mailproof/core/background/incidents";
import type { Schedule } from "@mailproof/core/runtime/worker";
import { countOwnErrors } from "@mailproof/net/local-resource-errors";

/** Puts into the gauges how often the process lacked descriptors, memory or ports since it started, while it does. */
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

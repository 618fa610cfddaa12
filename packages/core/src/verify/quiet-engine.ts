import type { Engine } from "./engine.ts";

/** Where no caller waits for a list, providers are as mail-provider-table.ts says, and no figures are kept. */
export const QUIET_ENGINE: Pick<Engine, "beliefs" | "yieldToCallers" | "onVerification"> = {
  beliefs: {
    canaries: { draw: () => false, isDoubted: async () => false, record: async () => undefined },
    hasLearnedBounces: async () => false,
  },
  yieldToCallers: () => undefined,
  onVerification: () => undefined,
};

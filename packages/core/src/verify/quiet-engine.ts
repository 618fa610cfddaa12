/** Parts of an engine where no list waits for callers, providers are as mail-provider-table.ts says, and nothing is counted. */
export const QUIET_ENGINE = {
  beliefs: {
    canaries: { draw: () => false, isDoubted: async () => false, record: async () => undefined },
    hasLearnedBounces: async () => false,
  },
  yieldToCallers: () => undefined,
  onVerification: () => undefined,
};

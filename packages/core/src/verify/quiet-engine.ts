/** Default parts of an engine: no list waits for callers, providers behave as mail-provider-table.ts states, and nothing is counted. */
export const QUIET_ENGINE = {
  beliefs: {
    canaries: { draw: () => false, isDoubted: async () => false, record: async () => undefined },
    hasLearnedBounces: async () => false,
  },
  yieldToCallers: () => undefined,
  onVerification: () => undefined,
};

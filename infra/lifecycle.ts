/** What happens to resources when a stage is removed. Production's are retained; a developer's stage leaves none. */
export const isPermanent = (stage: string): boolean => stage === "production";

/** The options that SST needs before it creates resources. */
export const getLifecycle = (stage: string) =>
  isPermanent(stage)
    ? ({ protect: true, removal: "retain" } as const)
    : ({ protect: false, removal: "remove" } as const);

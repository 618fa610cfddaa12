/** How long what is deployed lives. Production outlasts every mistake; a stage of one's own leaves no trace. */
export const isPermanent = (stage: string): boolean => stage === "production";

/** What sst itself must know before anything is made. */
export const getLifecycle = (stage: string) =>
  isPermanent(stage)
    ? ({ protect: true, removal: "retain" } as const)
    : ({ protect: false, removal: "remove" } as const);

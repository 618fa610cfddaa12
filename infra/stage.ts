/** How long what is deployed lives. Production outlasts every mistake; a stage of one's own leaves no trace. */
export const isLasting = (stage: string): boolean => stage === "production";

/** What sst itself must know before anything is made. */
export const lifeOf = (stage: string) =>
  isLasting(stage)
    ? ({ protect: true, removal: "retain" } as const)
    : ({ protect: false, removal: "remove" } as const);

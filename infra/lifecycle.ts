/** What happens to resources when a stage is removed. Production's are retained; a developer's stage leaves none. */
export const isPermanent = (stage: string): boolean => stage === "production";

type Named = { readonly OWNER?: string | undefined; readonly CALL_EMAIL?: string | undefined };

/** Names who answers for a stage. A developer's own stage has the developer's name. */
export const findOwner = (stage: string, { OWNER, CALL_EMAIL }: Named): string =>
  OWNER || CALL_EMAIL || stage;

/** Each resource carries these tags, so a bill divides the account's costs by stage and by owner. */
export const createTags = (stage: string, owner: string) => ({ "mailproof:stage": stage, owner });

/** The options that SST needs before it creates resources. */
export const getLifecycle = (stage: string) =>
  isPermanent(stage)
    ? ({ protect: true, removal: "retain" } as const)
    : ({ protect: false, removal: "remove" } as const);

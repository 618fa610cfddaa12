/** A caller waits for the response; rows of a list wait for their job. */
export type Priority = "caller" | "list";

/** The account that a probe is for, and its priority. Mail servers never see either. */
export type Requester = { readonly account: string; readonly priority: Priority };

/** In the order in which they are served. */
export const PRIORITIES = ["caller", "list"] as const satisfies readonly Priority[];

/** The command line verifies for one person alone. */
export const SOLE_REQUESTER: Requester = { account: "", priority: "list" };

/**
 * Each step of a list waits for it while the process has callers to serve, so that they share the processor time:
 * a row before it is looked up and before it is judged, a session before it connects and after each reply, a page of
 * results, a chunk of an export. Undefined: the step begins at once.
 */
export type YieldToCallers = (requester: Requester | undefined) => Promise<void> | undefined;

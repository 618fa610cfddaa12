/** A caller waits for the response; rows of a list wait for their job. */
export type Priority = "caller" | "list";

/** The account that a mail server is asked for, and how urgent it is. Mail servers never see either. */
export type Requester = { readonly account: string; readonly priority: Priority };

/** In the order in which they are served. */
export const PRIORITIES = ["caller", "list"] as const satisfies readonly Priority[];

/** The command line verifies for one person alone. */
export const SOLE_REQUESTER: Requester = { account: "", priority: "list" };

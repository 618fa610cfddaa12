import { scheduleRetry } from "../jobs/deferrals.ts";
import type { Job } from "../jobs/items.ts";
import type { World } from "../ports/world.ts";
import { WAITING_FOR_PROVIDER } from "../smtp-pool/unprobed-results.ts";
import type { Verification } from "../verify/result.ts";
import { MAX_WAIT_MINUTES, type RetryCause } from "../verify/retry.ts";

/** Why the address of a job is attempted again, and when. */
export type SingleRetry = NonNullable<Job["retry"]>;

/** Why it was attempted again so far, and the exit that was greylisted. */
type EarlierAttempts = {
  readonly causes: readonly RetryCause[];
  readonly exit?: string | undefined;
};

/** Undefined: the result is final. */
export const findSingleRetry = (
  world: Pick<World, "now">,
  mode: Job["mode"],
  { retryCause: cause, reason, comeBack, greylistedExit, throttleMinutes }: Verification,
  { causes, exit }: EarlierAttempts = { causes: [] },
): SingleRetry | undefined => {
  // This is not an attempt: there was no slot, or the provider's backoff is not over.
  if (comeBack)
    return { reason: WAITING_FOR_PROVIDER, ...comeBack, causes: [...causes], ...keepExit(exit) };
  const limits = { mode, maxWaitMinutes: MAX_WAIT_MINUTES.default, throttleMinutes };
  const next = cause && scheduleRetry(world, limits, { causes, cause });
  const greylisted = keepExit(greylistedExit ?? exit);
  return next && { reason, at: next.at, causes: [...next.causes], ...greylisted };
};

const keepExit = (exit: string | undefined) => exit !== undefined && { exit };

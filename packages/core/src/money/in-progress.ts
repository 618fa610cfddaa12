import { Failure } from "../lib/failure.ts";

// A repeat that comes while the first request is at work.

type WorkInProgress = {
  readonly openedAt: string;
  readonly taken_at?: string | undefined;
  readonly expectedMs?: number | undefined;
};

/**
 * How long the work is expected to go on. Work that is overdue usually ends soon, or its process is gone: then half as
 * long again as it has taken.
 */
export const estimateRemainingMs = (
  { expectedMs, taken_at, openedAt }: WorkInProgress,
  now: Date,
): number => {
  if (expectedMs === undefined) return Number.POSITIVE_INFINITY;
  const elapsedMs = now.getTime() - Date.parse(taken_at ?? openedAt);
  return elapsedMs < expectedMs ? expectedMs - elapsedMs : elapsedMs / 2;
};

export const createInProgressFailure = (retryAfterMs: number): Failure => {
  const what = "The first request with this Idempotency-Key is still being worked on.";
  return new Failure("REQUEST_IN_PROGRESS", "retry_same_key", what, {
    retryable: true,
    retryAfterMs,
  });
};

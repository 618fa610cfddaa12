import { Failure } from "../lib/failure.ts";

type WorkInProgress = {
  readonly openedAt: string;
  readonly taken_at?: string | undefined;
  readonly expectedMs: number;
};

/**
 * Estimates the remaining time. Overdue work usually ends soon, or its process has crashed: then the estimate is half of the
 * time since the start.
 */
export const estimateRemainingMs = (
  { expectedMs, taken_at, openedAt }: WorkInProgress,
  now: Date,
): number => {
  const elapsedMs = now.getTime() - Date.parse(taken_at ?? openedAt);
  return elapsedMs < expectedMs ? expectedMs - elapsedMs : elapsedMs / 2;
};

export const createInProgressFailure = (retryAfterMs: number): Failure => {
  const what = "The first request with this Idempotency-Key is still in progress.";
  return new Failure("REQUEST_IN_PROGRESS", "retry_same_key", what, {
    retryable: true,
    retryAfterMs,
  });
};

import type { MailproofError } from "./errors.ts";
import type { Operation } from "./operation.ts";

/** Maximum delay before each retry, with full jitter. The last one applies to all further retries. */
const DELAYS_MS = [500, 1_500, 4_000, 10_000] as const;
export const RETRIES = DELAYS_MS.length;

/** The client does not wait for a longer Retry-After; the error reports it. */
const RETRY_AFTER_MS_MAX = 120_000;
/** Jitter, so that clients with the same Retry-After do not return at the same time. */
const JITTER_MS = 250;

/** Tells whether a failed call is retried: only if all attempts together are charged once. */
export const mayRepeat = ({ repeat }: Operation, error: MailproofError): boolean =>
  error.code !== "ABORTED" &&
  (error.retryable ||
    (repeat === "keyed" && error.money === "retry_same_key" && !isRefusal(error)));

/** Errors that waiting does not resolve, such as an invalid API key. */
const isRefusal = ({ status = 500 }: MailproofError): boolean => status >= 400 && status < 500;

export const getRetryDelay = (
  tries: number,
  { retryAfterMs }: MailproofError,
  random: () => number,
): number | null => {
  const backoffMs = random() * (DELAYS_MS[Math.min(tries, RETRIES - 1)] ?? 0);
  if (retryAfterMs === undefined) return backoffMs;
  if (retryAfterMs > RETRY_AFTER_MS_MAX) return null;
  return Math.max(backoffMs, retryAfterMs + random() * JITTER_MS);
};

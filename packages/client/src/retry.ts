import type { MailproofError } from "./errors.ts";
import type { Operation } from "./operation.ts";

/** At most how long before each repeat; jitter is always full. The last one stands for all that follow. */
const DELAYS_MS = [500, 1_500, 4_000, 10_000] as const;
export const RETRIES = DELAYS_MS.length;

/** A service that wants us to come back later than this is not waited for: the caller is told when. */
const RETRY_AFTER_MS_MAX = 120_000;
/** So that not all who were told the same moment come in it. */
const JITTER_MS = 250;

/** Whether a call that failed is sent again: then, whatever became of the tries before, it is paid for once. */
export const mayRepeat = ({ repeat }: Operation, error: MailproofError): boolean =>
  error.code !== "ABORTED" &&
  (error.retryable ||
    (repeat === "keyed" && error.money === "retry_same_key" && !isRefusal(error)));

/** A wrong API key, say: what has to be put right first is not mended by waiting. */
const isRefusal = ({ status = 500 }: MailproofError): boolean => status >= 400 && status < 500;

/** How long to wait before this repeat, or null when it is too long. */
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

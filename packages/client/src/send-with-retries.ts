import { attempt, type ClientAttempt, createAbortedError } from "./attempt.ts";
import type { ClientClock } from "./clock.ts";
import { MailproofError, toDoubtError } from "./errors.ts";
import { getRetryDelay, mayRepeat } from "./retry.ts";

export type Exchange = ClientAttempt & { readonly retries: number; readonly clock: ClientClock };

/** Sends a request until it succeeds or may not be retried. The last failure covers the money of all attempts. */
export const sendWithRetries = async <T>(
  one: Exchange,
  read: (response: Response) => Promise<T>,
): Promise<T> => {
  let isInDoubt = false;
  for (let tries = 0; ; tries++) {
    let error: MailproofError;
    let waitMs: number | null = null;
    try {
      return await attempt(one, read);
    } catch (thrown) {
      if (!(thrown instanceof MailproofError)) throw thrown;
      error = isInDoubt ? toDoubtError(thrown) : thrown;
      if (tries < one.retries && mayRepeat(one.operation, thrown))
        waitMs = getRetryDelay(tries, thrown, one.clock.random);
    }
    if (waitMs === null) throw error;
    // The service refused before any work. If the key was used before this call, the service reports it.
    const isRefused = error.code === "RATE_LIMITED";
    isInDoubt ||= !isRefused && error.money === "retry_same_key";
    await one.clock.sleep(waitMs, one.signal);
    if (one.signal?.aborted) throw createAbortedError(one, error.money);
  }
};

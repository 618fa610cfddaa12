import { aborted, attempt, type Try } from "./attempt.ts";
import type { Clock } from "./clock.ts";
import { inDoubt, MailproofError } from "./errors.ts";
import { mayRepeat, waitBefore } from "./retry.ts";

export type Exchange = Try & { readonly retries: number; readonly clock: Clock };

/** Sends a request until it is answered, as often as it may be. The last failure tells of the money of all tries. */
export const exchange = async <T>(
  one: Exchange,
  read: (response: Response) => Promise<T>,
): Promise<T> => {
  let isInDoubt = false;
  for (let tries = 0; ; tries++) {
    const came = await attempt(one, read).then(
      (value) => ({ value }),
      (error: unknown) => ({ error: asOurs(error) }),
    );
    if ("value" in came) return came.value;
    const error: MailproofError = isInDoubt ? inDoubt(came.error) : came.error;
    const waitMs =
      tries < one.retries && mayRepeat(one.operation, came.error)
        ? waitBefore(tries, came.error, one.clock.random)
        : null;
    if (waitMs === null) throw error;
    isInDoubt ||= error.money === "retry_same_key";
    await one.clock.sleep(waitMs, one.signal);
    if (one.signal?.aborted) throw aborted(one, error.money);
  }
};

/** What is no failure of a call is a mistake in the calling. */
const asOurs = (error: unknown): MailproofError => {
  if (error instanceof MailproofError) return error;
  throw error;
};

import { createAbortedError, parseRetryAfter } from "./attempt.ts";
import { createError } from "./errors.ts";
import { type Exchange, sendWithRetries } from "./send-with-retries.ts";

/** Where the service names no time. */
const POLL_MS = 2_000;

/** Sends a request again until the service has made what it asks for, at most for the time of one attempt. */
export const waitUntilMade = async <T>(
  one: Exchange,
  read: (response: Response) => Promise<T>,
): Promise<T> => {
  for (let waitedMs = 0; ; ) {
    const result = await sendWithRetries(one, async (response) => {
      if (response.status !== 202) return { data: await read(response) };
      await response.text();
      return { waitMs: parseRetryAfter(response.headers.get("retry-after")) ?? POLL_MS };
    });
    if ("data" in result) return result.data;
    const { waitMs } = result;
    if (waitedMs + waitMs > one.timeoutMs)
      throw createError(`The result is not ready after ${one.timeoutMs} ms.`, {
        code: "TIMEOUT",
        money: "nothing_charged",
        retryable: true,
        retryAfterMs: waitMs,
      });
    await one.clock.sleep(waitMs, one.signal);
    if (one.signal?.aborted) throw createAbortedError(one, "nothing_charged");
    waitedMs += waitMs;
  }
};

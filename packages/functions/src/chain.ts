import { injectLambdaContext } from "@aws-lambda-powertools/logger/middleware";
import type { Log } from "@mailproof/core/ports/world";
import middy, { type MiddlewareObj } from "@middy/core";
import { logger } from "./log.ts";
import { countColdStart, metrics } from "./metrics.ts";

export type ChainOptions = {
  /**
   * Milliseconds before the Lambda's own time-out at which the chain answers with an error. 0: Lambda ends the process.
   * So it should where no caller waits: a process that continues would finish this work beside the next.
   */
  readonly timeoutEarlyInMillis: number;
};

/**
 * The chain of every Lambda: the middlewares that all have, then those of its kind. `before` runs in this order, `after`
 * and `onError` in the opposite one.
 */
export const createChain = <Event, Result>(
  ofItsKind: readonly MiddlewareObj<Event, Result>[],
  options: ChainOptions = { timeoutEarlyInMillis: 0 },
) =>
  middy<Event, Result>({ ...options }).use([
    injectLambdaContext(logger, { resetKeys: true }),
    measured,
    ...ofItsKind,
  ]);

const measured: MiddlewareObj = {
  before: countColdStart,
  after: metrics.publish,
  onError: metrics.publish,
};

/**
 * For a Lambda whose error AWS counts. AWS also writes a thrown error with its stack, and returns it to the caller. So
 * the cause goes into our own log, which is redacted, and the error that is thrown names only the log entry. It
 * replaces the other, since middy would keep that one as the cause of an error thrown here.
 */
export const hideCause = (
  log: Log,
  event: string,
  fields: Readonly<Record<string, unknown>> = {},
): MiddlewareObj => ({
  onError: (request) => {
    log(event, { ...fields, cause: request.error });
    request.error = new Error(`${event}: see the log entry of this name.`);
  },
});

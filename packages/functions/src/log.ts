import { Logger } from "@aws-lambda-powertools/logger";
import { redact } from "@mailproof/core/redact";
import type { Log } from "@mailproof/core/world";

/** Lines of JSON, with neither addresses nor keys in them. */
export const logTo =
  (logger: Pick<Logger, "info">): Log =>
  (event, fields) =>
    logger.info(event, redact(fields) as Record<string, unknown>);

export const lambdaLog = (): Log => logTo(new Logger({ serviceName: "mailproof" }));

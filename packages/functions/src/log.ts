import { Logger } from "@aws-lambda-powertools/logger";
import { redact } from "@mailproof/core/lib/redact";
import type { Log } from "@mailproof/core/ports/world";

/** Lines of JSON, with neither addresses nor keys in them. */
export const createLog =
  (logger: Pick<Logger, "info">): Log =>
  (event, fields) =>
    logger.info(event, redact(fields) as Record<string, unknown>);

export const createLambdaLog = (): Log => createLog(new Logger({ serviceName: "mailproof" }));

import { Logger } from "@aws-lambda-powertools/logger";
import { redact } from "@mailproof/core/lib/redact";
import type { Log } from "@mailproof/core/ports/world";
import { type Level, LOG_LEVELS } from "@mailproof/core/runtime/log-levels";

/**
 * The logger of this process. The chain adds the Lambda's context and the request's id to all of its lines. Its
 * service, POWERTOOLS_SERVICE_NAME, is app and stage.
 */
export const logger = new Logger();

/** Lines of JSON, with neither addresses nor keys in them. */
export const createLog =
  (lines: Pick<Logger, Level>): Log =>
  (event, fields) =>
    lines[LOG_LEVELS[event] ?? "info"](event, redact(fields) as Record<string, unknown>);

export const createLambdaLog = (): Log => createLog(logger);

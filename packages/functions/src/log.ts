import { Logger } from "@aws-lambda-powertools/logger";
import { redact } from "@mailproof/core/lib/redact";
import type { Log } from "@mailproof/core/ports/world";

type Level = "info" | "warn" | "error";

/**
 * ERROR: this service failed, and the work or the answer is lost. WARN: something failed that is tried again, or that
 * an operator has to know. INFO: what was done. A request that the caller got wrong is in API Gateway's access log
 * with its status, and here not at all.
 */
export const LOG_LEVELS: Readonly<Record<string, Level>> = {
  activity_ignored: "info",
  activity_unread: "warn",
  audited: "info",
  chunk_lost: "error",
  delivery_deferred: "warn",
  event_deferred: "warn",
  failure: "error",
  give_back_failed: "warn",
  input_damaged: "error",
  invariant_broken: "error",
  late_entries_found: "warn",
  mail_provider_blocked: "warn",
  mcp_refused: "info",
  message_failed: "warn",
  probe_broke: "error",
  probe_failed: "warn",
  provider_accepts_unknown: "warn",
  provider_refuses_unknown: "info",
  repair_failed: "error",
  repaired: "info",
  row_failed: "error",
  schedule_failed: "error",
  upload_limit_failed: "error",
  upload_removed: "warn",
  webhook_disabled: "info",
};

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

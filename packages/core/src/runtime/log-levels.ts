/** From the most to the least detailed. */
export const LEVELS = ["info", "warn", "error"] as const;
export type Level = (typeof LEVELS)[number];

/**
 * ERROR: this service failed, and the work or the answer is lost. WARN: something failed that is tried again, or that
 * an operator has to know. INFO: what was done. A request that the caller got wrong is a line of its
 * status alone: `request` on one machine, API Gateway's access log on AWS.
 */
export const LOG_LEVELS: Readonly<Record<string, Level>> = {
  activity_ignored: "info",
  activity_unread: "warn",
  answer_broke_off: "info",
  audited: "info",
  chunk_lost: "error",
  clock_jumped: "warn",
  delivery_deferred: "warn",
  engine_thread_ended: "warn",
  event_deferred: "warn",
  failure: "error",
  give_back_failed: "warn",
  input_damaged: "error",
  invariant_broken: "error",
  late_entries_found: "warn",
  listens_without_tls: "warn",
  mail_provider_blocked: "warn",
  mcp_refused: "info",
  message_failed: "warn",
  metric_failed: "warn",
  pressure_began: "warn",
  pressure_ended: "info",
  probe_broke: "error",
  probe_failed: "warn",
  provider_accepts_unknown: "warn",
  provider_refuses_unknown: "info",
  receive_failed: "error",
  repair_failed: "error",
  repaired: "info",
  request: "info",
  resources_exhausted: "warn",
  row_failed: "error",
  schedule_failed: "error",
  started: "info",
  state_damaged: "error",
  stopped: "info",
  upload_limit_failed: "error",
  upload_removed: "warn",
  webhook_disabled: "info",
};

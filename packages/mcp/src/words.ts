const JOB = "The job_id of the job.";
const WEBHOOK = "The id of the webhook, as list_webhooks has it.";
const SENDING_IP =
  "The IPv4 address that sends, for its name and for blocklists. Left out, the domain's mail hosts are looked at.";
const JOB_NAME = "What you want to call the job.";

/**
 * Where a tool is called differently than its route, and what a model must know besides: of a field, or of a field of
 * one tool.
 */
export const FIELD_WORDS: Readonly<Record<string, string>> = {
  idempotency_key:
    "Any text of your own, one for each thing you mean to do. The same call with the same key is charged once, however often it is sent; without one, sending again charges again.",
  limit: "How many entries one answer has.",
  next_key:
    "The next_key of the page before, unchanged. It may be used again, also while the job runs.",
  offset: "The next_offset of the page before, unchanged.",
  include_results: "false tells only how far the job is.",

  "verify_batch.emails": "The addresses.",
  "verify_batch.name": JOB_NAME,
  "verify_file.name": JOB_NAME,
  "get_job.id": JOB,
  "download_job.id": JOB,
  "list_callbacks.id": JOB,
  "get_activity.email": "The address.",
  "get_activity_batch.emails": "The addresses.",
  "record_activity.events": "What became of your mails.",
  "check_domain.sending_ip": SENDING_IP,
  "create_monitor.sending_ip": SENDING_IP,
  "get_check.id": "The check_id of the check.",
  "delete_monitor.id": "The monitor_id of the monitor.",
  "update_webhook.id": WEBHOOK,
  "update_webhook.status": "disabled is told of nothing until it is active again.",
  "delete_webhook.id": WEBHOOK,
  "test_webhook.id": WEBHOOK,
  "rotate_webhook_secret.id": WEBHOOK,
  "list_deliveries.id": WEBHOOK,
  "retry_delivery.id": WEBHOOK,
  "retry_delivery.delivery_id": "The id of the delivery, as list_deliveries has it.",
  "revoke_api_key.id": "The key_id of the key, as list_api_keys has it.",
};

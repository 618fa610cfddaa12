// What each operation is called as a tool, and what a client may know of it before it calls (MCP, ToolAnnotations).

/**
 * reads: changes nothing. adds: every call does something more, and some cost credits. settles: the second call like
 * the first changes nothing more. removes: what was there before is gone or another, and a second call finds it so.
 */
export type Manner = "reads" | "adds" | "settles" | "removes";

export type Named = {
  readonly name: string;
  readonly manner: Manner;
  /** What a model would get wrong without it. */
  readonly hint?: string;
};

const of = (name: string, manner: Manner, hint?: string): Named => ({
  name,
  manner,
  ...(hint && { hint }),
});

export const TOOLS: Readonly<Record<string, Named>> = {
  "POST /v1/verify": of(
    "verify_email",
    "adds",
    "When the status is pending, follow job_id with get_job; a new call would charge again.",
  ),
  "POST /v1/verify/batch": of(
    "verify_batch",
    "adds",
    "Answers at once with a job_id. Call get_job with include_results false until its status is completed or failed, then read its results page by page.",
  ),
  "POST /v1/verify/file": of(
    "verify_file",
    "adds",
    "First action get_upload_url with file_name; then somebody must PUT the file's bytes to upload_url; then action process with file_key. Follow the job_id with get_job.",
  ),

  "GET /v1/jobs": of("list_jobs", "reads", "Pass next_offset on as offset for the next page."),
  "GET /v1/jobs/{id}": of(
    "get_job",
    "reads",
    "Pass next_key on for the next page of results. For all of them at once, give people the link of download_job.",
  ),
  "GET /v1/jobs/{id}/download": of(
    "download_job",
    "reads",
    "Answers with a link to the file, which anybody who has it can open until it expires.",
  ),

  "POST /v1/find": of(
    "find_email",
    "adds",
    "Go by status: an email that is there may still be a guess.",
  ),

  "GET /v1/activity/{email}": of("get_activity", "reads"),
  "POST /v1/activity/batch": of("get_activity_batch", "reads"),
  "GET /v1/activity/domain/{domain}": of("get_domain_reputation", "reads"),
  "POST /v1/activity/events": of("record_activity", "settles"),

  "POST /v1/deliverability/check": of("check_domain", "adds"),
  "GET /v1/deliverability/checks": of("list_checks", "reads"),
  "GET /v1/deliverability/checks/{id}": of("get_check", "reads"),
  "POST /v1/deliverability/monitors": of(
    "create_monitor",
    "settles",
    "Each of its checks costs what check_domain does.",
  ),
  "GET /v1/deliverability/monitors": of("list_monitors", "reads"),
  "DELETE /v1/deliverability/monitors/{id}": of("delete_monitor", "removes"),

  "GET /v1/webhooks": of("list_webhooks", "reads"),
  "POST /v1/webhooks": of("create_webhook", "adds"),
  "PUT /v1/webhooks/{id}": of("update_webhook", "removes"),
  "DELETE /v1/webhooks/{id}": of("delete_webhook", "removes"),
  "POST /v1/webhooks/{id}/test": of("test_webhook", "adds"),
  "POST /v1/webhooks/{id}/secret": of("rotate_webhook_secret", "removes"),
  "GET /v1/webhooks/events": of("list_webhook_events", "reads"),
  "GET /v1/webhooks/{id}/deliveries": of("list_deliveries", "reads"),
  "POST /v1/webhooks/{id}/deliveries/{delivery_id}/retry": of("retry_delivery", "adds"),

  "GET /v1/account": of("get_account", "reads"),
  "GET /v1/account/usage": of("get_usage", "reads"),
  "GET /v1/api-keys": of("list_api_keys", "reads"),
  "DELETE /v1/api-keys/{id}": of("revoke_api_key", "removes"),
  "GET /v1/catalog": of("get_catalog", "reads"),
};

/** What is no tool, and why. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  "GET /health": "it is for load balancers; a tool that answers is alive",
  "POST /v1/api-keys": "a key outlives the conversation that it would be told in",
};

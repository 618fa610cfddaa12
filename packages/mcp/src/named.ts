// Which operations are tools, and what a client may know of one before it calls (MCP, ToolAnnotations). A tool is
// called what the operation is in the OpenAPI document: verifyEmail is verify_email.

/**
 * reads: changes nothing. adds: every call does something more, and some cost credits. settles: the second call like
 * the first changes nothing more. removes: what was there before is gone or another, and a second call finds it so.
 */
export type Manner = "reads" | "adds" | "settles" | "removes";

export type Mannered = {
  readonly manner: Manner;
  /** What a model would get wrong without it. */
  readonly hint?: string;
};

const of = (manner: Manner, hint?: string): Mannered => ({
  manner,
  ...(hint && { hint }),
});

export const TOOLS: Readonly<Record<string, Mannered>> = {
  "POST /v1/verify": of(
    "adds",
    "When the status is pending, follow job_id with get_job; a new call would charge again.",
  ),
  "POST /v1/verify/batch": of(
    "adds",
    "Answers at once with a job_id. Call get_job with include_results false until its status is completed or failed, then read its results page by page.",
  ),
  "POST /v1/verify/file": of(
    "adds",
    "First action get_upload_url with file_name; then somebody must PUT the file's bytes to upload_url; then action process with file_key. Follow the job_id with get_job.",
  ),

  "GET /v1/jobs": of("reads", "Pass next_offset on as offset for the next page."),
  "GET /v1/jobs/{id}": of(
    "reads",
    "Pass next_key on for the next page of results. While the job runs every page has one: wait some seconds, pass it on, and no row is missed or comes twice. The last page of a finished job has none. For all rows at once, give people the link of download_job.",
  ),
  "GET /v1/jobs/{id}/download": of(
    "reads",
    "Answers with a link to the file, which anybody who has it can open until it expires.",
  ),
  "GET /v1/jobs/{id}/callbacks": of("reads"),

  "POST /v1/find": of("adds", "Go by status: an email that is there may still be a guess."),

  "GET /v1/activity/{email}": of("reads"),
  "POST /v1/activity/batch": of("reads"),
  "GET /v1/activity/domain/{domain}": of("reads"),
  "POST /v1/activity/events": of("settles"),

  "POST /v1/deliverability/check": of("adds"),
  "GET /v1/deliverability/checks": of("reads"),
  "GET /v1/deliverability/checks/{id}": of("reads"),
  "POST /v1/deliverability/monitors": of(
    "settles",
    "Each of its checks costs what check_domain does.",
  ),
  "GET /v1/deliverability/monitors": of("reads"),
  "DELETE /v1/deliverability/monitors/{id}": of("removes"),

  "GET /v1/webhooks": of("reads"),
  "POST /v1/webhooks": of("adds"),
  "PUT /v1/webhooks/{id}": of("removes"),
  "DELETE /v1/webhooks/{id}": of("removes"),
  "POST /v1/webhooks/{id}/test": of("adds"),
  "POST /v1/webhooks/{id}/secret": of("removes"),
  "GET /v1/webhooks/events": of("reads"),
  "GET /v1/webhooks/{id}/deliveries": of("reads"),
  "POST /v1/webhooks/{id}/deliveries/{delivery_id}/retry": of("adds"),

  "GET /v1/account": of("reads"),
  "GET /v1/account/usage": of("reads"),
  "GET /v1/api-keys": of("reads"),
  "DELETE /v1/api-keys/{id}": of("removes"),
  "GET /v1/catalog": of("reads"),
};

/** What is no tool, and why. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  "GET /health": "it is for load balancers; a tool that answers is alive",
  "POST /v1/api-keys": "a key outlives the conversation that it would be told in",
};

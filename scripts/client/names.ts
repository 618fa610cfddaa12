/** What the client calls each operation. The routes are the service's; the names are ours, and stay. */
export const NAMES: Readonly<Record<string, string>> = {
  "GET /health": "getHealth",
  "POST /v1/verify": "verify",
  "POST /v1/verify/batch": "verifyBatch",
  "POST /v1/verify/file get_upload_url": "createUpload",
  "POST /v1/verify/file process": "processFile",
  "GET /v1/jobs": "listJobs",
  "GET /v1/jobs/{id}": "getJob",
  "GET /v1/jobs/{id}/download": "exportJob",
  "POST /v1/find": "find",
  "GET /v1/activity/{email}": "getActivity",
  "POST /v1/activity/batch": "getActivities",
  "GET /v1/activity/domain/{domain}": "getReputation",
  "POST /v1/activity/events": "recordActivity",
  "POST /v1/deliverability/check": "checkDomain",
  "GET /v1/deliverability/checks": "listChecks",
  "GET /v1/deliverability/checks/{id}": "getCheck",
  "POST /v1/deliverability/monitors": "createMonitor",
  "GET /v1/deliverability/monitors": "listMonitors",
  "DELETE /v1/deliverability/monitors/{id}": "deleteMonitor",
  "GET /v1/webhooks": "listWebhooks",
  "POST /v1/webhooks": "createWebhook",
  "PUT /v1/webhooks/{id}": "updateWebhook",
  "DELETE /v1/webhooks/{id}": "deleteWebhook",
  "POST /v1/webhooks/{id}/test": "testWebhook",
  "POST /v1/webhooks/{id}/secret": "rotateWebhookSecret",
  "GET /v1/webhooks/events": "listWebhookEvents",
  "GET /v1/webhooks/{id}/deliveries": "listDeliveries",
  "POST /v1/webhooks/{id}/deliveries/{delivery_id}/retry": "retryDelivery",
  "GET /v1/account": "getAccount",
  "GET /v1/account/usage": "getUsage",
  "GET /v1/api-keys": "listApiKeys",
  "POST /v1/api-keys": "createApiKey",
  "DELETE /v1/api-keys/{id}": "revokeApiKey",
  "GET /v1/catalog": "getCatalog",
};

/** Written without a key, and yet the same when it comes twice: reads, and what the service knows by its content. */
export const SAME_WHEN_REPEATED: readonly string[] = [
  "POST /v1/verify/file get_upload_url",
  "POST /v1/activity/batch",
  "POST /v1/activity/events",
  "POST /v1/deliverability/monitors",
];

/** A query is text on the wire; these are more than that to a caller. */
export const QUERY_TYPES: Readonly<Record<string, string>> = {
  limit: "number",
  include_results: "boolean",
};

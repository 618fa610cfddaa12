// Made by scripts/client-types.ts from the service's endpoints. Do not change it here.

import type { Operation } from "./operation.ts";
import type { Operations } from "./types.ts";

export const OPERATIONS: Readonly<Record<keyof Operations, Operation>> = {
  getHealth: { route: "GET /health", bare: true, unwrapped: true },
  verify: { route: "POST /v1/verify", repeat: "keyed" },
  verifyBatch: { route: "POST /v1/verify/batch", repeat: "keyed" },
  createUpload: { route: "POST /v1/verify/file", fixed: { action: "get_upload_url" } },
  processFile: { route: "POST /v1/verify/file", repeat: "keyed", fixed: { action: "process" } },
  listJobs: { route: "GET /v1/jobs" },
  getJob: { route: "GET /v1/jobs/{id}" },
  exportJob: { route: "GET /v1/jobs/{id}/download", unwrapped: true, fixed: { format: "json" } },
  find: { route: "POST /v1/find", repeat: "never", paid: true },
  getActivity: { route: "GET /v1/activity/{email}" },
  getActivities: { route: "POST /v1/activity/batch" },
  getReputation: { route: "GET /v1/activity/domain/{domain}" },
  recordActivity: { route: "POST /v1/activity/events" },
  checkDomain: { route: "POST /v1/deliverability/check", repeat: "keyed" },
  listChecks: { route: "GET /v1/deliverability/checks" },
  getCheck: { route: "GET /v1/deliverability/checks/{id}" },
  createMonitor: { route: "POST /v1/deliverability/monitors" },
  listMonitors: { route: "GET /v1/deliverability/monitors", bare: true },
  deleteMonitor: { route: "DELETE /v1/deliverability/monitors/{id}" },
  listWebhooks: { route: "GET /v1/webhooks", bare: true },
  createWebhook: { route: "POST /v1/webhooks", repeat: "never" },
  updateWebhook: { route: "PUT /v1/webhooks/{id}" },
  deleteWebhook: { route: "DELETE /v1/webhooks/{id}" },
  testWebhook: { route: "POST /v1/webhooks/{id}/test", repeat: "never" },
  rotateWebhookSecret: { route: "POST /v1/webhooks/{id}/secret", repeat: "never" },
  listWebhookEvents: { route: "GET /v1/webhooks/events", bare: true },
  listDeliveries: { route: "GET /v1/webhooks/{id}/deliveries" },
  retryDelivery: {
    route: "POST /v1/webhooks/{id}/deliveries/{delivery_id}/retry",
    repeat: "never",
  },
  getAccount: { route: "GET /v1/account", bare: true },
  getUsage: { route: "GET /v1/account/usage" },
  listApiKeys: { route: "GET /v1/api-keys", bare: true },
  createApiKey: { route: "POST /v1/api-keys", repeat: "never" },
  revokeApiKey: { route: "DELETE /v1/api-keys/{id}" },
  getCatalog: { route: "GET /v1/catalog", bare: true },
};

import { cancelJob } from "./endpoints/cancel-job.ts";
import { checkDomain } from "./endpoints/check-domain.ts";
import { createApiKey } from "./endpoints/create-api-key.ts";
import { createMonitor } from "./endpoints/create-monitor.ts";
import { createWebhook } from "./endpoints/create-webhook.ts";
import { deleteMonitor } from "./endpoints/delete-monitor.ts";
import { deleteWebhook } from "./endpoints/delete-webhook.ts";
import { downloadJob } from "./endpoints/download-job.ts";
import { findEmail } from "./endpoints/find-email.ts";
import { getAccount } from "./endpoints/get-account.ts";
import { getActivity } from "./endpoints/get-activity.ts";
import { getActivityBatch } from "./endpoints/get-activity-batch.ts";
import { getCatalog } from "./endpoints/get-catalog.ts";
import { getCheck } from "./endpoints/get-check.ts";
import { getDomainReputation } from "./endpoints/get-domain-reputation.ts";
import { getHealth } from "./endpoints/get-health.ts";
import { getJob } from "./endpoints/get-job.ts";
import { getUsage } from "./endpoints/get-usage.ts";
import { listApiKeys } from "./endpoints/list-api-keys.ts";
import { listCallbacks } from "./endpoints/list-callbacks.ts";
import { listChecks } from "./endpoints/list-checks.ts";
import { listDeliveries } from "./endpoints/list-deliveries.ts";
import { listJobs } from "./endpoints/list-jobs.ts";
import { listMonitors } from "./endpoints/list-monitors.ts";
import { listWebhookEvents } from "./endpoints/list-webhook-events.ts";
import { listWebhooks } from "./endpoints/list-webhooks.ts";
import { recordActivity } from "./endpoints/record-activity.ts";
import { retryDelivery } from "./endpoints/retry-delivery.ts";
import { revokeApiKey } from "./endpoints/revoke-api-key.ts";
import { rotateWebhookSecret } from "./endpoints/rotate-webhook-secret.ts";
import { testWebhook } from "./endpoints/test-webhook.ts";
import { updateWebhook } from "./endpoints/update-webhook.ts";
import { verifyBatch } from "./endpoints/verify-batch.ts";
import { verifyEmail } from "./endpoints/verify-email.ts";
import { verifyFile } from "./endpoints/verify-file.ts";
import type { Endpoint } from "./http/endpoint.ts";

/** Every endpoint of the API. */
export const endpoints: readonly Endpoint[] = [
  getHealth,

  verifyEmail,
  verifyBatch,
  verifyFile,

  listJobs,
  getJob,
  cancelJob,
  downloadJob,
  listCallbacks,

  findEmail,

  getActivity,
  getActivityBatch,
  getDomainReputation,
  recordActivity,

  checkDomain,
  listChecks,
  getCheck,
  createMonitor,
  listMonitors,
  deleteMonitor,
  listWebhooks,
  createWebhook,
  updateWebhook,
  deleteWebhook,
  testWebhook,
  rotateWebhookSecret,
  listWebhookEvents,
  listDeliveries,
  retryDelivery,

  getAccount,
  getUsage,
  listApiKeys,
  createApiKey,
  revokeApiKey,

  getCatalog,
];

import type { Endpoint } from "./endpoint.ts";
import { deleteApiKeysId } from "./endpoints/delete-api-keys-id.ts";
import { deleteDeliverabilityMonitorsId } from "./endpoints/delete-deliverability-monitors-id.ts";
import { deleteWebhooksId } from "./endpoints/delete-webhooks-id.ts";
import { getAccount } from "./endpoints/get-account.ts";
import { getAccountUsage } from "./endpoints/get-account-usage.ts";
import { getActivityDomainDomain } from "./endpoints/get-activity-domain-domain.ts";
import { getActivityEmail } from "./endpoints/get-activity-email.ts";
import { getApiKeys } from "./endpoints/get-api-keys.ts";
import { getCatalog } from "./endpoints/get-catalog.ts";
import { getDeliverabilityChecks } from "./endpoints/get-deliverability-checks.ts";
import { getDeliverabilityChecksId } from "./endpoints/get-deliverability-checks-id.ts";
import { getDeliverabilityMonitors } from "./endpoints/get-deliverability-monitors.ts";
import { getHealth } from "./endpoints/get-health.ts";
import { getJobs } from "./endpoints/get-jobs.ts";
import { getJobsId } from "./endpoints/get-jobs-id.ts";
import { getJobsIdCallbacks } from "./endpoints/get-jobs-id-callbacks.ts";
import { getJobsIdDownload } from "./endpoints/get-jobs-id-download.ts";
import { getWebhooks } from "./endpoints/get-webhooks.ts";
import { getWebhooksEvents } from "./endpoints/get-webhooks-events.ts";
import { getWebhooksIdDeliveries } from "./endpoints/get-webhooks-id-deliveries.ts";
import { postActivityBatch } from "./endpoints/post-activity-batch.ts";
import { postActivityEvents } from "./endpoints/post-activity-events.ts";
import { postApiKeys } from "./endpoints/post-api-keys.ts";
import { postDeliverabilityCheck } from "./endpoints/post-deliverability-check.ts";
import { postDeliverabilityMonitors } from "./endpoints/post-deliverability-monitors.ts";
import { postFind } from "./endpoints/post-find.ts";
import { postVerify } from "./endpoints/post-verify.ts";
import { postVerifyBatch } from "./endpoints/post-verify-batch.ts";
import { postVerifyFile } from "./endpoints/post-verify-file.ts";
import { postWebhooks } from "./endpoints/post-webhooks.ts";
import { postWebhooksIdDeliveriesDeliveryIdRetry } from "./endpoints/post-webhooks-id-deliveries-delivery-id-retry.ts";
import { postWebhooksIdSecret } from "./endpoints/post-webhooks-id-secret.ts";
import { postWebhooksIdTest } from "./endpoints/post-webhooks-id-test.ts";
import { putWebhooksId } from "./endpoints/put-webhooks-id.ts";

/** The table of contents of the API. */
export const endpoints: readonly Endpoint[] = [
  getHealth,

  postVerify,
  postVerifyBatch,
  postVerifyFile,

  getJobs,
  getJobsId,
  getJobsIdDownload,
  getJobsIdCallbacks,

  postFind,

  getActivityEmail,
  postActivityBatch,
  getActivityDomainDomain,
  postActivityEvents,

  postDeliverabilityCheck,
  getDeliverabilityChecks,
  getDeliverabilityChecksId,
  postDeliverabilityMonitors,
  getDeliverabilityMonitors,
  deleteDeliverabilityMonitorsId,
  getWebhooks,
  postWebhooks,
  putWebhooksId,
  deleteWebhooksId,
  postWebhooksIdTest,
  postWebhooksIdSecret,
  getWebhooksEvents,
  getWebhooksIdDeliveries,
  postWebhooksIdDeliveriesDeliveryIdRetry,

  getAccount,
  getAccountUsage,
  getApiKeys,
  postApiKeys,
  deleteApiKeysId,

  getCatalog,
];

import { addPasskey } from "./endpoints/add-passkey.ts";
import { cancelJob } from "./endpoints/cancel-job.ts";
import { checkDomain } from "./endpoints/check-domain.ts";
import { createApiKey } from "./endpoints/create-api-key.ts";
import { createInvitation } from "./endpoints/create-invitation.ts";
import { createMailTest } from "./endpoints/create-mail-test.ts";
import { createMonitor } from "./endpoints/create-monitor.ts";
import { createWebhook } from "./endpoints/create-webhook.ts";
import { deleteInvitation } from "./endpoints/delete-invitation.ts";
import { deleteJob } from "./endpoints/delete-job.ts";
import { deleteMonitor } from "./endpoints/delete-monitor.ts";
import { deleteWebhook } from "./endpoints/delete-webhook.ts";
import { downloadJob } from "./endpoints/download-job.ts";
import { endSession } from "./endpoints/end-session.ts";
import { eraseData } from "./endpoints/erase-data.ts";
import { findEmail } from "./endpoints/find-email.ts";
import { getAccount } from "./endpoints/get-account.ts";
import { getActivity } from "./endpoints/get-activity.ts";
import { getActivityBatch } from "./endpoints/get-activity-batch.ts";
import { getCatalog } from "./endpoints/get-catalog.ts";
import { getCheck } from "./endpoints/get-check.ts";
import { getDomainProgress } from "./endpoints/get-domain-progress.ts";
import { getDomainReports } from "./endpoints/get-domain-reports.ts";
import { getDomainReputation } from "./endpoints/get-domain-reputation.ts";
import { getHealth } from "./endpoints/get-health.ts";
import { getJob } from "./endpoints/get-job.ts";
import { getJobRow } from "./endpoints/get-job-row.ts";
import { getListing } from "./endpoints/get-listing.ts";
import { getMailTest } from "./endpoints/get-mail-test.ts";
import { getPerson } from "./endpoints/get-person.ts";
import { getReceiptKeys } from "./endpoints/get-receipt-keys.ts";
import { getSignIn } from "./endpoints/get-sign-in.ts";
import { getUsage } from "./endpoints/get-usage.ts";
import { listApiKeys } from "./endpoints/list-api-keys.ts";
import { listCallbacks } from "./endpoints/list-callbacks.ts";
import { listChecks } from "./endpoints/list-checks.ts";
import { listDeliveries } from "./endpoints/list-deliveries.ts";
import { listDomains } from "./endpoints/list-domains.ts";
import { listEvents } from "./endpoints/list-events.ts";
import { listJobs } from "./endpoints/list-jobs.ts";
import { listLedgerEntries } from "./endpoints/list-ledger-entries.ts";
import { listMailTests } from "./endpoints/list-mail-tests.ts";
import { listMembers } from "./endpoints/list-members.ts";
import { listMonitors } from "./endpoints/list-monitors.ts";
import { listRequests } from "./endpoints/list-requests.ts";
import { listWebhookEvents } from "./endpoints/list-webhook-events.ts";
import { listWebhooks } from "./endpoints/list-webhooks.ts";
import { recordActivity } from "./endpoints/record-activity.ts";
import { removeMember } from "./endpoints/remove-member.ts";
import { removePasskey } from "./endpoints/remove-passkey.ts";
import { replayDeliveries } from "./endpoints/replay-deliveries.ts";
import { retryDelivery } from "./endpoints/retry-delivery.ts";
import { revokeApiKey } from "./endpoints/revoke-api-key.ts";
import { rotateWebhookSecret } from "./endpoints/rotate-webhook-secret.ts";
import { setAccountLimits } from "./endpoints/set-account-limits.ts";
import { signInWithLink } from "./endpoints/sign-in-with-link.ts";
import { signInWithOidc } from "./endpoints/sign-in-with-oidc.ts";
import { signInWithPasskey } from "./endpoints/sign-in-with-passkey.ts";
import { testWebhook } from "./endpoints/test-webhook.ts";
import { unsubscribe } from "./endpoints/unsubscribe.ts";
import { updateMember } from "./endpoints/update-member.ts";
import { updateWebhook } from "./endpoints/update-webhook.ts";
import { uploadReport } from "./endpoints/upload-report.ts";
import { verifyAgain } from "./endpoints/verify-again.ts";
import { verifyBatch } from "./endpoints/verify-batch.ts";
import { verifyEmail } from "./endpoints/verify-email.ts";
import { verifyFile } from "./endpoints/verify-file.ts";
import { verifyForm } from "./endpoints/verify-form.ts";
import type { Endpoint } from "./http/endpoint.ts";

/** The operations for programs, which the documents, the clients and the tools describe. */
export const programEndpoints: readonly Endpoint[] = [
  getHealth,
  getReceiptKeys,

  verifyEmail,
  verifyBatch,
  verifyFile,
  verifyForm,

  listJobs,
  getJob,
  getJobRow,
  verifyAgain,
  cancelJob,
  deleteJob,
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
  createMailTest,
  listMailTests,
  getMailTest,
  createMonitor,
  listMonitors,
  deleteMonitor,
  uploadReport,
  listDomains,
  getDomainProgress,
  getDomainReports,
  listWebhooks,
  createWebhook,
  updateWebhook,
  deleteWebhook,
  testWebhook,
  rotateWebhookSecret,
  listWebhookEvents,
  listDeliveries,
  retryDelivery,
  replayDeliveries,
  listEvents,

  getAccount,
  getUsage,
  listLedgerEntries,
  listRequests,
  eraseData,
  listApiKeys,
  createApiKey,
  revokeApiKey,

  getCatalog,
  getListing,
];

/** The operations for people, which refuse keys: the dashboard alone uses them. */
const peopleEndpoints: readonly Endpoint[] = [
  getSignIn,
  signInWithLink,
  signInWithOidc,
  signInWithPasskey,
  addPasskey,
  removePasskey,
  getPerson,
  endSession,
  listMembers,
  updateMember,
  setAccountLimits,
  removeMember,
  createInvitation,
  deleteInvitation,
  unsubscribe,
];

// The annotation lets a bundle of the programs' operations leave out the others.
export const endpoints: readonly Endpoint[] = /* @__PURE__ */ programEndpoints.concat(
  peopleEndpoints,
);

// Made by scripts/client-types.ts from the service's endpoints. Do not change it here.

import type { CallOptions, PaidCallOptions } from "./options.ts";

/** The codes of the service's failures. */
export type ServiceErrorCode =
  | "INVALID_REQUEST"
  | "INVALID_IDEMPOTENCY_KEY"
  | "UNAUTHORIZED"
  | "INSUFFICIENT_CREDITS"
  | "FORBIDDEN"
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "IDEMPOTENCY_KEY_CONFLICT"
  | "REQUEST_IN_PROGRESS"
  | "LIMIT_REACHED"
  | "NOT_READY"
  | "PAYLOAD_TOO_LARGE"
  | "RATE_LIMITED"
  | "INTERNAL"
  | "UNAVAILABLE";

export interface VerificationResult {
  email: string;
  status:
    | "valid"
    | "invalid"
    | "risky"
    | "unknown"
    | "catch_all"
    | "disposable"
    | "role"
    | "spam_trap";
  quality_score: number;
  reason: string;
  sub_status: string | null;
  provider: string | null;
  verification: {
    syntax_valid: boolean;
    domain_exists: boolean;
    mx_found: boolean;
    smtp_check: boolean;
    mailbox_exists: boolean;
    catch_all: boolean;
  };
  flags: {
    disposable: boolean;
    role_account: boolean;
    free_provider: boolean;
    spam_trap: boolean;
    honeypot: boolean;
    bot_generated: boolean;
  };
  enrichment: {
    first_name: string | null;
    last_name: string | null;
    full_name: string;
    gender: string;
  };
  ai?: {
    typo_suggestion: string | null;
    typo_confidence: number | null;
    catch_all_confidence: number;
  };
  evidence?: Record<string, unknown>;
  verified_at: string;
}

export interface ResultRow extends VerificationResult {
  row: number;
}

export interface Job {
  job_id: string;
  name?: string;
  kind: "single" | "batch" | "file";
  status: "pending" | "processing" | "completed" | "failed" | "cancelled" | "enqueue_unknown";
  progress: {
    total: number;
    processed: number;
    valid: number;
    invalid: number;
    risky: number;
    unknown: number;
  };
  processed_emails: number;
  created_at: string;
  completed_at?: string;
  error?: string;
}

export interface ActivityRecord {
  email: string;
  activity: {
    last_seen: string | null;
    last_open: string | null;
    last_click: string | null;
    engagement_level: "high" | "medium" | "low" | "unknown";
    total_opens: number;
    total_clicks: number;
    opens_last_30d: number;
    clicks_last_30d: number;
    machine_events: number;
  };
  deliverability: {
    inbox_rate: number | null;
    spam_rate: number | null;
    bounce_rate: number | null;
  };
}

export interface CheckFacts {
  check_id: string;
  domain: string;
  sending_ip: string | null;
  score: number;
  grade: "A" | "B" | "C" | "D" | "F";
  checked_at: string;
}

export interface CheckResult extends CheckFacts {
  model_version: string;
  score_parts: {
    components: { component: string; weight: number; score: number }[];
    before_cap: number;
    capped_by: string | null;
  };
  dns: {
    status: "pass" | "warn" | "fail" | "missing" | "unknown" | "error";
    mx_records: { priority: number; host: string; ip: string | null }[];
    has_valid_mx: boolean | null;
    mx_score: number | null;
    issues: {
      id: string;
      severity: "critical" | "high" | "medium" | "low" | "info";
      message: string;
      detail: Record<string, string | number>;
      cost_points: number;
    }[];
  };
  authentication: {
    spf: {
      status: "pass" | "warn" | "fail" | "missing" | "unknown" | "error";
      record: string | null;
      score: number | null;
      lookups: number;
      void_lookups: number;
      result_for_sending_ip: string | null;
      issues: {
        id: string;
        severity: "critical" | "high" | "medium" | "low" | "info";
        message: string;
        detail: Record<string, string | number>;
        cost_points: number;
      }[];
    };
    dkim: {
      status: "pass" | "warn" | "fail" | "missing" | "unknown" | "error";
      selectors_found: string[];
      score: number | null;
      issues: {
        id: string;
        severity: "critical" | "high" | "medium" | "low" | "info";
        message: string;
        detail: Record<string, string | number>;
        cost_points: number;
      }[];
    };
    dmarc: {
      status: "pass" | "warn" | "fail" | "missing" | "unknown" | "error";
      record: string | null;
      record_domain: string | null;
      policy: string | null;
      score: number | null;
      issues: {
        id: string;
        severity: "critical" | "high" | "medium" | "low" | "info";
        message: string;
        detail: Record<string, string | number>;
        cost_points: number;
      }[];
    };
  };
  reputation: {
    score: number | null;
    blacklists_checked: number;
    blacklists_inconclusive: number;
    blacklists_skipped: number;
    blacklists_total: number;
    blacklists_listed: number;
    listed_on: {
      id: string;
      name: string;
      listed: string;
      codes: string[];
      says: string;
      removal_url: string;
    }[];
  };
  server: {
    accepts_mail: null;
    response_time_ms: null;
    supports_tls: null;
    tls_version: null;
    reverse_dns: string | null;
    reverse_dns_confirmed: boolean | null;
    reverse_dns_score: number | null;
    issues: {
      id: string;
      severity: "critical" | "high" | "medium" | "low" | "info";
      message: string;
      detail: Record<string, string | number>;
      cost_points: number;
    }[];
  };
  spam_assessment: {
    score: number;
    spam_likelihood: "low" | "medium" | "high";
    factors: { id: string; impact: "positive" | "negative"; points: number; description: string }[];
  };
  recommendations: {
    id: string;
    severity: "critical" | "high" | "medium" | "low" | "info";
    text: string;
    points_regained: number;
    issues: string[];
  }[];
}

export interface Monitor {
  monitor_id: string;
  domain: string;
  sending_ip: string | null;
  interval_hours: number;
  created_at: string;
  next_check_at: string;
  last_check: { check_id: string; score: number; grade: string; checked_at: string } | null;
  last_problem: "insufficient_credits" | "no_verdict" | "failed" | null;
}

export interface ApiKey {
  key_id: string;
  name: string;
  mode: "live" | "test";
  scopes:
    | (
        | "verification:read"
        | "verification:write"
        | "activity:read"
        | "activity:write"
        | "deliverability:read"
        | "deliverability:write"
        | "webhooks:read"
        | "webhooks:write"
        | "account:read"
      )[]
    | null;
  hint: string;
  created_at: string;
}

export interface Webhook {
  id: string;
  url: string;
  events: (
    | "job.completed"
    | "job.failed"
    | "credits.low"
    | "credits.depleted"
    | "blacklist.detected"
    | "dmarc.failed"
  )[];
  status: "active" | "disabled";
  disabled_because?: "asked" | "failing" | "gone";
  failing_since?: string;
  created_at: string;
}

export interface Delivery {
  id: string;
  event_id: string;
  event: string;
  status: "pending" | "delivered" | "failed" | "noted";
  attempts: number;
  response_status: number | null;
  latency_ms: number | null;
  error: string | null;
  created_at: string;
  last_attempt_at: string | null;
  next_attempt_at: string | null;
}

/** The body of a webhook. Events may gain fields, and there may be more of them. */
export type WebhookEvent =
  | {
      id: string;
      type: "job.completed";
      created_at: string;
      data: {
        job_id: string;
        status: "completed";
        progress: {
          total: number;
          processed: number;
          valid: number;
          invalid: number;
          risky: number;
          unknown: number;
        };
      };
    }
  | {
      id: string;
      type: "job.failed";
      created_at: string;
      data: {
        job_id: string;
        status: "failed";
        progress: {
          total: number;
          processed: number;
          valid: number;
          invalid: number;
          risky: number;
          unknown: number;
        };
        error: string;
      };
    }
  | {
      id: string;
      type: "credits.low";
      created_at: string;
      data: { account_id: string; available: number; threshold: number };
    }
  | {
      id: string;
      type: "credits.depleted";
      created_at: string;
      data: { account_id: string; available: number; threshold: number };
    }
  | {
      id: string;
      type: "blacklist.detected";
      created_at: string;
      data: { domain: string; sending_ip: string | null; check_id: string; listed_on: string[] };
    }
  | {
      id: string;
      type: "dmarc.failed";
      created_at: string;
      data: {
        domain: string;
        check_id: string;
        status: string;
        policy: string | null;
        issues: string[];
      };
    }
  | { id: string; type: "webhook.test"; created_at: string; data: { webhook_id: string } };

// GET /health

export interface GetHealthData {
  status: "healthy" | "degraded";
  timestamp: string;
  service: string;
  version: string;
  checks: {
    table: "ok" | "dead_letters_waiting" | "failed";
    queue: "ok" | "dead_letters_waiting" | "failed";
    blobs: "ok" | "dead_letters_waiting" | "failed";
  };
}

// POST /v1/verify

export interface VerifyInput {
  email: string;
  include_activity?: boolean | undefined;
  options?:
    | {
        deep_verify?: boolean | undefined;
        include_ai?: boolean | undefined;
        include_evidence?: boolean | undefined;
        timeout_ms?: number | undefined;
      }
    | undefined;
}

export type VerifyData =
  | (VerificationResult & {
      activity?: {
        last_seen: string | null;
        engagement_level: "high" | "medium" | "low" | "unknown";
        opens_last_30d: number;
        clicks_last_30d: number;
      };
      cached: boolean;
      credits_used: number;
      idempotent_replay?: boolean;
    })
  | {
      status: "pending";
      job_id: string;
      email: string;
      created_at: string;
      message: string;
      credits_used: number;
      idempotent_replay?: boolean;
    };

// POST /v1/verify/batch

export interface VerifyBatchInput {
  emails: readonly string[];
  name?: string | undefined;
  webhook_url?: string | undefined;
  webhook_secret?: string | undefined;
  options?: { deep_verify?: boolean | undefined; include_ai?: boolean | undefined } | undefined;
}

export interface VerifyBatchData {
  job_id: string;
  status: "processing";
  total_emails: number;
  unique_emails: number;
  duplicates_removed: number;
  created_at: string;
  credits_used: number;
  idempotent_replay?: boolean;
}

// POST /v1/verify/file

export interface CreateUploadInput {
  file_name: string;
}

export interface CreateUploadData {
  upload_url: string;
  file_key: string;
  expires_in_seconds: number;
  next_step: string;
}

// POST /v1/verify/file

export interface ProcessFileInput {
  file_key: string;
  email_column?: string | undefined;
  has_header?: boolean | undefined;
  name?: string | undefined;
  webhook_url?: string | undefined;
  options?: { deep_verify?: boolean | undefined; include_ai?: boolean | undefined } | undefined;
}

export interface ProcessFileData {
  job_id: string;
  status: "processing" | "enqueue_unknown";
  total_submitted: number;
  duplicates_removed: number;
  invalid_emails_skipped: number;
  unique_emails: number;
  credits_used: number;
  credits_remaining?: number;
  credits_refunded?: number;
  credits_held?: number;
  enqueue_unknown?: number;
  dispatch_in_progress?: boolean;
  dispatch_settlement_pending?: boolean;
  idempotent_replay?: boolean;
  message: string;
}

// GET /v1/jobs

export interface ListJobsInput {
  limit?: number | undefined;
  status?:
    | "pending"
    | "processing"
    | "completed"
    | "failed"
    | "cancelled"
    | "enqueue_unknown"
    | undefined;
  offset?: string | undefined;
}

export interface ListJobsData {
  jobs: Job[];
  total: number;
  total_is_approximate: boolean;
  has_more: boolean;
  next_offset?: string;
}

// GET /v1/jobs/{id}

export interface GetJobInput {
  id: string;
  include_results?: boolean | undefined;
  limit?: number | undefined;
  next_key?: string | undefined;
}

export interface GetJobData extends Job {
  results?: ResultRow[];
  next_key?: string;
}

// GET /v1/jobs/{id}/download

export interface ExportJobInput {
  id: string;
  filter?:
    | "all"
    | "valid"
    | "invalid"
    | "risky"
    | "unknown"
    | "catch_all"
    | "disposable"
    | "role"
    | "spam_trap"
    | undefined;
}

export type ExportJobData =
  | {
      format: "json";
      filter:
        | "all"
        | "valid"
        | "invalid"
        | "risky"
        | "unknown"
        | "catch_all"
        | "disposable"
        | "role"
        | "spam_trap";
      complete: boolean;
      expected_rows: number;
      rows_missing: number;
      results: ResultRow[];
    }
  | {
      format: "json";
      filter:
        | "all"
        | "valid"
        | "invalid"
        | "risky"
        | "unknown"
        | "catch_all"
        | "disposable"
        | "role"
        | "spam_trap";
      complete: boolean;
      expected_rows: number;
      rows_missing: number;
      download_url: string;
      expires_in_seconds: number;
      expires_at: string;
    };

// POST /v1/find

export interface FindInput {
  first_name: string;
  last_name: string;
  domain: string;
}

export interface FindData {
  first_name: string;
  last_name: string;
  email: string | null;
  confidence: number;
  pattern: string | null;
  verified: boolean;
  status: "valid" | "risky" | "role" | "unknown" | "catch_all" | "not_found" | "invalid_name";
  message: string;
  credits_used: number;
  credits_remaining?: number;
  idempotent_replay?: boolean;
}

// GET /v1/activity/{email}

export interface GetActivityInput {
  email: string;
}

export type GetActivityData = ActivityRecord;

// POST /v1/activity/batch

export interface GetActivitiesInput {
  emails: readonly string[];
}

export interface GetActivitiesData {
  results: ActivityRecord[];
  total: number;
}

// GET /v1/activity/domain/{domain}

export interface GetReputationInput {
  domain: string;
}

export interface GetReputationData {
  domain: string;
  reputation: {
    score: number | null;
    level: "excellent" | "good" | "fair" | "poor" | "unknown";
    trend: "improving" | "stable" | "declining" | "unknown";
  };
  metrics: {
    total_emails_tracked: number | null;
    avg_engagement_rate: number | null;
    avg_bounce_rate: number | null;
    spam_complaint_rate: number | null;
  };
  blacklist_status: { listed: boolean | null; checked_at: string };
}

// POST /v1/activity/events

export interface RecordActivityInput {
  events: readonly {
    id: string;
    type: "delivery" | "bounce" | "complaint" | "open" | "click" | "reject" | "delivery_delay";
    email: string;
    occurred_at: string;
    delivered_at?: string | undefined;
    user_agent?: string | undefined;
    machine?: boolean | undefined;
  }[];
}

export interface RecordActivityData {
  received: number;
  accepted: number;
  duplicates: number;
  ignored: { id: string; reason: "too_old" | "in_the_future" }[];
}

// POST /v1/deliverability/check

export interface CheckDomainInput {
  domain: string;
  sending_ip?: string | undefined;
  refresh?: boolean | undefined;
}

export interface CheckDomainData extends CheckResult {
  credits_used: number;
  credits_remaining?: number;
  cached: boolean;
  idempotent_replay?: boolean;
}

// GET /v1/deliverability/checks

export interface ListChecksInput {
  limit?: number | undefined;
}

export interface ListChecksData {
  checks: CheckFacts[];
  count: number;
  total: number;
  truncated: boolean;
}

// GET /v1/deliverability/checks/{id}

export interface GetCheckInput {
  id: string;
}

export interface GetCheckData extends CheckResult {
  credits_used: number;
  cached: boolean;
}

// POST /v1/deliverability/monitors

export interface CreateMonitorInput {
  domain: string;
  sending_ip?: string | undefined;
  interval_hours?: number | undefined;
}

export type CreateMonitorData = Monitor;

// GET /v1/deliverability/monitors

export interface ListMonitorsData {
  monitors: Monitor[];
}

// DELETE /v1/deliverability/monitors/{id}

export interface DeleteMonitorInput {
  id: string;
}

export interface DeleteMonitorData {
  monitor_id: string;
  deleted: true;
}

// GET /v1/webhooks

export interface ListWebhooksData {
  webhooks: Webhook[];
}

// POST /v1/webhooks

export interface CreateWebhookInput {
  url: string;
  events: readonly (
    | "job.completed"
    | "job.failed"
    | "credits.low"
    | "credits.depleted"
    | "blacklist.detected"
    | "dmarc.failed"
  )[];
}

export interface CreateWebhookData extends Webhook {
  secret: string;
}

// PUT /v1/webhooks/{id}

export interface UpdateWebhookInput {
  id: string;
  url?: string | undefined;
  events?:
    | readonly (
        | "job.completed"
        | "job.failed"
        | "credits.low"
        | "credits.depleted"
        | "blacklist.detected"
        | "dmarc.failed"
      )[]
    | undefined;
  status?: "active" | "disabled" | undefined;
}

export type UpdateWebhookData = Webhook;

// DELETE /v1/webhooks/{id}

export interface DeleteWebhookInput {
  id: string;
}

export interface DeleteWebhookData {
  id: string;
  deleted: true;
}

// POST /v1/webhooks/{id}/test

export interface TestWebhookInput {
  id: string;
}

export interface TestWebhookData {
  delivered: boolean;
  delivery: Delivery;
}

// POST /v1/webhooks/{id}/secret

export interface RotateWebhookSecretInput {
  id: string;
}

export interface RotateWebhookSecretData extends Webhook {
  secret: string;
}

// GET /v1/webhooks/events

export interface ListWebhookEventsData {
  events: string[];
}

// GET /v1/webhooks/{id}/deliveries

export interface ListDeliveriesInput {
  id: string;
}

export interface ListDeliveriesData {
  deliveries: Delivery[];
}

// POST /v1/webhooks/{id}/deliveries/{delivery_id}/retry

export interface RetryDeliveryInput {
  id: string;
  delivery_id: string;
}

export type RetryDeliveryData = Delivery;

// GET /v1/account

export interface GetAccountData {
  account_id: string;
  name: string;
  created_at: string;
  plan: {
    id: "free" | "pro" | "scale";
    max_addresses_per_job: number;
    requests_per_minute: number;
    retention_days: number;
  };
  credits: { available: number; held: number; spent: number; refunded: number; granted: number };
  key: {
    key_id: string;
    mode: "live" | "test";
    scopes:
      | (
          | "verification:read"
          | "verification:write"
          | "activity:read"
          | "activity:write"
          | "deliverability:read"
          | "deliverability:write"
          | "webhooks:read"
          | "webhooks:write"
          | "account:read"
        )[]
      | null;
  };
}

// GET /v1/account/usage

export interface GetUsageInput {
  from?: string | undefined;
  to?: string | undefined;
}

export interface GetUsageData {
  from: string;
  to: string;
  totals: { credits_granted: number; credits_used: number; credits_refunded: number };
  days: { date: string; credits_granted: number; credits_used: number; credits_refunded: number }[];
}

// GET /v1/api-keys

export interface ListApiKeysData {
  api_keys: ApiKey[];
}

// POST /v1/api-keys

export interface CreateApiKeyInput {
  name: string;
  mode: "live" | "test";
  scopes?:
    | readonly (
        | "verification:read"
        | "verification:write"
        | "activity:read"
        | "activity:write"
        | "deliverability:read"
        | "deliverability:write"
        | "webhooks:read"
        | "webhooks:write"
        | "account:read"
      )[]
    | undefined;
}

export interface CreateApiKeyData extends ApiKey {
  key: string;
}

// DELETE /v1/api-keys/{id}

export interface RevokeApiKeyInput {
  id: string;
}

export interface RevokeApiKeyData {
  key_id: string;
  revoked: true;
}

// GET /v1/catalog

export interface GetCatalogData {
  currency: "USD";
  plans: {
    id: string;
    price_cents_per_month: number;
    max_addresses_per_job: number;
    requests_per_minute: number;
    retention_days: number;
  }[];
  credit_packs: { id: string; credits: number; price_cents: number }[];
  credits_per_operation: Record<string, number>;
}

/** Every operation of the service. */
export interface Operations {
  /**
   * Tell whether the service and what it depends on are alive.
   *
   * Sent again until an answer comes.
   *
   * `GET /health`
   */
  getHealth(options?: CallOptions): Promise<GetHealthData>;

  /**
   * Verify one address.
   *
   * Price: 1 credit; 0.5 credit when the same address was verified within 24 hours.
   * Sent with an Idempotency-Key, so it is sent again until an answer comes, and paid for once.
   *
   * `POST /v1/verify`
   */
  verify(input: VerifyInput, options?: PaidCallOptions): Promise<VerifyData>;

  /**
   * Verify up to 10,000 addresses as a job.
   *
   * Price: 1 credit for each different address, when the job is accepted. No refunds.
   * Sent with an Idempotency-Key, so it is sent again until an answer comes, and paid for once.
   *
   * `POST /v1/verify/batch`
   */
  verifyBatch(input: VerifyBatchInput, options?: PaidCallOptions): Promise<VerifyBatchData>;

  /**
   * Verify the addresses of a CSV or TXT file as a job: ask for an upload, put the file, process it.
   *
   * Sent again until an answer comes.
   *
   * `POST /v1/verify/file`
   */
  createUpload(input: CreateUploadInput, options?: CallOptions): Promise<CreateUploadData>;

  /**
   * Verify the addresses of a CSV or TXT file as a job: ask for an upload, put the file, process it.
   *
   * Price: 1 credit for each different address, when the job is accepted. Uploading costs nothing.
   * Sent with an Idempotency-Key, so it is sent again until an answer comes, and paid for once.
   *
   * `POST /v1/verify/file`
   */
  processFile(input: ProcessFileInput, options?: PaidCallOptions): Promise<ProcessFileData>;

  /**
   * List the jobs, newest first.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/jobs`
   */
  listJobs(input?: ListJobsInput, options?: CallOptions): Promise<ListJobsData>;

  /**
   * Follow a job and read its results, page by page.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/jobs/{id}`
   */
  getJob(input: GetJobInput, options?: CallOptions): Promise<GetJobData>;

  /**
   * Export the results of a job as CSV beside its own columns, or as JSON.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/jobs/{id}/download`
   */
  exportJob(input: ExportJobInput, options?: CallOptions): Promise<ExportJobData>;

  /**
   * Find a person's work address from their names and the company's mail domain.
   *
   * Price: 5 credits, whatever comes of it; the same search again within its two minutes is free, and so is a name that leaves nothing to search with.
   * Sent again only when it is certain that nothing was done.
   *
   * `POST /v1/find`
   */
  find(input: FindInput, options?: CallOptions): Promise<FindData>;

  /**
   * Show what is known of an address's opens and clicks.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/activity/{email}`
   */
  getActivity(input: GetActivityInput, options?: CallOptions): Promise<GetActivityData>;

  /**
   * Show what is known of up to 100 addresses, in the order asked.
   *
   * Sent again until an answer comes.
   *
   * `POST /v1/activity/batch`
   */
  getActivities(input: GetActivitiesInput, options?: CallOptions): Promise<GetActivitiesData>;

  /**
   * Show how the addresses of a domain take mail, and whether the domain is on a blocklist.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/activity/domain/{domain}`
   */
  getReputation(input: GetReputationInput, options?: CallOptions): Promise<GetReputationData>;

  /**
   * Tell what became of up to 500 mails. An event counts once under its id, however often it is told.
   *
   * Sent again until an answer comes.
   *
   * `POST /v1/activity/events`
   */
  recordActivity(input: RecordActivityInput, options?: CallOptions): Promise<RecordActivityData>;

  /**
   * Check how a domain is set up to send mail.
   *
   * Price: 10 credits; nothing when the same was checked within 24 hours.
   * Sent with an Idempotency-Key, so it is sent again until an answer comes, and paid for once.
   *
   * `POST /v1/deliverability/check`
   */
  checkDomain(input: CheckDomainInput, options?: PaidCallOptions): Promise<CheckDomainData>;

  /**
   * List the deliverability checks, newest first.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/deliverability/checks`
   */
  listChecks(input?: ListChecksInput, options?: CallOptions): Promise<ListChecksData>;

  /**
   * Read one deliverability check.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/deliverability/checks/{id}`
   */
  getCheck(input: GetCheckInput, options?: CallOptions): Promise<GetCheckData>;

  /**
   * Watch a domain: it is checked again and again. Each run is an ordinary, paid check.
   *
   * Sent again until an answer comes.
   *
   * `POST /v1/deliverability/monitors`
   */
  createMonitor(input: CreateMonitorInput, options?: CallOptions): Promise<CreateMonitorData>;

  /**
   * List the domains that are watched, newest first.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/deliverability/monitors`
   */
  listMonitors(options?: CallOptions): Promise<ListMonitorsData>;

  /**
   * Watch a domain no longer. A run that has begun is finished, and paid.
   *
   * Sent again until an answer comes.
   *
   * `DELETE /v1/deliverability/monitors/{id}`
   */
  deleteMonitor(input: DeleteMonitorInput, options?: CallOptions): Promise<DeleteMonitorData>;

  /**
   * List the webhooks, oldest first. Their secrets are never shown again.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/webhooks`
   */
  listWebhooks(options?: CallOptions): Promise<ListWebhooksData>;

  /**
   * Be told of events at an HTTPS address. Only this answer shows the secret that signs them.
   *
   * Sent again only when it is certain that nothing was done.
   *
   * `POST /v1/webhooks`
   */
  createWebhook(input: CreateWebhookInput, options?: CallOptions): Promise<CreateWebhookData>;

  /**
   * Change a webhook's address or events, or disable and enable it. What is left out stays.
   *
   * Sent again until an answer comes.
   *
   * `PUT /v1/webhooks/{id}`
   */
  updateWebhook(input: UpdateWebhookInput, options?: CallOptions): Promise<UpdateWebhookData>;

  /**
   * Delete a webhook. What still waits to be sent to it is dropped.
   *
   * Sent again until an answer comes.
   *
   * `DELETE /v1/webhooks/{id}`
   */
  deleteWebhook(input: DeleteWebhookInput, options?: CallOptions): Promise<DeleteWebhookData>;

  /**
   * Send the event webhook.test now, once, signed like any other, and tell what came of it.
   *
   * Sent again only when it is certain that nothing was done.
   *
   * `POST /v1/webhooks/{id}/test`
   */
  testWebhook(input: TestWebhookInput, options?: CallOptions): Promise<TestWebhookData>;

  /**
   * Make a new signing secret. Only this answer shows it, and the old one signs nothing more.
   *
   * Sent again only when it is certain that nothing was done.
   *
   * `POST /v1/webhooks/{id}/secret`
   */
  rotateWebhookSecret(
    input: RotateWebhookSecretInput,
    options?: CallOptions,
  ): Promise<RotateWebhookSecretData>;

  /**
   * List the names of all events.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/webhooks/events`
   */
  listWebhookEvents(options?: CallOptions): Promise<ListWebhookEventsData>;

  /**
   * List the last 100 deliveries to a webhook, newest first. They are kept for 30 days.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/webhooks/{id}/deliveries`
   */
  listDeliveries(input: ListDeliveriesInput, options?: CallOptions): Promise<ListDeliveriesData>;

  /**
   * Send a delivery again, now and for another day if need be, with the same webhook-id.
   *
   * Sent again only when it is certain that nothing was done.
   *
   * `POST /v1/webhooks/{id}/deliveries/{delivery_id}/retry`
   */
  retryDelivery(input: RetryDeliveryInput, options?: CallOptions): Promise<RetryDeliveryData>;

  /**
   * Show the account: its plan, its credits, and what the key in use may do.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/account`
   */
  getAccount(options?: CallOptions): Promise<GetAccountData>;

  /**
   * Show what moved the account's credits, day by day (UTC).
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/account/usage`
   */
  getUsage(input?: GetUsageInput, options?: CallOptions): Promise<GetUsageData>;

  /**
   * List the account's keys, newest first. The keys themselves are never shown again.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/api-keys`
   */
  listApiKeys(options?: CallOptions): Promise<ListApiKeysData>;

  /**
   * Create a key. This answer is the only place where it is ever shown.
   *
   * Sent again only when it is certain that nothing was done.
   *
   * `POST /v1/api-keys`
   */
  createApiKey(input: CreateApiKeyInput, options?: CallOptions): Promise<CreateApiKeyData>;

  /**
   * Revoke a key. It opens nothing from the moment this answers.
   *
   * Sent again until an answer comes.
   *
   * `DELETE /v1/api-keys/{id}`
   */
  revokeApiKey(input: RevokeApiKeyInput, options?: CallOptions): Promise<RevokeApiKeyData>;

  /**
   * List plans, credit packs and what each operation costs.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/catalog`
   */
  getCatalog(options?: CallOptions): Promise<GetCatalogData>;
}

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
  | "JOB_ENDED"
  | "PAYLOAD_TOO_LARGE"
  | "RATE_LIMITED"
  | "INTERNAL"
  | "UNAVAILABLE";

export interface VerificationResult {
  /** The address as it was read. */
  email: string;
  /** valid: deliverable. invalid: will bounce. risky: may be deliverable. unknown: could not be determined. catch_all: the domain accepts every address. disposable: a disposable address. role: a role address. spam_trap: a known spam trap. */
  status:
    | "valid"
    | "invalid"
    | "risky"
    | "unknown"
    | "catch_all"
    | "disposable"
    | "role"
    | "spam_trap";
  /** Quality, 0–100: 90 excellent, 70 good, 50 fair, below that poor. */
  quality_score: number;
  /** Code for why the address has this status. */
  reason: string;
  /** A finer code for the reason. Null when there is none. */
  sub_status: string | null;
  /** The mail provider. Null when it is not recognized. */
  provider: string | null;
  /** The outcome of each check. */
  verification: {
    /** True when the address is well formed. */
    syntax_valid: boolean;
    /** True when the domain exists in DNS. Left out when that is not known: the look-up failed, or none was made. `reason` or `sub_status` says why. */
    domain_exists?: boolean;
    /** True when the domain has a host that accepts mail. */
    mx_found: boolean;
    /** True when the mail server gave a definite reply about this address. */
    smtp_check: boolean;
    /** True when the mail server accepts this address and rejects random ones. */
    mailbox_exists: boolean;
    /** True when the mail server accepts every address of the domain. */
    catch_all: boolean;
  };
  /** Kind of address. */
  flags: {
    /** True for a domain of a disposable-address service. */
    disposable: boolean;
    /** True for a role address, such as info@ or sales@. */
    role_account: boolean;
    /** True for a free mail provider. */
    free_provider: boolean;
    /** True for a known spam trap. */
    spam_trap: boolean;
    /** True for an address that exists to catch harvesters. */
    honeypot: boolean;
    /** True when the local part looks machine-generated. */
    bot_generated: boolean;
    /** True for a domain that only the broad lists call disposable. They also hold ordinary domains, so the hint lowers the score and never decides the status. `evidence.disposable_hint` names the lists. */
    disposable_hint: boolean;
  };
  /** The name that the address suggests. */
  enrichment: {
    /** First name. Null when the address does not suggest one. */
    first_name: string | null;
    /** Last name. Null when the address does not suggest one. */
    last_name: string | null;
    /** First and last name. Empty when neither is known. */
    full_name: string;
    /** Always `unknown`. */
    gender: string;
  };
  /** Estimates. Left out when `include_ai` is false. */
  ai?: {
    /** The address that was probably meant. Null when the domain receives mail or there is no likely typo. */
    typo_suggestion: string | null;
    /** Probability of the suggestion, 0–1. Null without a suggestion. */
    typo_confidence: number | null;
    /** Probability that the mailbox exists, 0–1. Present only when the domain accepts every address, or may: it accepted this one and was not seen to reject another. */
    catch_all_confidence?: number;
  };
  /** DNS answers, SMTP transcript, parts of the score; `receiver` is an entry of docs/receivers.md. Only with `include_evidence`. */
  evidence?: Record<string, unknown>;
  /** Checks not made because the mail server was not asked. Left out when it was asked or did not have to be. */
  checks_skipped?: ("smtp_check" | "mailbox_exists" | "catch_all")[];
  /** When the address was verified, ISO 8601. */
  verified_at: string;
}

export interface ResultRow extends VerificationResult {
  /** The row's number in the submitted list, from 1. */
  row: number;
}

export interface Job {
  /** The job's id. */
  job_id: string;
  /** The job's name. Left out when it has none. */
  name?: string;
  /** What created the job: a slow single verification, a batch, or a file. */
  kind: "single" | "batch" | "file";
  /** pending: queued. processing: running. completed: every address has its result. failed: see `error`. cancelled: it was cancelled, and the addresses without a result were refunded. enqueue_unknown: it is not known whether some of the addresses are queued; their credits are held. */
  status: "pending" | "processing" | "completed" | "failed" | "cancelled" | "enqueue_unknown";
  /** Number of addresses by state. */
  progress: {
    /** Addresses in the job. */
    total: number;
    /** Addresses with a result. */
    processed: number;
    /** Valid addresses. */
    valid: number;
    /** Invalid and disposable addresses. */
    invalid: number;
    /** Risky, catch-all, role and spam trap addresses. */
    risky: number;
    /** Unknown addresses, and those without a status. */
    unknown: number;
  };
  /** Addresses with a result. Exports are measured against this number. */
  processed_emails: number;
  /** Addresses that wait for another attempt because their mail host or DNS could not answer yet. Left out when none waits. */
  deferred?: {
    /** Number of waiting addresses. */
    count: number;
    /** Number of waiting addresses for each reason. `waiting_for_provider`: all connections that the mail provider allows are in use. Such a wait is no attempt, and ends with one. */
    by_reason: Record<string, number>;
    /** When the first of them is attempted again, ISO 8601; with `waiting_for_provider` an estimate from the rate at that provider. A time in the past means that the attempt is under way. */
    next_attempt_at: string;
  };
  /** When it was created, ISO 8601. */
  created_at: string;
  /** When the job ended, ISO 8601. Left out while it runs. */
  completed_at?: string;
  /** Credits refunded for addresses that could not be queued, failed on our side, had no result when the job was cancelled, or are `unknown` only because no mail server was asked. Present when the job has ended and there are any. */
  credits_refunded?: number;
  /** Why the job failed and what happened to its credits. Left out otherwise. */
  error?: string;
}

export interface ActivityRecord {
  /** The address. */
  email: string;
  /** Opens and clicks by people. */
  activity: {
    /** When this address last opened or clicked, ISO 8601. Left out when there is none. */
    last_seen?: string;
    /** When this address last opened, ISO 8601. Left out when there is none. */
    last_open?: string;
    /** When this address last clicked, ISO 8601. Left out when there is none. */
    last_click?: string;
    /** high: active within 30 days. medium: within 90 days. low: longer ago. unknown: no open or click is recorded. */
    engagement_level: "high" | "medium" | "low" | "unknown";
    /** Number of opens. */
    total_opens: number;
    /** Number of clicks. */
    total_clicks: number;
    /** Number of opens in the last 30 days. */
    opens_last_30d: number;
    /** Number of clicks in the last 30 days. */
    clicks_last_30d: number;
    /** Number of opens and clicks by software. They are not counted in the other fields. */
    machine_events: number;
  };
  /** What happened to mail for this address. */
  deliverability: {
    /** known: all three rates are present. partly_known: some are. not_known: none is, because no delivery or bounce is recorded. */
    status: "known" | "partly_known" | "not_known";
    /** Share of sent messages that were delivered without a complaint, 0–1. Left out when unknown. */
    inbox_rate?: number;
    /** Share of delivered messages with a spam complaint, 0–1. Left out when unknown. */
    spam_rate?: number;
    /** Share of sent messages that bounced, 0–1. Left out when unknown. */
    bounce_rate?: number;
  };
}

export interface CheckSummary {
  /** The check's id. */
  check_id: string;
  /** The domain in lower case, in A-labels (xn--…). */
  domain: string;
  /** The same domain in Unicode. */
  domain_unicode: string;
  /** The sending IPv4 address. Left out when none was given. */
  sending_ip?: string;
  /** Overall score, 0–100. */
  score: number;
  /** Grade of the score, A to F. */
  grade: "A" | "B" | "C" | "D" | "F";
  /** high: every part was answered. medium: at least half of the score's weight. low: less than half. Left out for checks of the first release. */
  confidence?: "high" | "medium" | "low";
  /** When the check was made, ISO 8601. */
  checked_at: string;
}

export interface CheckResult {
  /** The check's id. */
  check_id: string;
  /** The domain in lower case, in A-labels (xn--…). */
  domain: string;
  /** The same domain in Unicode. */
  domain_unicode: string;
  /** The sending IPv4 address. Left out when none was given. */
  sending_ip?: string;
  /** Overall score, 0–100. */
  score: number;
  /** Grade of the score, A to F. */
  grade: "A" | "B" | "C" | "D" | "F";
  /** high: every part was answered. medium: at least half of the score's weight. low: less than half, so the grade is uncertain. */
  confidence: "high" | "medium" | "low";
  /** When the check was made, ISO 8601. */
  checked_at: string;
  /** Parts that could not be looked up. They are left out of the score, and no recommendation is about them. */
  missing_parts: ("dns" | "spf" | "dkim" | "dmarc" | "reputation" | "ptr")[];
  /** Version of the scoring rules. */
  model_version: string;
  /** How the score is computed. */
  score_parts: {
    /** The parts of the weighted mean. */
    components: {
      /** The part's name. */
      component: string;
      /** The part's weight. */
      weight: number;
      /** The part's score, 0–100. */
      score: number;
    }[];
    /** The weighted mean before caps, 0–100. */
    before_cap: number;
    /** The cap that lowered the score. Left out when no cap did. */
    capped_by?: string;
  };
  /** Where mail for the domain goes. */
  dns: {
    /** Result of the MX check. `error`: the look-up failed, so `has_valid_mx` and `mx_score` are not known and left out. */
    status: "pass" | "warn" | "fail" | "missing" | "unknown" | "error";
    /** The domain's mail hosts. */
    mx_records: {
      /** MX preference. Lower values are tried first. */
      priority: number;
      /** The host's name. */
      host: string;
      /** The host's IP address. Null when it has none. */
      ip: string | null;
    }[];
    /** True when the domain can receive mail. Left out when `status` is `error`. */
    has_valid_mx?: boolean;
    /** Score of the section, 0–100. Left out when `status` is `error`. */
    mx_score?: number;
    /** Problems found. */
    issues: {
      /** The issue's code. */
      id: string;
      /** How serious the issue is. */
      severity: "critical" | "high" | "medium" | "low" | "info";
      /** The issue in a sentence. */
      message: string;
      /** Names and numbers that the issue is about. */
      detail: Record<string, string | number>;
      /** Points that the issue costs in the score of its section. */
      cost_points: number;
    }[];
  };
  /** How receivers can tell the domain's mail from forged mail. */
  authentication: {
    /** Which hosts may send for the domain. */
    spf: {
      /** Result of the SPF check. `error`: the look-up failed, so `score` is left out. */
      status: "pass" | "warn" | "fail" | "missing" | "unknown" | "error";
      /** The record in DNS. Left out when none was found. */
      record?: string;
      /** Score of the section, 0–100. Left out when unknown. */
      score?: number;
      /** DNS look-ups that evaluating the record takes. The limit is 10. */
      lookups: number;
      /** DNS look-ups that found nothing. The limit is 2. */
      void_lookups: number;
      /** The SPF result for `sending_ip`. Left out when no `sending_ip` was given or there is no result. */
      result_for_sending_ip?: string;
      /** Problems found. */
      issues: {
        /** The issue's code. */
        id: string;
        /** How serious the issue is. */
        severity: "critical" | "high" | "medium" | "low" | "info";
        /** The issue in a sentence. */
        message: string;
        /** Names and numbers that the issue is about. */
        detail: Record<string, string | number>;
        /** Points that the issue costs in the score of its section. */
        cost_points: number;
      }[];
    };
    /** Which keys sign the domain's mail. */
    dkim: {
      /** Result of the DKIM check. `error`: the look-up failed, so `score` is left out. */
      status: "pass" | "warn" | "fail" | "missing" | "unknown" | "error";
      /** Selectors under which keys were found. */
      selectors_found: string[];
      /** Score of the section, 0–100. Left out when unknown. */
      score?: number;
      /** Problems found. */
      issues: {
        /** The issue's code. */
        id: string;
        /** How serious the issue is. */
        severity: "critical" | "high" | "medium" | "low" | "info";
        /** The issue in a sentence. */
        message: string;
        /** Names and numbers that the issue is about. */
        detail: Record<string, string | number>;
        /** Points that the issue costs in the score of its section. */
        cost_points: number;
      }[];
    };
    /** What receivers are asked to do with forged mail. */
    dmarc: {
      /** Result of the DMARC check. `error`: the look-up failed, so `score` is left out. */
      status: "pass" | "warn" | "fail" | "missing" | "unknown" | "error";
      /** The record in DNS. Left out when none was found. */
      record?: string;
      /** The domain that publishes the record: this one or a parent. Left out when none was found. */
      record_domain?: string;
      /** The policy the record requests for this domain. Left out when there is none. */
      policy?: string;
      /** Score of the section, 0–100. Left out when unknown. */
      score?: number;
      /** Problems found. */
      issues: {
        /** The issue's code. */
        id: string;
        /** How serious the issue is. */
        severity: "critical" | "high" | "medium" | "low" | "info";
        /** The issue in a sentence. */
        message: string;
        /** Names and numbers that the issue is about. */
        detail: Record<string, string | number>;
        /** Points that the issue costs in the score of its section. */
        cost_points: number;
      }[];
    };
  };
  /** Results of the blocklists. */
  reputation: {
    /** Score of the section, 0–100. Null when no blocklist returned a verdict. */
    score: number | null;
    /** Number of blocklists that returned a verdict. */
    blacklists_checked: number;
    /** Number of blocklists that did not answer, or not with a verdict. */
    blacklists_inconclusive: number;
    /** Number of blocklists that were not asked. */
    blacklists_skipped: number;
    /** Number of all blocklists. */
    blacklists_total: number;
    /** Number of blocklists that list the domain or its IP address. */
    blacklists_listed: number;
    /** The blocklists that list it. */
    listed_on: {
      /** The blocklist's id. */
      id: string;
      /** The blocklist's name. */
      name: string;
      /** The domain or IP address that is listed. */
      listed: string;
      /** The return codes of the blocklist. */
      codes: string[];
      /** What the return codes mean. */
      says: string;
      /** Where to request removal. Empty when it is not known. */
      removal_url: string;
    }[];
  };
  /** The sending server. No mail server is contacted, so four of the fields are always null. */
  server: {
    /** Always null: not measured. */
    accepts_mail: null;
    /** Always null: not measured. */
    response_time_ms: null;
    /** Always null: not measured. */
    supports_tls: null;
    /** Always null: not measured. */
    tls_version: null;
    /** Result of the reverse DNS check. not_checked: no `sending_ip` was given. error: the look-up failed, so the score is left out. */
    reverse_dns_status: "pass" | "warn" | "fail" | "missing" | "unknown" | "error" | "not_checked";
    /** The host name of `sending_ip` (PTR). Left out when there is none or it is not known. */
    reverse_dns?: string;
    /** True when that name resolves back to `sending_ip`. Left out when unknown. */
    reverse_dns_confirmed?: boolean;
    /** Score of reverse DNS, 0–100. Left out when unknown. */
    reverse_dns_score?: number;
    /** Problems found. */
    issues: {
      /** The issue's code. */
      id: string;
      /** How serious the issue is. */
      severity: "critical" | "high" | "medium" | "low" | "info";
      /** The issue in a sentence. */
      message: string;
      /** Names and numbers that the issue is about. */
      detail: Record<string, string | number>;
      /** Points that the issue costs in the score of its section. */
      cost_points: number;
    }[];
  };
  /** How a spam filter is likely to treat mail of the domain. */
  spam_assessment: {
    /** Sum of the points, 0–100. Lower is better. */
    score: number;
    /** The score in a word. */
    spam_likelihood: "low" | "medium" | "high";
    /** What lowers and raises the score. */
    factors: {
      /** The factor's code. */
      id: string;
      /** Whether the factor helps or hurts. */
      impact: "positive" | "negative";
      /** Points of the factor. */
      points: number;
      /** The factor in a sentence. */
      description: string;
    }[];
  };
  /** What to do, by the points it regains, most first. */
  recommendations: {
    /** The recommendation's code. */
    id: string;
    /** How serious the issue behind it is. */
    severity: "critical" | "high" | "medium" | "low" | "info";
    /** What to do, in a sentence. */
    text: string;
    /** Points that the overall score gains. */
    points_regained: number;
    /** Codes of the issues that it resolves. */
    issues: string[];
  }[];
}

export interface Monitor {
  /** The monitor's id. */
  monitor_id: string;
  /** The domain in lower case, in A-labels (xn--…). */
  domain: string;
  /** The same domain in Unicode. */
  domain_unicode: string;
  /** The sending IPv4 address. Left out when none was given. */
  sending_ip?: string;
  /** Hours between two checks. */
  interval_hours: number;
  /** When it was created, ISO 8601. */
  created_at: string;
  /** When the domain is checked next, ISO 8601. */
  next_check_at: string;
  /** The result of the last check. Null before the first. */
  last_check: {
    /** The check's id. */
    check_id: string;
    /** Overall score, 0–100. */
    score: number;
    /** Grade of the score, A to F. */
    grade: string;
    /** How much of the score's weight was answered: high, medium or low. Left out for checks of the first release. */
    confidence?: "high" | "medium" | "low";
    /** When the check was made, ISO 8601. */
    checked_at: string;
  } | null;
  /** Why the last run had no result. Null when it had one. */
  last_problem: "insufficient_credits" | "no_verdict" | "failed" | null;
  /** A note for people. Left out when there is none. */
  message?: string;
}

export interface ApiKey {
  /** The key's id. It is needed to revoke the key. */
  key_id: string;
  /** The key's name. */
  name: string;
  /** live: real results, charged. test: simulated results, free. */
  mode: "live" | "test";
  /** Scopes that the key is limited to. Null when it is unrestricted. */
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
  /** The first and last characters of the key. */
  hint: string;
  /** When it was created, ISO 8601. */
  created_at: string;
}

export interface Webhook {
  /** The webhook's id. */
  id: string;
  /** The HTTPS address that events are sent to. */
  url: string;
  /** The events that are sent. */
  events: (
    | "job.completed"
    | "job.failed"
    | "credits.low"
    | "credits.depleted"
    | "blacklist.detected"
    | "dmarc.failed"
  )[];
  /** Whether events are sent. */
  status: "active" | "disabled";
  /** asked: disabled by the account. failing: nothing was delivered for five days. gone: the address answered 410. */
  disabled_because?: "asked" | "failing" | "gone";
  /** Start of the failed attempts, ISO 8601. Left out when the last attempt succeeded. */
  failing_since?: string;
  /** When it was created, ISO 8601. */
  created_at: string;
}

export interface Delivery {
  /** The delivery's id. */
  id: string;
  /** The event's id, also in the header webhook-id and the same on each attempt. */
  event_id: string;
  /** The event's type. */
  event: string;
  /** The state of the delivery. */
  status: "pending" | "delivered" | "failed" | "noted";
  /** Number of attempts. */
  attempts: number;
  /** The HTTP status of the last response. Null when there was none. */
  response_status: number | null;
  /** Time until the last response, in milliseconds. Null when there was none. */
  latency_ms: number | null;
  /** Code for why the last attempt failed. Null when it did not. */
  error: string | null;
  /** When it was created, ISO 8601. */
  created_at: string;
  /** When the last attempt was made, ISO 8601. Null before the first. */
  last_attempt_at: string | null;
  /** When the next attempt is made, ISO 8601. Null when there is none. */
  next_attempt_at: string | null;
}

/** The body of a webhook. Events may gain fields, and there may be more of them. */
export type WebhookEvent =
  | {
      /** The event's id, also in the header webhook-id and the same on each attempt. */
      id: string;
      /** The event's type. */
      type: "job.completed";
      /** When the event happened, ISO 8601. */
      created_at: string;
      /** The event's data. */
      data: {
        /** The job's id. */
        job_id: string;
        /** The state of the job. */
        status: "completed";
        /** Number of addresses by state. */
        progress: {
          /** Addresses in the job. */
          total: number;
          /** Addresses with a result. */
          processed: number;
          /** Valid addresses. */
          valid: number;
          /** Invalid and disposable addresses. */
          invalid: number;
          /** Risky, catch-all, role and spam trap addresses. */
          risky: number;
          /** Unknown addresses, and those without a status. */
          unknown: number;
        };
      };
    }
  | {
      /** The event's id, also in the header webhook-id and the same on each attempt. */
      id: string;
      /** The event's type. */
      type: "job.failed";
      /** When the event happened, ISO 8601. */
      created_at: string;
      /** The event's data. */
      data: {
        /** The job's id. */
        job_id: string;
        /** The state of the job. */
        status: "failed";
        /** Number of addresses by state. */
        progress: {
          /** Addresses in the job. */
          total: number;
          /** Addresses with a result. */
          processed: number;
          /** Valid addresses. */
          valid: number;
          /** Invalid and disposable addresses. */
          invalid: number;
          /** Risky, catch-all, role and spam trap addresses. */
          risky: number;
          /** Unknown addresses, and those without a status. */
          unknown: number;
        };
        /** Why the job failed, and what happened to its credits. */
        error: string;
      };
    }
  | {
      /** The event's id, also in the header webhook-id and the same on each attempt. */
      id: string;
      /** The event's type. */
      type: "credits.low";
      /** When the event happened, ISO 8601. */
      created_at: string;
      /** The event's data. */
      data: {
        /** The account's id. */
        account_id: string;
        /** Credits left after the request that crossed the threshold. */
        available: number;
        /** The threshold that was crossed, in credits. */
        threshold: number;
      };
    }
  | {
      /** The event's id, also in the header webhook-id and the same on each attempt. */
      id: string;
      /** The event's type. */
      type: "credits.depleted";
      /** When the event happened, ISO 8601. */
      created_at: string;
      /** The event's data. */
      data: {
        /** The account's id. */
        account_id: string;
        /** Credits left after the request that crossed the threshold. */
        available: number;
        /** The threshold that was crossed, in credits. */
        threshold: number;
      };
    }
  | {
      /** The event's id, also in the header webhook-id and the same on each attempt. */
      id: string;
      /** The event's type. */
      type: "blacklist.detected";
      /** When the event happened, ISO 8601. */
      created_at: string;
      /** The event's data. */
      data: {
        /** The monitored domain. */
        domain: string;
        /** The sending IPv4 address. Null when the monitor has none. */
        sending_ip: string | null;
        /** The check's id. The operation getCheck returns the check. */
        check_id: string;
        /** The blocklists that list it. */
        listed_on: string[];
      };
    }
  | {
      /** The event's id, also in the header webhook-id and the same on each attempt. */
      id: string;
      /** The event's type. */
      type: "dmarc.failed";
      /** When the event happened, ISO 8601. */
      created_at: string;
      /** The event's data. */
      data: {
        /** The monitored domain. */
        domain: string;
        /** The check's id. The operation getCheck returns the check. */
        check_id: string;
        /** Result of the DMARC check. */
        status: string;
        /** The policy the record requests. Null when there is none. */
        policy: string | null;
        /** Codes of the problems found. */
        issues: string[];
      };
    }
  | {
      /** The event's id, also in the header webhook-id and the same on each attempt. */
      id: string;
      /** The event's type. */
      type: "webhook.test";
      /** When the event happened, ISO 8601. */
      created_at: string;
      /** The event's data. */
      data: {
        /** The webhook's id. */
        webhook_id: string;
      };
    };

// GET /health

export interface GetHealthData {
  /** `degraded` when one of `checks` is not ok. */
  status: "healthy" | "degraded";
  /** When the state was checked, ISO 8601. */
  timestamp: string;
  /** The service's name. */
  service: string;
  /** The service's version. */
  version: string;
  /** State of each part that the service depends on. */
  checks: {
    /** The database. */
    table: "ok" | "dead_letters_waiting" | "failed";
    /** The queues. */
    queue: "ok" | "dead_letters_waiting" | "failed";
    /** The file storage. */
    blobs: "ok" | "dead_letters_waiting" | "failed";
    /** DNS. failed: no name server has answered any question for a minute. */
    dns: "ok" | "failed";
    /** blocked: a large mail provider refuses an IP address of this service. */
    mail_providers: "ok" | "blocked";
  };
}

// POST /v1/verify

export interface VerifyEmailInput {
  /** The address to verify. Text that is not an address returns status `invalid`. */
  email: string;
  /** Whether to add `activity` to the result, at no extra cost. */
  include_activity?: boolean | null | undefined;
  /** How to verify. */
  options?:
    | {
        /** Whether to ask the mail server about the mailbox. With `false` only syntax, lists and DNS are checked, `checks_skipped` names the rest, and a result that is `unknown` for that reason is free. */
        deep_verify?: boolean | null | undefined;
        /** Whether the result has `ai`. */
        include_ai?: boolean | null | undefined;
        /** Whether the result has `evidence`. */
        include_evidence?: boolean | null | undefined;
        /** How long to wait for the result, in milliseconds. A value below 100 counts as 100, one above 25,000 as 25,000. A slower verification continues as a job. A repeat under the same Idempotency-Key may have another value. */
        timeout_ms?: number | null | undefined;
      }
    | null
    | undefined;
}

export type VerifyEmailData =
  | (VerificationResult & {
      /** Opens and clicks of the address. Present only with `include_activity`. */
      activity?: {
        /** When this address last opened or clicked, ISO 8601. Left out when there is none. */
        last_seen?: string;
        /** high: active within 30 days. medium: within 90 days. low: longer ago. unknown: no open or click is recorded. */
        engagement_level: "high" | "medium" | "low" | "unknown";
        /** Number of opens in the last 30 days. */
        opens_last_30d: number;
        /** Number of clicks in the last 30 days. */
        clicks_last_30d: number;
      };
      /** True when the result is from the last 24 hours, for this account. */
      cached: boolean;
      /** A note for people. Left out when there is none. */
      message?: string;
      /** Credits charged by this request. */
      credits_used: number;
      /** True when an earlier response is repeated. Left out otherwise. */
      idempotent_replay?: boolean;
    })
  | {
      /** Always `pending`: the verification continues as a job. */
      status: "pending";
      /** The job's id. Read the result at GET /v1/jobs/{id}. */
      job_id: string;
      /** The address of the request. */
      email: string;
      /** When it was created, ISO 8601. */
      created_at: string;
      /** What to do next, in a sentence. */
      message: string;
      /** Credits charged by this request. */
      credits_used: number;
      /** True when an earlier response is repeated. Left out otherwise. */
      idempotent_replay?: boolean;
    };

// POST /v1/verify/batch

export interface VerifyBatchInput {
  /** The addresses, up to 10,000. A repeated address is verified and charged once. */
  emails: readonly string[];
  /** The job's name. */
  name?: string | null | undefined;
  /** HTTPS URL to call when the job ends. The call is signed only if `webhook_secret` is sent; treat an unsigned call as a hint to read the job. */
  webhook_url?: string | null | undefined;
  /** Signs the call by Standard Webhooks: 1 to 256 characters of your choice. */
  webhook_secret?: string | null | undefined;
  /** How to verify. */
  options?:
    | {
        /** Whether to ask the mail server about the mailbox. With `false` only syntax, lists and DNS are checked, `checks_skipped` names the rest, and results that are `unknown` for that reason are refunded at the end. */
        deep_verify?: boolean | null | undefined;
        /** Whether results have `ai`. */
        include_ai?: boolean | null | undefined;
        /** The longest time, in minutes, that an address may wait for further attempts; 0: one attempt only. Addresses not resolved by then are `unknown`, with the reason. */
        max_wait_minutes?: number | null | undefined;
      }
    | null
    | undefined;
}

export interface VerifyBatchData {
  /** The job's id. */
  job_id: string;
  /** The state of the job. */
  status: "processing";
  /** Number of submitted addresses. */
  total_emails: number;
  /** Different addresses, each verified and charged once. */
  unique_emails: number;
  /** Repeated addresses. */
  duplicates_removed: number;
  /** When it was created, ISO 8601. */
  created_at: string;
  /** Credits charged by this request. */
  credits_used: number;
  /** True when an earlier response is repeated. Left out otherwise. */
  idempotent_replay?: boolean;
}

// POST /v1/verify/file

export interface CreateUploadInput {
  /** The file's name, ending in .csv or .txt. */
  file_name: string;
  /** Its size in bytes. The URL then accepts no other size. */
  file_size?: number | null | undefined;
}

export interface CreateUploadData {
  /** PUT the file to this URL, unchanged. Anyone who has the URL can write the file. */
  upload_url: string;
  /** Identifies the upload. Send it with action `process`. */
  file_key: string;
  /** Lifetime of the URL in seconds. */
  expires_in_seconds: number;
  /** What to do next, in a sentence. */
  next_step: string;
}

// POST /v1/verify/file

export interface ProcessFileInput {
  /** The `file_key` of the upload. */
  file_key: string;
  /** The header or the number of the column with the addresses. Left out: it is detected. */
  email_column?: string | null | undefined;
  /** Whether the first row names the columns. Left out: it is detected. */
  has_header?: boolean | null | undefined;
  /** The job's name. Left out: the name of the file. */
  name?: string | null | undefined;
  /** HTTPS URL to call when the job ends. The call is not signed: treat it as a hint to read the job. */
  webhook_url?: string | null | undefined;
  /** How to verify. */
  options?:
    | {
        /** Whether to ask the mail server about the mailbox. With `false` only syntax, lists and DNS are checked, `checks_skipped` names the rest, and results that are `unknown` for that reason are refunded at the end. */
        deep_verify?: boolean | null | undefined;
        /** Whether results have `ai`. */
        include_ai?: boolean | null | undefined;
        /** The longest time, in minutes, that an address may wait for further attempts; 0: one attempt only. Addresses not resolved by then are `unknown`, with the reason. */
        max_wait_minutes?: number | null | undefined;
      }
    | null
    | undefined;
}

export interface ProcessFileData {
  /** The job's id. */
  job_id: string;
  /** The state of the job. enqueue_unknown: it is not known whether some of the addresses are queued. */
  status: "processing" | "enqueue_unknown";
  /** Number of rows read, including rows without an address. */
  total_submitted: number;
  /** Repeated addresses. */
  duplicates_removed: number;
  /** Number of rows without an address. They are neither charged nor in the job. */
  invalid_emails_skipped: number;
  /** Different addresses, each verified and charged once. */
  unique_emails: number;
  /** What was found in a file, and its first rows without an address. */
  file?: {
    /** The name of the column with the addresses. */
    email_column: string;
    /** The number of that column, from 0. */
    email_column_index: number;
    /** Names of other columns that hold addresses. They are not verified. */
    other_email_columns: string[];
    /** True when the first row names the columns. */
    has_header: boolean;
    /** The names of the first 20 columns. */
    columns: string[];
    /** Number of columns in the file. */
    column_count: number;
    /** The character encoding of the file. */
    encoding: "utf-8" | "utf-16le" | "utf-16be" | "windows-1252" | "shift_jis";
    /** `comma`, `semicolon`, `tab`, `pipe`, `none` in a file of one column, or the character itself. */
    delimiter: string;
    /** The first 10 rows without an address. For all of them export the job with `rows=all`. */
    skipped_rows: {
      /** The number of the row in the file, from 1. The header counts; blank lines do not. */
      row: number;
      /** The text of the email cell, cut after 100 characters. */
      text: string;
      /** Code for what is wrong with the cell. */
      reason: string;
      /** What is wrong with the cell, in a sentence. */
      message: string;
    }[];
  };
  /** Credits charged by this request. */
  credits_used: number;
  /** Credits left after this request. Left out when they could not be read. */
  credits_remaining?: number;
  /** Credits refunded for addresses that could not be queued. Left out when there are none. */
  credits_refunded?: number;
  /** Credits charged, but neither spent nor refunded yet. Left out when there are none. */
  credits_held?: number;
  /** Number of addresses of which it is not known whether they are queued. Left out when there are none. */
  enqueue_unknown?: number;
  /** True when an earlier request with this key is still queueing. Send the same request again after Retry-After, or follow the job. */
  dispatch_in_progress?: boolean;
  /** True when all addresses are queued and their credits are not settled yet. */
  dispatch_settlement_pending?: boolean;
  /** True when an earlier response is repeated. Left out otherwise. */
  idempotent_replay?: boolean;
  /** The result in a sentence. */
  message: string;
}

// GET /v1/jobs

export interface ListJobsInput {
  /** Largest number of jobs on a page. Larger values are cut to 100. */
  limit?: number | undefined;
  /** Only jobs in this state. */
  status?:
    | "pending"
    | "processing"
    | "completed"
    | "failed"
    | "cancelled"
    | "enqueue_unknown"
    | undefined;
  /** The `next_offset` of the previous page. */
  offset?: string | undefined;
}

export interface ListJobsData {
  /** The jobs, newest first. */
  jobs: Job[];
  /** Number of jobs. */
  total: number;
  /** True when counting stopped early: there are at least `total` jobs. */
  total_is_approximate: boolean;
  /** True when there is another page. */
  has_more: boolean;
  /** Cursor for the next page. Left out on the last page. */
  next_offset?: string;
}

// GET /v1/jobs/{id}

export interface GetJobInput {
  /** The job's id (`job_id`). */
  id: string;
  /** `false` leaves the results out. Any other value includes them. */
  include_results?: boolean | undefined;
  /** Largest number of results on a page. Larger values are cut to 1,000. */
  limit?: number | undefined;
  /** The `next_key` of the previous page. Following it from the first page to a page without one returns every row exactly once, also while the job runs. */
  next_key?: string | undefined;
}

export interface GetJobData extends Job {
  /** The next results: those that are ready and that no previous page returned, in the order of the list. Left out when there are none. */
  results?: ResultRow[];
  /** Cursor for the next page, at most 2,000 characters. Present while the job runs, even on a page without results: send it later for the rows that are ready by then. Left out when the job has ended and every row was returned, and with `include_results=false`. */
  next_key?: string;
}

// POST /v1/jobs/{id}/cancel

export interface CancelJobInput {
  /** The job's id (`job_id`). */
  id: string;
}

export type CancelJobData = Job;

// GET /v1/jobs/{id}/download

export interface DownloadJobInput {
  /** The job's id (`job_id`). */
  id: string;
  /** Which results to export. `invalid` includes disposable; `risky` includes catch_all, role and spam_trap; `unknown` includes rows without a status. Case does not matter. */
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
  /** `verified`: the rows that have a result. `all`: every row of the list, in its order; `row_outcome` says why a row has no result. Cannot be combined with a filter. Case does not matter. */
  rows?: "verified" | "all" | undefined;
  /** Separates the cells of a CSV: `comma`, `semicolon` or `tab`. Left out: the delimiter of your own file. Not for `format=json`. Case does not matter. */
  delimiter?: "comma" | "semicolon" | "tab" | undefined;
}

export type DownloadJobData =
  | {
      /** The format of the export. */
      format: "json";
      /** Which results the export has. */
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
      /** Which rows of the list the export has. */
      rows: "verified" | "all";
      /** True when the job is completed and every row it counts was read. Look at this field first. */
      complete: boolean;
      /** Rows with a result that the filter selects. The number grows while the job runs. */
      expected_rows: number;
      /** Rows among them that could not be read. */
      rows_missing: number;
      /** Addresses of the job without a result yet. */
      rows_pending: number;
      /** The rows of the export, in the order of the list. */
      results: (
        | (ResultRow & {
            /** `verified`: the row has a result. Present with `rows=all`. */
            row_outcome?: "verified";
            /** The submitted text. `email` holds the address that was read from it. */
            submitted?: string;
            /** The cells of the row, by the names of the list's columns. */
            columns?: Record<string, string>;
          })
        | {
            /** The row's number in the submitted list, from 1. */
            row: number;
            /** `pending`: the row has no result yet. `duplicate`: its address is that of the row `duplicate_of`. `skipped`: it holds no address, or several. `not_queued`: it could not be queued and was refunded. `cancelled`: it had no result when the job was cancelled, and was refunded. `missing`: its result cannot be read. */
            row_outcome:
              | "pending"
              | "not_queued"
              | "cancelled"
              | "missing"
              | "duplicate"
              | "skipped";
            /** Number of the row with the same address, which has the result. */
            duplicate_of?: number;
            /** Code for what is wrong with the email cell. */
            skip_reason?: string;
            /** What is wrong with the email cell, in a sentence. */
            skip_message?: string;
            /** The submitted text. `email` holds the address that was read from it. */
            submitted?: string;
            /** The cells of the row, by the names of the list's columns. */
            columns?: Record<string, string>;
          }
      )[];
    }
  | {
      /** The format of the export. */
      format: "json";
      /** Which results the export has. */
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
      /** Which rows of the list the export has. */
      rows: "verified" | "all";
      /** True when the job is completed and every row it counts was read. Look at this field first. */
      complete: boolean;
      /** Rows with a result that the filter selects. The number grows while the job runs. */
      expected_rows: number;
      /** Rows among them that could not be read. */
      rows_missing: number;
      /** Addresses of the job without a result yet. */
      rows_pending: number;
      /** URL of the whole export. It works without a key until `expires_at`. */
      download_url: string;
      /** Lifetime of the URL in seconds. */
      expires_in_seconds: number;
      /** When the URL stops working, ISO 8601. */
      expires_at: string;
    };

// GET /v1/jobs/{id}/callbacks

export interface ListCallbacksInput {
  /** The job's id (`job_id`). */
  id: string;
}

export interface ListCallbacksData {
  /** The URL that is called when the job ends. Left out when the job has none. */
  webhook_url?: string;
  /** The deliveries, newest first. */
  deliveries: Delivery[];
}

// POST /v1/find

export interface FindEmailInput {
  /** The person's first name, with a middle name or initial if known. Most scripts are read, but not Arabic, Hebrew or Thai. */
  first_name: string;
  /** The person's last name. */
  last_name: string;
  /** The company's mail domain, such as example.com. A URL, a final dot, capitals and Unicode are accepted. */
  domain: string;
}

export interface FindEmailData {
  /** The first name of the request. */
  first_name: string;
  /** The last name of the request. */
  last_name: string;
  /** The domain in lower case, in A-labels (xn--…). */
  domain: string;
  /** The same domain in Unicode. */
  domain_unicode: string;
  /** The address found. Null when none was found, which does not mean that none exists. */
  email: string | null;
  /** Confidence in `email`, 0–100. */
  confidence: number;
  /** The likely pattern of the domain's mailbox names, such as first.last. Null when it is not known. */
  pattern: string | null;
  /** True when the mailbox was proven to exist. */
  verified: boolean;
  /** The result of the search. Use this field, not the presence of `email`. */
  status: "valid" | "risky" | "role" | "unknown" | "catch_all" | "not_found" | "invalid_name";
  /** The result in a sentence. */
  message: string;
  /** Credits this search costs, also when it was charged before. */
  credits_used: number;
  /** Credits left after this request. Left out when they could not be read. */
  credits_remaining?: number;
  /** True when an earlier response is repeated. Left out otherwise. */
  idempotent_replay?: boolean;
}

// GET /v1/activity/{email}

export interface GetActivityInput {
  /** The address. */
  email: string;
}

export type GetActivityData = ActivityRecord;

// POST /v1/activity/batch

export interface GetActivityBatchInput {
  /** The addresses, up to 100. */
  emails: readonly string[];
}

export interface GetActivityBatchData {
  /** A record for each address, in the order of the request. */
  results: ActivityRecord[];
  /** Number of records. */
  total: number;
}

// GET /v1/activity/domain/{domain}

export interface GetDomainReputationInput {
  /** The domain, such as example.com. A URL, a final dot, capitals and Unicode are accepted. */
  domain: string;
}

export interface GetDomainReputationData {
  /** The domain in lower case, in A-labels (xn--…). */
  domain: string;
  /** The same domain in Unicode. */
  domain_unicode: string;
  /** How the domain's addresses respond to mail. */
  reputation: {
    /** Score, 0–100. Left out when `level` is `unknown`. */
    score?: number;
    /** The score in a word. */
    level: "excellent" | "good" | "fair" | "poor" | "unknown";
    /** Whether the score rises or falls. */
    trend: "improving" | "stable" | "declining" | "unknown";
  };
  /** Figures of the last 30 days. */
  metrics: {
    /** known: all figures are present. partly_known: some rates are left out. not_known: fewer than 20 addresses have events, too few to show as a group. */
    status: "known" | "partly_known" | "not_known";
    /** Number of addresses with events. 0 when `status` is `not_known`. */
    total_emails_tracked: number;
    /** Share of delivered messages that were opened or clicked, 0–1. Left out when unknown. */
    avg_engagement_rate?: number;
    /** Share of sent messages that bounced, 0–1. Left out when unknown. */
    avg_bounce_rate?: number;
    /** Share of delivered messages with a spam complaint, 0–1. Left out when unknown. */
    spam_complaint_rate?: number;
  };
  /** Whether a blocklist lists the domain. */
  blacklist_status: {
    /** known: at least one blocklist returned a verdict. not_known: none did. */
    status: "known" | "not_known";
    /** True when at least one blocklist lists the domain. Left out when `status` is `not_known`. */
    listed?: boolean;
    /** When the blocklists were checked, ISO 8601. */
    checked_at: string;
  };
  /** A note for people. Left out when there is none. */
  message?: string;
}

// POST /v1/activity/events

export interface RecordActivityInput {
  /** What happened to your mail, up to 500 events. */
  events: readonly {
    /** Your id of the event. An id that was sent before is not counted again. */
    id: string;
    /** What happened. */
    type: "delivery" | "bounce" | "complaint" | "open" | "click" | "reject" | "delivery_delay";
    /** The recipient of the mail. */
    email: string;
    /** When it happened, ISO 8601 with an offset from UTC. */
    occurred_at: string;
    /** When the mail was delivered, if you know it. */
    delivered_at?: string | null | undefined;
    /** The User-Agent header of the open or click. */
    user_agent?: string | null | undefined;
    /** For a bounce: `hard` if the mailbox takes no mail. It corrects your next verification. */
    bounce_type?: "hard" | "soft" | null | undefined;
    /** For a bounce: the receiving server's reply. It counts more than `bounce_type`. */
    diagnostic?: string | null | undefined;
    /** Whether software caused the event, if you know it. */
    machine?: boolean | null | undefined;
  }[];
}

export interface RecordActivityData {
  /** Number of events in the request. */
  received: number;
  /** Number of events that were counted. */
  accepted: number;
  /** Number of events that had been sent before. */
  duplicates: number;
  /** Events that were not counted. */
  ignored: {
    /** Your id of the event. */
    id: string;
    /** Why it was not counted. */
    reason: "too_old" | "in_the_future";
  }[];
}

// POST /v1/deliverability/check

export interface CheckDomainInput {
  /** The sending domain, such as example.com. White space around it, a URL with its port and path, a final dot, capitals and Unicode or A-labels are accepted. `www.` is part of the name. */
  domain: string;
  /** The public IPv4 address that sends, for reverse DNS and blocklists. Private and reserved addresses are refused; test keys accept 192.0.2.0/24. */
  sending_ip?: string | undefined;
  /** Whether to make a new, paid check instead of returning one from the last 24 hours. */
  refresh?: boolean | undefined;
}

export interface CheckDomainData extends CheckResult {
  /** Credits charged by this request. */
  credits_used: number;
  /** Credits left after this request. Left out when they could not be read. */
  credits_remaining?: number;
  /** True when the result is from the last 24 hours. */
  cached: boolean;
  /** True when an earlier response is repeated. Left out otherwise. */
  idempotent_replay?: boolean;
}

// GET /v1/deliverability/checks

export interface ListChecksInput {
  /** Largest number of checks on a page. Larger values are cut to 100. */
  limit?: number | undefined;
}

export interface ListChecksData {
  /** The checks, newest first. */
  checks: CheckSummary[];
  /** Number of checks in this response. */
  count: number;
  /** Number of all checks. */
  total: number;
  /** True when only a part of the history was read. */
  truncated: boolean;
}

// GET /v1/deliverability/checks/{id}

export interface GetCheckInput {
  /** The check's id (`check_id`). */
  id: string;
}

export interface GetCheckData extends CheckResult {
  /** Always 0: reading a check is free. */
  credits_used: number;
  /** Always false. */
  cached: boolean;
}

// POST /v1/deliverability/monitors

export interface CreateMonitorInput {
  /** The domain to monitor, written as for a deliverability check. */
  domain: string;
  /** The public IPv4 address that sends, for reverse DNS and blocklists. Private and reserved addresses are refused; test keys accept 192.0.2.0/24. */
  sending_ip?: string | undefined;
  /** Hours between two checks. */
  interval_hours?: number | null | undefined;
}

export type CreateMonitorData = Monitor;

// GET /v1/deliverability/monitors

export interface ListMonitorsData {
  /** The monitors, newest first. */
  monitors: Monitor[];
}

// DELETE /v1/deliverability/monitors/{id}

export interface DeleteMonitorInput {
  /** The monitor's id (`monitor_id`). */
  id: string;
}

export interface DeleteMonitorData {
  /** The monitor's id. */
  monitor_id: string;
  /** Always true. */
  deleted: true;
}

// GET /v1/webhooks

export interface ListWebhooksData {
  /** The webhooks, oldest first. */
  webhooks: Webhook[];
}

// POST /v1/webhooks

export interface CreateWebhookInput {
  /** The HTTPS address to send events to. */
  url: string;
  /** The events to send. */
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
  /** The secret that signs events. It is shown only in this response. */
  secret: string;
}

// PUT /v1/webhooks/{id}

export interface UpdateWebhookInput {
  /** The webhook's id. */
  id: string;
  /** The HTTPS address to send events to. */
  url?: string | null | undefined;
  /** The events to send. */
  events?:
    | readonly (
        | "job.completed"
        | "job.failed"
        | "credits.low"
        | "credits.depleted"
        | "blacklist.detected"
        | "dmarc.failed"
      )[]
    | null
    | undefined;
  /** `disabled` stops sending until it is set to `active` again. */
  status?: "active" | "disabled" | null | undefined;
}

export type UpdateWebhookData = Webhook;

// DELETE /v1/webhooks/{id}

export interface DeleteWebhookInput {
  /** The webhook's id. */
  id: string;
}

export interface DeleteWebhookData {
  /** The webhook's id. */
  id: string;
  /** Always true. */
  deleted: true;
}

// POST /v1/webhooks/{id}/test

export interface TestWebhookInput {
  /** The webhook's id. */
  id: string;
}

export interface TestWebhookData {
  /** True when the address answered with 2xx. */
  delivered: boolean;
  /** The delivery of the test event. */
  delivery: Delivery;
}

// POST /v1/webhooks/{id}/secret

export interface RotateWebhookSecretInput {
  /** The webhook's id. */
  id: string;
}

export interface RotateWebhookSecretData extends Webhook {
  /** The new secret that signs events. It is shown only in this response. */
  secret: string;
}

// GET /v1/webhooks/events

export interface ListWebhookEventsData {
  /** The names of all events. */
  events: string[];
}

// GET /v1/webhooks/{id}/deliveries

export interface ListDeliveriesInput {
  /** The webhook's id. */
  id: string;
}

export interface ListDeliveriesData {
  /** The deliveries, newest first. */
  deliveries: Delivery[];
}

// POST /v1/webhooks/{id}/deliveries/{delivery_id}/retry

export interface RetryDeliveryInput {
  /** The webhook's id. */
  id: string;
  /** The delivery's id, from the list of deliveries. */
  delivery_id: string;
}

export type RetryDeliveryData = Delivery;

// GET /v1/account

export interface GetAccountData {
  /** The account's id. */
  account_id: string;
  /** The account's name. */
  name: string;
  /** When the account was created, ISO 8601. */
  created_at: string;
  /** The plan and its limits. */
  plan: {
    /** The plan's id. */
    id: "free" | "pro" | "scale";
    /** Largest number of addresses in a job. */
    max_addresses_per_job: number;
    /** Requests that a key may send in a minute. */
    requests_per_minute: number;
    /** Days that results are stored. */
    retention_days: number;
  };
  /** The account's balance. */
  credits: {
    /** Credits that can be spent. */
    available: number;
    /** Credits charged and not settled yet. */
    held: number;
    /** Credits spent, in total. */
    spent: number;
    /** Credits refunded, in total. */
    refunded: number;
    /** Credits granted, in total. */
    granted: number;
  };
  /** The key in use. */
  key: {
    /** The key's id. */
    key_id: string;
    /** live: real results, charged. test: simulated results, free. */
    mode: "live" | "test";
    /** Scopes that the key is limited to. Null when it is unrestricted. */
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
  /** The first day. By default 29 days before the last. */
  from?: string | undefined;
  /** The last day. By default today (UTC). */
  to?: string | undefined;
}

export interface GetUsageData {
  /** The first day (UTC). */
  from: string;
  /** The last day (UTC). */
  to: string;
  /** Sums over all these days. */
  totals: {
    /** Credits granted. */
    credits_granted: number;
    /** Credits used. */
    credits_used: number;
    /** Credits refunded. */
    credits_refunded: number;
  };
  /** The days on which the balance changed. */
  days: {
    /** The day (UTC). */
    date: string;
    /** Credits granted. */
    credits_granted: number;
    /** Credits used. */
    credits_used: number;
    /** Credits refunded. */
    credits_refunded: number;
  }[];
}

// GET /v1/api-keys

export interface ListApiKeysData {
  /** The keys, newest first. */
  api_keys: ApiKey[];
}

// POST /v1/api-keys

export interface CreateApiKeyInput {
  /** The key's name. */
  name: string;
  /** live: real results, charged. test: simulated results, free. */
  mode: "live" | "test";
  /** Scopes that the key is limited to. Left out: the key is unrestricted. */
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
    | null
    | undefined;
}

export interface CreateApiKeyData extends ApiKey {
  /** The key. It is shown only in this response. */
  key: string;
}

// DELETE /v1/api-keys/{id}

export interface RevokeApiKeyInput {
  /** The key's id (`key_id`). */
  id: string;
}

export interface RevokeApiKeyData {
  /** The key's id. */
  key_id: string;
  /** Always true. */
  revoked: true;
}

// GET /v1/catalog

export interface GetCatalogData {
  /** The currency of all prices. */
  currency: "USD";
  /** The plans. */
  plans: {
    /** The plan's id. */
    id: string;
    /** Price per month in US cents, before tax. */
    price_cents_per_month: number;
    /** Largest number of addresses in a job. */
    max_addresses_per_job: number;
    /** Requests that a key may send in a minute. */
    requests_per_minute: number;
    /** Days that results are stored. */
    retention_days: number;
  }[];
  /** The credit packs. */
  credit_packs: {
    /** The pack's id. */
    id: string;
    /** Number of credits in the pack. */
    credits: number;
    /** Price in US cents, before tax. */
    price_cents: number;
  }[];
  /** Price of each operation in credits. */
  credits_per_operation: Record<string, number>;
}

/** Every operation of the service. */
export interface Operations {
  /**
   * Get the state of the service and of what it depends on.
   *
   * Sent again until an answer comes.
   *
   * `GET /health`
   */
  getHealth(options?: CallOptions): Promise<GetHealthData>;

  /**
   * Verify one address.
   *
   * Price: 1 credit; 0.5 credit when the same address was verified within 24 hours; nothing for an `unknown` that only says that no mail server was asked (`deep_verify: false`).
   * Sent with an Idempotency-Key, so it is sent again until an answer comes, and paid for once.
   *
   * `POST /v1/verify`
   */
  verifyEmail(input: VerifyEmailInput, options?: PaidCallOptions): Promise<VerifyEmailData>;

  /**
   * Verify up to 10,000 addresses as a job.
   *
   * Price: 1 credit for each different address, when the job is accepted. Verifications that fail are not refunded; an `unknown` that only says that no mail server was asked (`deep_verify: false`) is, when the job ends.
   * Sent with an Idempotency-Key, so it is sent again until an answer comes, and paid for once.
   *
   * `POST /v1/verify/batch`
   */
  verifyBatch(input: VerifyBatchInput, options?: PaidCallOptions): Promise<VerifyBatchData>;

  /**
   * Verify the addresses of a CSV or TXT file as a job: request an upload URL, PUT the file, then process it.
   *
   * Sent again until an answer comes.
   *
   * `POST /v1/verify/file`
   */
  createUpload(input: CreateUploadInput, options?: CallOptions): Promise<CreateUploadData>;

  /**
   * Verify the addresses of a CSV or TXT file as a job: request an upload URL, PUT the file, then process it.
   *
   * Price: 1 credit for each different address, when the job is accepted. Uploading costs nothing. An `unknown` that only says that no mail server was asked (`deep_verify: false`) is refunded when the job ends.
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
   * Get a job and a page of its results.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/jobs/{id}`
   */
  getJob(input: GetJobInput, options?: CallOptions): Promise<GetJobData>;

  /**
   * Cancel a job. Addresses without a result are not verified, and their credits are refunded.
   *
   * Sent again until an answer comes.
   *
   * `POST /v1/jobs/{id}/cancel`
   */
  cancelJob(input: CancelJobInput, options?: CallOptions): Promise<CancelJobData>;

  /**
   * Export the results of a job as CSV, with the list's own columns, or as JSON.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/jobs/{id}/download`
   */
  downloadJob(input: DownloadJobInput, options?: CallOptions): Promise<DownloadJobData>;

  /**
   * List the deliveries to the webhook_url of a job, newest first. They are stored for 30 days.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/jobs/{id}/callbacks`
   */
  listCallbacks(input: ListCallbacksInput, options?: CallOptions): Promise<ListCallbacksData>;

  /**
   * Find a person's work address from their names and the company's mail domain.
   *
   * Price: 5 credits, whatever the result; repeating the search within two minutes is free, and so is a name that cannot be searched with.
   * Sent again only when it is certain that nothing was done.
   *
   * `POST /v1/find`
   */
  findEmail(input: FindEmailInput, options?: CallOptions): Promise<FindEmailData>;

  /**
   * Get the opens and clicks of an address.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/activity/{email}`
   */
  getActivity(input: GetActivityInput, options?: CallOptions): Promise<GetActivityData>;

  /**
   * Get the opens and clicks of up to 100 addresses, in the order of the request.
   *
   * Sent again until an answer comes.
   *
   * `POST /v1/activity/batch`
   */
  getActivityBatch(
    input: GetActivityBatchInput,
    options?: CallOptions,
  ): Promise<GetActivityBatchData>;

  /**
   * Get how a domain's addresses respond to mail, and whether a blocklist lists it.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/activity/domain/{domain}`
   */
  getDomainReputation(
    input: GetDomainReputationInput,
    options?: CallOptions,
  ): Promise<GetDomainReputationData>;

  /**
   * Record up to 500 events of mail you sent. An event is counted once under its id.
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
   * Get a deliverability check.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/deliverability/checks/{id}`
   */
  getCheck(input: GetCheckInput, options?: CallOptions): Promise<GetCheckData>;

  /**
   * Monitor a domain: it is checked at intervals. Each run is an ordinary, paid check.
   *
   * Sent again until an answer comes.
   *
   * `POST /v1/deliverability/monitors`
   */
  createMonitor(input: CreateMonitorInput, options?: CallOptions): Promise<CreateMonitorData>;

  /**
   * List the monitors, newest first.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/deliverability/monitors`
   */
  listMonitors(options?: CallOptions): Promise<ListMonitorsData>;

  /**
   * Delete a monitor. A check that has begun is finished and charged.
   *
   * Sent again until an answer comes.
   *
   * `DELETE /v1/deliverability/monitors/{id}`
   */
  deleteMonitor(input: DeleteMonitorInput, options?: CallOptions): Promise<DeleteMonitorData>;

  /**
   * List the webhooks, oldest first. Their secrets are not shown.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/webhooks`
   */
  listWebhooks(options?: CallOptions): Promise<ListWebhooksData>;

  /**
   * Send events to an HTTPS address. The secret that signs them is shown only in this response.
   *
   * Sent again only when it is certain that nothing was done.
   *
   * `POST /v1/webhooks`
   */
  createWebhook(input: CreateWebhookInput, options?: CallOptions): Promise<CreateWebhookData>;

  /**
   * Update a webhook's address or events, or disable or enable it. Fields left out are unchanged.
   *
   * Sent again until an answer comes.
   *
   * `PUT /v1/webhooks/{id}`
   */
  updateWebhook(input: UpdateWebhookInput, options?: CallOptions): Promise<UpdateWebhookData>;

  /**
   * Delete a webhook. Its pending deliveries are dropped.
   *
   * Sent again until an answer comes.
   *
   * `DELETE /v1/webhooks/{id}`
   */
  deleteWebhook(input: DeleteWebhookInput, options?: CallOptions): Promise<DeleteWebhookData>;

  /**
   * Send the event webhook.test once, signed like any other, and return its delivery.
   *
   * Sent again only when it is certain that nothing was done.
   *
   * `POST /v1/webhooks/{id}/test`
   */
  testWebhook(input: TestWebhookInput, options?: CallOptions): Promise<TestWebhookData>;

  /**
   * Replace the signing secret. The new one is shown only in this response; the old one stops signing at once.
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
   * List the last 100 deliveries to a webhook, newest first. They are stored for 30 days.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/webhooks/{id}/deliveries`
   */
  listDeliveries(input: ListDeliveriesInput, options?: CallOptions): Promise<ListDeliveriesData>;

  /**
   * Send a delivery again, with the same webhook-id, and retry it for another day.
   *
   * Sent again only when it is certain that nothing was done.
   *
   * `POST /v1/webhooks/{id}/deliveries/{delivery_id}/retry`
   */
  retryDelivery(input: RetryDeliveryInput, options?: CallOptions): Promise<RetryDeliveryData>;

  /**
   * Get the account: its plan, its credits, and the scopes of the key in use.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/account`
   */
  getAccount(options?: CallOptions): Promise<GetAccountData>;

  /**
   * Get the account's credit usage by day (UTC).
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/account/usage`
   */
  getUsage(input?: GetUsageInput, options?: CallOptions): Promise<GetUsageData>;

  /**
   * List the account's API keys, newest first. The keys themselves are not shown.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/api-keys`
   */
  listApiKeys(options?: CallOptions): Promise<ListApiKeysData>;

  /**
   * Create an API key. It is shown only in this response.
   *
   * Sent again only when it is certain that nothing was done.
   *
   * `POST /v1/api-keys`
   */
  createApiKey(input: CreateApiKeyInput, options?: CallOptions): Promise<CreateApiKeyData>;

  /**
   * Revoke an API key. It stops working at once.
   *
   * Sent again until an answer comes.
   *
   * `DELETE /v1/api-keys/{id}`
   */
  revokeApiKey(input: RevokeApiKeyInput, options?: CallOptions): Promise<RevokeApiKeyData>;

  /**
   * List plans, credit packs and the price of each operation.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/catalog`
   */
  getCatalog(options?: CallOptions): Promise<GetCatalogData>;
}

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
  /** The address. */
  email: string;
  /** valid: deliverable. invalid: will bounce. risky: may be deliverable. unknown: could not be found out. catch_all: the domain accepts everybody. disposable: a temporary address. role: belongs to a role. spam_trap: a known trap. */
  status:
    | "valid"
    | "invalid"
    | "risky"
    | "unknown"
    | "catch_all"
    | "disposable"
    | "role"
    | "spam_trap";
  /** 0 to 100: 90 excellent, 70 good, 50 fair, below that poor. */
  quality_score: number;
  /** Why it has this status: a code for programs. */
  reason: string;
  /** The reason, finer; null where there is nothing more to say. */
  sub_status: string | null;
  /** Who runs the mail host, where we know. */
  provider: string | null;
  /** What was proven, step by step. */
  verification: {
    /** It is written as an address is. */
    syntax_valid: boolean;
    /** True when DNS has the domain. Left out when that is not known: the look-up failed, or none was made. `reason` or `sub_status` says why. */
    domain_exists?: boolean;
    /** There is a host that takes its mail. */
    mx_found: boolean;
    /** That host was asked, and answered about this address. */
    smtp_check: boolean;
    /** The host accepts this address, and refuses strangers. */
    mailbox_exists: boolean;
    /** The host accepts every address of the domain. */
    catch_all: boolean;
  };
  /** What kind of address it is. */
  flags: {
    /** Of a service for addresses that are thrown away. */
    disposable: boolean;
    /** Of a role, such as info or sales. */
    role_account: boolean;
    /** Of a provider where anybody gets a mailbox. */
    free_provider: boolean;
    /** Kept by somebody who looks for senders without consent. */
    spam_trap: boolean;
    /** Kept to catch harvesters. */
    honeypot: boolean;
    /** Looks as if a machine had made it. */
    bot_generated: boolean;
  };
  /** What the address tells about its owner. */
  enrichment: {
    /** The first name. */
    first_name: string | null;
    /** The last name. */
    last_name: string | null;
    /** Both, or nothing. */
    full_name: string;
    /** Always `unknown`: a name does not tell. */
    gender: string;
  };
  /** Numbers that are made here and can be checked by hand. Left out when `include_ai` is false. */
  ai?: {
    /** What was probably meant, where the domain's mail does not work. */
    typo_suggestion: string | null;
    /** How probably, from 0 to 1. */
    typo_confidence: number | null;
    /** Probability that the mailbox exists, 0 to 1. Present only when the domain accepts every address, or may: it accepted this one and was not seen to refuse another. */
    catch_all_confidence?: number;
  };
  /** Everything that led to it: DNS answers, the SMTP transcript, the score as a sum. */
  evidence?: Record<string, unknown>;
  /** The checks of `verification` that were not made, because the mail server was not asked. Left out when it was asked, or did not have to be. */
  checks_skipped?: ("smtp_check" | "mailbox_exists" | "catch_all")[];
  /** When it was found out. */
  verified_at: string;
}

export interface ResultRow extends VerificationResult {
  /** Its row in what you sent, from 1. */
  row: number;
}

export interface Job {
  /** The job: read it at GET /v1/jobs/{id}. */
  job_id: string;
  /** What it is called. */
  name?: string;
  /** What it was made by: one address that took long, a batch, or a file. */
  kind: "single" | "batch" | "file";
  /** pending: it waits. processing: it goes on. completed: every address has its result. failed: see `error`. cancelled: nothing makes it so today. enqueue_unknown: of some addresses it is not known whether they are queued; their credits are held. */
  status: "pending" | "processing" | "completed" | "failed" | "cancelled" | "enqueue_unknown";
  /** How far it is. */
  progress: {
    /** How many addresses it has. */
    total: number;
    /** How many are done. */
    processed: number;
    /** How many are valid. */
    valid: number;
    /** How many are invalid or disposable. */
    invalid: number;
    /** How many are risky, catch_all, role or spam_trap. */
    risky: number;
    /** How many are unknown, or have no status. */
    unknown: number;
  };
  /** How many are done: what an export is measured against. */
  processed_emails: number;
  /** The addresses of a running job that wait for another attempt, because their mail host or DNS could not answer yet. Absent when none waits. */
  deferred?: {
    /** The number of waiting addresses. */
    count: number;
    /** The number of waiting addresses for each reason. */
    by_reason: Record<string, number>;
    /** When the first of them is attempted again, ISO 8601. A time in the past: the attempt is under way. */
    next_attempt_at: string;
  };
  /** When it was made. */
  created_at: string;
  /** When it was over. */
  completed_at?: string;
  /** Credits refunded of this job, for addresses that could not be queued, that failed on our side, or that are `unknown` only because no mail server was asked. Present when the job has ended; left out when there are none. */
  credits_refunded?: number;
  /** Why, and what it means for the money. */
  error?: string;
}

export interface ActivityRecord {
  /** The address. */
  email: string;
  /** Opens and clicks of people. */
  activity: {
    /** When this address last opened or clicked, ISO 8601. Left out when no open or click is recorded. */
    last_seen?: string;
    /** When this address last opened, ISO 8601. Left out when no open is recorded. */
    last_open?: string;
    /** When this address last clicked, ISO 8601. Left out when no click is recorded. */
    last_click?: string;
    /** high: active within 30 days. medium: within 90. low: longer ago. unknown: nothing is known. */
    engagement_level: "high" | "medium" | "low" | "unknown";
    /** All opens. */
    total_opens: number;
    /** All clicks. */
    total_clicks: number;
    /** Opens of the last 30 days. */
    opens_last_30d: number;
    /** Clicks of the last 30 days. */
    clicks_last_30d: number;
    /** Opens and clicks of programs. They are in none of the others. */
    machine_events: number;
  };
  /** What happened to mail for this address, as shares from 0 to 1. */
  deliverability: {
    /** known: all three rates are present. partly_known: some are. not_known: none is, because no delivery or bounce is recorded. */
    status: "known" | "partly_known" | "not_known";
    /** Share of sent messages that were delivered without a complaint, 0 to 1. Left out when it is not known. */
    inbox_rate?: number;
    /** Share of delivered messages with a spam complaint, 0 to 1. Left out when it is not known. */
    spam_rate?: number;
    /** Share of sent messages that bounced, 0 to 1. Left out when it is not known. */
    bounce_rate?: number;
  };
}

export interface CheckFacts {
  /** The check: read it at GET /v1/deliverability/checks/{id}. */
  check_id: string;
  /** The domain in lower case, internationalised labels as A-labels (xn--…). */
  domain: string;
  /** The domain with internationalised labels in Unicode. Otherwise equal to `domain`. */
  domain_unicode: string;
  /** The sending IPv4 address. Left out when the request named none. */
  sending_ip?: string;
  /** 0 to 100. Left out when it is not known. */
  score: number;
  /** A to F. */
  grade: "A" | "B" | "C" | "D" | "F";
  /** high: every part was answered. medium: parts with half of the score's weight or more. low: less than half. Left out for checks of the first release. */
  confidence?: "high" | "medium" | "low";
  /** When it was found out. */
  checked_at: string;
}

export interface CheckResult {
  /** The check: read it at GET /v1/deliverability/checks/{id}. */
  check_id: string;
  /** The domain in lower case, internationalised labels as A-labels (xn--…). */
  domain: string;
  /** The domain with internationalised labels in Unicode. Otherwise equal to `domain`. */
  domain_unicode: string;
  /** The sending IPv4 address. Left out when the request named none. */
  sending_ip?: string;
  /** 0 to 100. Left out when it is not known. */
  score: number;
  /** A to F. */
  grade: "A" | "B" | "C" | "D" | "F";
  /** 0 to 100: how sure it is. */
  confidence: "high" | "medium" | "low";
  /** When it was found out. */
  checked_at: string;
  /** The parts that could not be looked up. They are left out of the score, and no recommendation is about them. */
  missing_parts: ("dns" | "spf" | "dkim" | "dmarc" | "reputation" | "ptr")[];
  /** Which rules the score was made by. */
  model_version: string;
  /** How the score is made. */
  score_parts: {
    /** What it is the weighted mean of. */
    components: {
      /** Which one. */
      component: string;
      /** How much it counts. */
      weight: number;
      /** 0 to 100. Left out when it is not known. */
      score: number;
    }[];
    /** What the parts come to. */
    before_cap: number;
    /** The cap that lowered the score. Left out when no cap did. */
    capped_by?: string;
  };
  /** Where mail for the domain goes. */
  dns: {
    /** Result of the MX check. `error`: the look-up failed, so `has_valid_mx` and `mx_score` are not known and left out. */
    status: "pass" | "warn" | "fail" | "missing" | "unknown" | "error";
    /** Its mail hosts. */
    mx_records: {
      /** The lower, the sooner it is tried. */
      priority: number;
      /** Its name. */
      host: string;
      /** Its address; null where it has none. */
      ip: string | null;
    }[];
    /** True when the domain can receive mail. Left out when `status` is `error`. */
    has_valid_mx?: boolean;
    /** 0 to 100. Left out when `status` is `error`. */
    mx_score?: number;
    /** What is wrong with it. */
    issues: {
      /** Its id. */
      id: string;
      /** How grave it is. */
      severity: "critical" | "high" | "medium" | "low" | "info";
      /** In a sentence, for people. */
      message: string;
      /** What it is about: names, numbers. */
      detail: Record<string, string | number>;
      /** What it costs of the section's score. */
      cost_points: number;
    }[];
  };
  /** How receivers can tell its mail from forged mail. */
  authentication: {
    /** Who may send in its name. */
    spf: {
      /** Result of the SPF check. `error`: the look-up failed, so `score` is left out. */
      status: "pass" | "warn" | "fail" | "missing" | "unknown" | "error";
      /** The record as published in DNS. Left out when none was found. */
      record?: string;
      /** 0 to 100. Left out when it is not known. */
      score?: number;
      /** DNS look-ups that reading it takes. Ten are allowed. */
      lookups: number;
      /** Those that found nothing. Two are allowed. */
      void_lookups: number;
      /** The SPF result for `sending_ip`. Left out when no `sending_ip` was given or there is no result. */
      result_for_sending_ip?: string;
      /** What is wrong with it. */
      issues: {
        /** Its id. */
        id: string;
        /** How grave it is. */
        severity: "critical" | "high" | "medium" | "low" | "info";
        /** In a sentence, for people. */
        message: string;
        /** What it is about: names, numbers. */
        detail: Record<string, string | number>;
        /** What it costs of the section's score. */
        cost_points: number;
      }[];
    };
    /** Which keys sign its mail. */
    dkim: {
      /** Result of the DKIM check. `error`: the look-up failed, so `score` is left out. */
      status: "pass" | "warn" | "fail" | "missing" | "unknown" | "error";
      /** Under which names keys were found. */
      selectors_found: string[];
      /** 0 to 100. Left out when it is not known. */
      score?: number;
      /** What is wrong with it. */
      issues: {
        /** Its id. */
        id: string;
        /** How grave it is. */
        severity: "critical" | "high" | "medium" | "low" | "info";
        /** In a sentence, for people. */
        message: string;
        /** What it is about: names, numbers. */
        detail: Record<string, string | number>;
        /** What it costs of the section's score. */
        cost_points: number;
      }[];
    };
    /** What receivers do with forged mail. */
    dmarc: {
      /** Result of the DMARC check. `error`: the look-up failed, so `score` is left out. */
      status: "pass" | "warn" | "fail" | "missing" | "unknown" | "error";
      /** The record as published in DNS. Left out when none was found. */
      record?: string;
      /** The domain that publishes the record: this one or a parent. Left out when none was found. */
      record_domain?: string;
      /** The policy the record requests for this domain. Left out when there is none. */
      policy?: string;
      /** 0 to 100. Left out when it is not known. */
      score?: number;
      /** What is wrong with it. */
      issues: {
        /** Its id. */
        id: string;
        /** How grave it is. */
        severity: "critical" | "high" | "medium" | "low" | "info";
        /** In a sentence, for people. */
        message: string;
        /** What it is about: names, numbers. */
        detail: Record<string, string | number>;
        /** What it costs of the section's score. */
        cost_points: number;
      }[];
    };
  };
  /** What blocklists say. */
  reputation: {
    /** 0 to 100. Left out when it is not known. */
    score: number | null;
    /** Lists that gave a verdict. */
    blacklists_checked: number;
    /** Lists that did not answer, or not to the point. */
    blacklists_inconclusive: number;
    /** Lists that were not asked. */
    blacklists_skipped: number;
    /** All lists. */
    blacklists_total: number;
    /** Lists that have it. */
    blacklists_listed: number;
    /** Which ones. */
    listed_on: {
      /** Its id. */
      id: string;
      /** What it is called. */
      name: string;
      /** What was looked up. */
      listed: string;
      /** What the list answered. */
      codes: string[];
      /** What that means. */
      says: string;
      /** Where to ask for removal. Empty where we do not know. */
      removal_url: string;
    }[];
  };
  /** What is known of the sending server. No mail server is asked, so some of it is always null. */
  server: {
    /** Not measured. */
    accepts_mail: null;
    /** Not measured. */
    response_time_ms: null;
    /** Not measured. */
    supports_tls: null;
    /** Not measured. */
    tls_version: null;
    /** Result of the reverse DNS check. not_checked: no `sending_ip` was given. error: the look-up failed, so the score is left out. */
    reverse_dns_status: "pass" | "warn" | "fail" | "missing" | "unknown" | "error" | "not_checked";
    /** The host name of `sending_ip` (PTR). Left out when there is none or it is not known. */
    reverse_dns?: string;
    /** True when that name resolves back to `sending_ip`. Left out when it is not known. */
    reverse_dns_confirmed?: boolean;
    /** 0 to 100. Left out when it is not known. */
    reverse_dns_score?: number;
    /** What is wrong with it. */
    issues: {
      /** Its id. */
      id: string;
      /** How grave it is. */
      severity: "critical" | "high" | "medium" | "low" | "info";
      /** In a sentence, for people. */
      message: string;
      /** What it is about: names, numbers. */
      detail: Record<string, string | number>;
      /** What it costs of the section's score. */
      cost_points: number;
    }[];
  };
  /** How a filter sees whoever sends in its name. */
  spam_assessment: {
    /** The sum of the points, 100 at most. Less is better. */
    score: number;
    /** In a word. */
    spam_likelihood: "low" | "medium" | "high";
    /** What speaks for it and against it. */
    factors: {
      /** Its id. */
      id: string;
      /** Whether it helps. */
      impact: "positive" | "negative";
      /** How much it counts. */
      points: number;
      /** Why. */
      description: string;
    }[];
  };
  /** What to do first: what regains most is on top. */
  recommendations: {
    /** Its id. */
    id: string;
    /** How grave it is. */
    severity: "critical" | "high" | "medium" | "low" | "info";
    /** What to do. */
    text: string;
    /** What the score gains by it. */
    points_regained: number;
    /** What is wrong with it. */
    issues: string[];
  }[];
}

export interface Monitor {
  /** Its id. */
  monitor_id: string;
  /** The domain in lower case, internationalised labels as A-labels (xn--…). */
  domain: string;
  /** The domain with internationalised labels in Unicode. Otherwise equal to `domain`. */
  domain_unicode: string;
  /** The sending IPv4 address. Left out when the request named none. */
  sending_ip?: string;
  /** How often it is checked. */
  interval_hours: number;
  /** When it was made. */
  created_at: string;
  /** When it is checked next. */
  next_check_at: string;
  /** What the last run found. */
  last_check: {
    /** The check: read it at GET /v1/deliverability/checks/{id}. */
    check_id: string;
    /** 0 to 100. Left out when it is not known. */
    score: number;
    /** A to F. */
    grade: string;
    /** high, medium or low: how much of the score's weight was answered. Left out for checks of the first release. */
    confidence?: "high" | "medium" | "low";
    /** When it was found out. */
    checked_at: string;
  } | null;
  /** Why the last run came to nothing; null when it did not. */
  last_problem: "insufficient_credits" | "no_verdict" | "failed" | null;
  /** In a sentence, for people. */
  message?: string;
}

export interface ApiKey {
  /** Its id: what to revoke it by. */
  key_id: string;
  /** What it is called. */
  name: string;
  /** live: works for real. test: made-up answers, no charge. */
  mode: "live" | "test";
  /** What the key is limited to. Null: it may do everything. */
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
  /** Its beginning and its end, to tell keys apart. */
  hint: string;
  /** When it was made. */
  created_at: string;
}

export interface Webhook {
  /** Its id. */
  id: string;
  /** The HTTPS address that is called. */
  url: string;
  /** Which events it is told of. */
  events: (
    | "job.completed"
    | "job.failed"
    | "credits.low"
    | "credits.depleted"
    | "blacklist.detected"
    | "dmarc.failed"
  )[];
  /** Where it stands. */
  status: "active" | "disabled";
  /** asked: by its owner. failing: nothing arrived for five days. gone: the address answered 410. */
  disabled_because?: "asked" | "failing" | "gone";
  /** Since when every try has failed. */
  failing_since?: string;
  /** When it was made. */
  created_at: string;
}

export interface Delivery {
  /** Its id. */
  id: string;
  /** Also in the header webhook-id, the same on each try. */
  event_id: string;
  /** What it told of. */
  event: string;
  /** Where it stands. */
  status: "pending" | "delivered" | "failed" | "noted";
  /** How often it was tried. */
  attempts: number;
  /** What the address answered last. */
  response_status: number | null;
  /** How long that took. */
  latency_ms: number | null;
  /** Why the last try failed: a code for programs. */
  error: string | null;
  /** When it was made. */
  created_at: string;
  /** When it was tried last. */
  last_attempt_at: string | null;
  /** When it is tried next. */
  next_attempt_at: string | null;
}

/** The body of a webhook. Events may gain fields, and there may be more of them. */
export type WebhookEvent =
  | {
      /** Its id. */
      id: string;
      /** Which event it is. */
      type: "job.completed";
      /** When it was made. */
      created_at: string;
      /** What happened. */
      data: {
        /** The job: read it at GET /v1/jobs/{id}. */
        job_id: string;
        /** Where it stands. */
        status: "completed";
        /** How far it is. */
        progress: {
          /** How many addresses it has. */
          total: number;
          /** How many are done. */
          processed: number;
          /** How many are valid. */
          valid: number;
          /** How many are invalid or disposable. */
          invalid: number;
          /** How many are risky, catch_all, role or spam_trap. */
          risky: number;
          /** How many are unknown, or have no status. */
          unknown: number;
        };
      };
    }
  | {
      /** Its id. */
      id: string;
      /** Which event it is. */
      type: "job.failed";
      /** When it was made. */
      created_at: string;
      /** What happened. */
      data: {
        /** The job: read it at GET /v1/jobs/{id}. */
        job_id: string;
        /** Where it stands. */
        status: "failed";
        /** How far it is. */
        progress: {
          /** How many addresses it has. */
          total: number;
          /** How many are done. */
          processed: number;
          /** How many are valid. */
          valid: number;
          /** How many are invalid or disposable. */
          invalid: number;
          /** How many are risky, catch_all, role or spam_trap. */
          risky: number;
          /** How many are unknown, or have no status. */
          unknown: number;
        };
        /** Why, and what it means for the money. */
        error: string;
      };
    }
  | {
      /** Its id. */
      id: string;
      /** Which event it is. */
      type: "credits.low";
      /** When it was made. */
      created_at: string;
      /** What happened. */
      data: {
        /** The account. */
        account_id: string;
        /** What was left, in credits. */
        available: number;
        /** The line that was crossed, in credits. */
        threshold: number;
      };
    }
  | {
      /** Its id. */
      id: string;
      /** Which event it is. */
      type: "credits.depleted";
      /** When it was made. */
      created_at: string;
      /** What happened. */
      data: {
        /** The account. */
        account_id: string;
        /** What was left, in credits. */
        available: number;
        /** The line that was crossed, in credits. */
        threshold: number;
      };
    }
  | {
      /** Its id. */
      id: string;
      /** Which event it is. */
      type: "blacklist.detected";
      /** When it was made. */
      created_at: string;
      /** What happened. */
      data: {
        /** The domain in lower case, internationalised labels as A-labels (xn--…). */
        domain: string;
        /** The sending IPv4 address. Left out when the request named none. */
        sending_ip: string | null;
        /** The check: read it at GET /v1/deliverability/checks/{id}. */
        check_id: string;
        /** Which ones. */
        listed_on: string[];
      };
    }
  | {
      /** Its id. */
      id: string;
      /** Which event it is. */
      type: "dmarc.failed";
      /** When it was made. */
      created_at: string;
      /** What happened. */
      data: {
        /** The domain in lower case, internationalised labels as A-labels (xn--…). */
        domain: string;
        /** The check: read it at GET /v1/deliverability/checks/{id}. */
        check_id: string;
        /** Where it stands. */
        status: string;
        /** The policy the record requests for this domain. Left out when there is none. */
        policy: string | null;
        /** What is wrong with it. */
        issues: string[];
      };
    }
  | {
      /** Its id. */
      id: string;
      /** Which event it is. */
      type: "webhook.test";
      /** When it was made. */
      created_at: string;
      /** What happened. */
      data: {
        /** The webhook. */
        webhook_id: string;
      };
    };

// GET /health

export interface GetHealthData {
  /** degraded: look at `checks`. */
  status: "healthy" | "degraded";
  /** When it was asked. */
  timestamp: string;
  /** Who answers. */
  service: string;
  /** Which version. */
  version: string;
  /** What it depends on. */
  checks: {
    /** The state. */
    table: "ok" | "dead_letters_waiting" | "failed";
    /** The queues. */
    queue: "ok" | "dead_letters_waiting" | "failed";
    /** The files. */
    blobs: "ok" | "dead_letters_waiting" | "failed";
    /** DNS. failed: no name server has answered any question for a minute. */
    dns: "ok" | "failed";
  };
}

// POST /v1/verify

export interface VerifyEmailInput {
  /** The address to verify. Text that is no address is answered with the status `invalid`. */
  email: string;
  /** Also what is known of its opens and clicks, at no extra cost. */
  include_activity?: boolean | null | undefined;
  /** How thorough to be. */
  options?:
    | {
        /** Ask the mail server about the mailbox. `false`: only syntax, lists and DNS are checked, `checks_skipped` names the checks left out, and a result that is `unknown` only for that reason costs nothing; a job refunds it when it ends. */
        deep_verify?: boolean | null | undefined;
        /** Also the numbers in `ai`. */
        include_ai?: boolean | null | undefined;
        /** Also everything that led to the result. */
        include_evidence?: boolean | null | undefined;
        /** How long to wait for the result, in milliseconds. A value below 100 counts as 100, one above 25,000 as 25,000. A verification that takes longer goes on as a job. A repeat under the same Idempotency-Key may have another value. */
        timeout_ms?: number | null | undefined;
      }
    | null
    | undefined;
}

export type VerifyEmailData =
  | (VerificationResult & {
      /** Opens and clicks of people. */
      activity?: {
        /** When this address last opened or clicked, ISO 8601. Left out when no open or click is recorded. */
        last_seen?: string;
        /** high: active within 30 days. medium: within 90. low: longer ago. unknown: nothing is known. */
        engagement_level: "high" | "medium" | "low" | "unknown";
        /** Opens of the last 30 days. */
        opens_last_30d: number;
        /** Clicks of the last 30 days. */
        clicks_last_30d: number;
      };
      /** It was found out within the last 24 hours, for this account. */
      cached: boolean;
      /** In a sentence, for people. */
      message?: string;
      /** Credits charged by this request. */
      credits_used: number;
      /** True: this is the answer to an earlier request, and charged nothing. */
      idempotent_replay?: boolean;
    })
  | {
      /** Where it stands. */
      status: "pending";
      /** The job: read it at GET /v1/jobs/{id}. */
      job_id: string;
      /** The address. */
      email: string;
      /** When it was made. */
      created_at: string;
      /** In a sentence, for people. */
      message: string;
      /** Credits charged by this request. */
      credits_used: number;
      /** True: this is the answer to an earlier request, and charged nothing. */
      idempotent_replay?: boolean;
    };

// POST /v1/verify/batch

export interface VerifyBatchInput {
  /** The addresses. One that comes twice is verified and charged once. */
  emails: readonly string[];
  /** What the job is called. */
  name?: string | null | undefined;
  /** Called over HTTPS when the job is done. Signed only where a secret was sent: else take it as a hint to read the job. */
  webhook_url?: string | null | undefined;
  /** Signs that call, by Standard Webhooks: 1 to 256 characters of your choice. */
  webhook_secret?: string | null | undefined;
  /** How thorough to be. */
  options?:
    | {
        /** Ask the mail server about the mailbox. `false`: only syntax, lists and DNS are checked, `checks_skipped` names the checks left out, and a result that is `unknown` only for that reason costs nothing; a job refunds it when it ends. */
        deep_verify?: boolean | null | undefined;
        /** Also the numbers in `ai`. */
        include_ai?: boolean | null | undefined;
        /** The longest time, in minutes, that an address may wait for further attempts; 0: one attempt only. What could not be found out by then is unknown, with its reason. */
        max_wait_minutes?: number | null | undefined;
      }
    | null
    | undefined;
}

export interface VerifyBatchData {
  /** The job: read it at GET /v1/jobs/{id}. */
  job_id: string;
  /** Where it stands. */
  status: "processing";
  /** How many addresses were sent. */
  total_emails: number;
  /** How many of them are verified, and charged. */
  unique_emails: number;
  /** How many came twice. */
  duplicates_removed: number;
  /** When it was made. */
  created_at: string;
  /** Credits charged by this request. */
  credits_used: number;
  /** True: this is the answer to an earlier request, and charged nothing. */
  idempotent_replay?: boolean;
}

// POST /v1/verify/file

export interface CreateUploadInput {
  /** The name of the file, ending in .csv or .txt. */
  file_name: string;
}

export interface CreateUploadData {
  /** PUT the file here, unchanged. Whoever has this address can write the file. */
  upload_url: string;
  /** What the upload is called. Send it back to process the file. */
  file_key: string;
  /** How long the address works. */
  expires_in_seconds: number;
  /** What to do now, in a sentence. */
  next_step: string;
}

// POST /v1/verify/file

export interface ProcessFileInput {
  /** What the upload is called. Send it back to process the file. */
  file_key: string;
  /** The header or the number of the column with the addresses. Left out: it is found. */
  email_column?: string | null | undefined;
  /** Whether the first row names the columns. Left out: it is seen. */
  has_header?: boolean | null | undefined;
  /** What the job is called. Left out: the name of the file. */
  name?: string | null | undefined;
  /** Called over HTTPS when the job is done. Signed only where a secret was sent: else take it as a hint to read the job. */
  webhook_url?: string | null | undefined;
  /** How thorough to be. */
  options?:
    | {
        /** Ask the mail server about the mailbox. `false`: only syntax, lists and DNS are checked, `checks_skipped` names the checks left out, and a result that is `unknown` only for that reason costs nothing; a job refunds it when it ends. */
        deep_verify?: boolean | null | undefined;
        /** Also the numbers in `ai`. */
        include_ai?: boolean | null | undefined;
        /** The longest time, in minutes, that an address may wait for further attempts; 0: one attempt only. What could not be found out by then is unknown, with its reason. */
        max_wait_minutes?: number | null | undefined;
      }
    | null
    | undefined;
}

export interface ProcessFileData {
  /** The job: read it at GET /v1/jobs/{id}. */
  job_id: string;
  /** Where it stands. */
  status: "processing" | "enqueue_unknown";
  /** Rows that were read, also those that are no addresses. */
  total_submitted: number;
  /** How many came twice. */
  duplicates_removed: number;
  /** Rows that are no addresses: neither charged nor in the job. */
  invalid_emails_skipped: number;
  /** How many of them are verified, and charged. */
  unique_emails: number;
  /** What was found in a file, and its first rows without an address. */
  file?: {
    /** The name of the column with the addresses. */
    email_column: string;
    /** The number of that column, from 0. */
    email_column_index: number;
    /** Other columns that hold addresses. They are not verified. */
    other_email_columns: string[];
    /** The first row names the columns. */
    has_header: boolean;
    /** The names of the first 20 columns. */
    columns: string[];
    /** How many columns the file has. */
    column_count: number;
    /** The character encoding of the file. */
    encoding: "utf-8" | "utf-16le" | "utf-16be" | "windows-1252" | "shift_jis";
    /** `comma`, `semicolon`, `tab`, `pipe`, `none` in a file of one column, or the character itself. */
    delimiter: string;
    /** The first 10 rows without an address. For all of them export the job with `rows=all`. */
    skipped_rows: {
      /** The number of the row in the file, from 1. The header counts; blank lines do not. */
      row: number;
      /** The text of the e-mail cell, cut after 100 characters. */
      text: string;
      /** What is wrong with it: a code for programs. */
      reason: string;
      /** In a sentence, for people. */
      message: string;
    }[];
  };
  /** Credits charged by this request. */
  credits_used: number;
  /** The balance after it. Left out where it could not be read. */
  credits_remaining?: number;
  /** Given back, for addresses that could not be queued. */
  credits_refunded?: number;
  /** Charged, but neither spent nor refunded yet. */
  credits_held?: number;
  /** Addresses of which it is not known whether they are queued. */
  enqueue_unknown?: number;
  /** An earlier request with this key is still queueing. Send the same again after Retry-After, or follow the job. */
  dispatch_in_progress?: boolean;
  /** All are queued; the credits are not settled yet. */
  dispatch_settlement_pending?: boolean;
  /** True: this is the answer to an earlier request, and charged nothing. */
  idempotent_replay?: boolean;
  /** In a sentence, for people. */
  message: string;
}

// GET /v1/jobs

export interface ListJobsInput {
  /** How many at most. A larger number is cut to the largest page. */
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
  /** The `next_offset` of the page before. */
  offset?: string | undefined;
}

export interface ListJobsData {
  /** The jobs, newest first. */
  jobs: Job[];
  /** How many there are. */
  total: number;
  /** We stopped counting: there are at least so many. */
  total_is_approximate: boolean;
  /** There is another page. */
  has_more: boolean;
  /** Where the next page begins. Left out on the last. */
  next_offset?: string;
}

// GET /v1/jobs/{id}

export interface GetJobInput {
  /** Whose it is: its id. */
  id: string;
  /** `false` leaves the results out. Any other value includes them. */
  include_results?: boolean | undefined;
  /** How many at most. A larger number is cut to the largest page. */
  limit?: number | undefined;
  /** The `next_key` of the previous page. Following it from the first page to a page without one returns every row exactly once, also while the job runs. */
  next_key?: string | undefined;
}

export interface GetJobData extends Job {
  /** The next results: those that are ready and that no page before returned, in the order of the input. Left out when there are none. */
  results?: ResultRow[];
  /** Cursor for the next page, at most 2,000 characters. Present while the job runs, even on a page without results: send it later for the rows that are ready by then. Left out when the job is over and every row was returned, and with `include_results=false`. */
  next_key?: string;
}

// GET /v1/jobs/{id}/download

export interface DownloadJobInput {
  /** Whose it is: its id. */
  id: string;
  /** Which rows. `invalid` also gives disposable; `risky` also catch_all, role and spam_trap; `unknown` also rows without a status. Case does not matter. */
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
      /** What it is written in. */
      format: "json";
      /** Which rows are in it. */
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
      /** Which rows of the list an export has. */
      rows: "verified" | "all";
      /** The job is over and every row it counts was read. Look at this first. */
      complete: boolean;
      /** How many rows the export should have by now: those that the filter lets through of the rows that have a result. While the job goes on the number grows. */
      expected_rows: number;
      /** How many of them could not be read just now. */
      rows_missing: number;
      /** Addresses of the job without a result yet. */
      rows_pending: number;
      /** What the addresses came to, in the order of the input. */
      results: (
        | (ResultRow & {
            /** `verified`: the row has a result. `pending`: it has none yet. `duplicate`: its address is that of the row `duplicate_of`. `skipped`: it holds no address, or several. `not_queued`: it could not be queued and was refunded. `missing`: its result cannot be read. */
            row_outcome?: "verified";
            /** The text that was sent. `email` holds the address that was read from it. */
            submitted?: string;
            /** The cells of the row, by the names of the list's columns. */
            columns?: Record<string, string>;
          })
        | {
            /** Its row in what you sent, from 1. */
            row: number;
            /** `verified`: the row has a result. `pending`: it has none yet. `duplicate`: its address is that of the row `duplicate_of`. `skipped`: it holds no address, or several. `not_queued`: it could not be queued and was refunded. `missing`: its result cannot be read. */
            row_outcome: "pending" | "not_queued" | "missing" | "duplicate" | "skipped";
            /** The row with the same address, which has the result. */
            duplicate_of?: number;
            /** What is wrong with the e-mail cell: a code for programs. */
            skip_reason?: string;
            /** What is wrong with the e-mail cell, in a sentence. */
            skip_message?: string;
            /** The text that was sent. `email` holds the address that was read from it. */
            submitted?: string;
            /** The cells of the row, by the names of the list's columns. */
            columns?: Record<string, string>;
          }
      )[];
    }
  | {
      /** What it is written in. */
      format: "json";
      /** Which rows are in it. */
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
      /** Which rows of the list an export has. */
      rows: "verified" | "all";
      /** The job is over and every row it counts was read. Look at this first. */
      complete: boolean;
      /** How many rows the export should have by now: those that the filter lets through of the rows that have a result. While the job goes on the number grows. */
      expected_rows: number;
      /** How many of them could not be read just now. */
      rows_missing: number;
      /** Addresses of the job without a result yet. */
      rows_pending: number;
      /** The whole export. Works without a key, for a while. */
      download_url: string;
      /** How long the address works. */
      expires_in_seconds: number;
      /** When the address stops working. */
      expires_at: string;
    };

// GET /v1/jobs/{id}/callbacks

export interface ListCallbacksInput {
  /** Whose it is: its id. */
  id: string;
}

export interface ListCallbacksData {
  /** The address that is called when the job ends. Left out when it has none. */
  webhook_url?: string;
  /** What was sent, newest first. */
  deliveries: Delivery[];
}

// POST /v1/find

export interface FindEmailInput {
  /** The first name. */
  first_name: string;
  /** The last name. */
  last_name: string;
  /** The company's mail domain, such as example.com. A URL, a final dot, capitals and Unicode are accepted. */
  domain: string;
}

export interface FindEmailData {
  /** The first name. */
  first_name: string;
  /** The last name. */
  last_name: string;
  /** The domain in lower case, internationalised labels as A-labels (xn--…). */
  domain: string;
  /** The domain with internationalised labels in Unicode. Otherwise equal to `domain`. */
  domain_unicode: string;
  /** The address settled on. Null does not mean that there is none. */
  email: string | null;
  /** 0 to 100: how sure it is. */
  confidence: number;
  /** How the domain seems to name its mailboxes, such as first.last. */
  pattern: string | null;
  /** The mailbox was proven to exist. */
  verified: boolean;
  /** What came of it. Look at this, and not at whether there is an email. */
  status: "valid" | "risky" | "role" | "unknown" | "catch_all" | "not_found" | "invalid_name";
  /** In a sentence, for people. */
  message: string;
  /** Credits this search costs, also when it was charged before. */
  credits_used: number;
  /** The balance after it. Left out where it could not be read. */
  credits_remaining?: number;
  /** True: this is the answer to an earlier request, and charged nothing. */
  idempotent_replay?: boolean;
}

// GET /v1/activity/{email}

export interface GetActivityInput {
  /** The address, percent-encoded. */
  email: string;
}

export type GetActivityData = ActivityRecord;

// POST /v1/activity/batch

export interface GetActivityBatchInput {
  /** The addresses. */
  emails: readonly string[];
}

export interface GetActivityBatchData {
  /** What the addresses came to, in the order of the input. */
  results: ActivityRecord[];
  /** How many there are. */
  total: number;
}

// GET /v1/activity/domain/{domain}

export interface GetDomainReputationInput {
  /** The domain, such as example.com. A URL, a final dot, capitals and Unicode are accepted. */
  domain: string;
}

export interface GetDomainReputationData {
  /** The domain in lower case, internationalised labels as A-labels (xn--…). */
  domain: string;
  /** The domain with internationalised labels in Unicode. Otherwise equal to `domain`. */
  domain_unicode: string;
  /** How its addresses take mail. */
  reputation: {
    /** 0 to 100. In a deliverability check: null when no blocklist returned a verdict. In a domain's activity: left out when `level` is `unknown`. */
    score?: number;
    /** In a word. */
    level: "excellent" | "good" | "fair" | "poor" | "unknown";
    /** Whether it gets better. */
    trend: "improving" | "stable" | "declining" | "unknown";
  };
  /** Figures of the last 30 days. */
  metrics: {
    /** known: all figures are present. partly_known: some rates are left out. not_known: fewer than 20 addresses have events, too few to show as a group. */
    status: "known" | "partly_known" | "not_known";
    /** Number of addresses with events. 0 when `status` is `not_known`. */
    total_emails_tracked: number;
    /** Share of delivered messages that were opened or clicked, 0 to 1. Left out when it is not known. */
    avg_engagement_rate?: number;
    /** Share of sent messages that bounced, 0 to 1. Left out when it is not known. */
    avg_bounce_rate?: number;
    /** Share of delivered messages with a spam complaint, 0 to 1. Left out when it is not known. */
    spam_complaint_rate?: number;
  };
  /** Whether a blocklist lists the domain. */
  blacklist_status: {
    /** known: at least one blocklist returned a verdict. not_known: none did. */
    status: "known" | "not_known";
    /** True when at least one blocklist lists the domain. Left out when `status` is `not_known`. */
    listed?: boolean;
    /** When it was found out. */
    checked_at: string;
  };
  /** In a sentence, for people. */
  message?: string;
}

// POST /v1/activity/events

export interface RecordActivityInput {
  /** What became of your mails. */
  events: readonly {
    /** Your own id of the event: told twice, it counts once. */
    id: string;
    /** What happened. */
    type: "delivery" | "bounce" | "complaint" | "open" | "click" | "reject" | "delivery_delay";
    /** To whom the mail went. */
    email: string;
    /** When it happened, with the offset from UTC. */
    occurred_at: string;
    /** When the mail was delivered, where you know. */
    delivered_at?: string | null | undefined;
    /** The User-Agent header of the open or click. */
    user_agent?: string | null | undefined;
    /** You know that it was a program, or that it was none. */
    machine?: boolean | null | undefined;
  }[];
}

export interface RecordActivityData {
  /** How many were sent. */
  received: number;
  /** How many count. */
  accepted: number;
  /** How many had been told before. */
  duplicates: number;
  /** Those that do not count, and why. */
  ignored: {
    /** Its id. */
    id: string;
    /** Why it does not count. */
    reason: "too_old" | "in_the_future";
  }[];
}

// POST /v1/deliverability/check

export interface CheckDomainInput {
  /** The sending domain, such as example.com. White space around it, a URL with its port and path, a final dot, capitals and Unicode or A-labels are accepted. `www.` is part of the name. */
  domain: string;
  /** The public IPv4 address that sends, for reverse DNS and blocklists. Leave it out if there is none. A private or reserved address is refused; test keys accept 192.0.2.0/24. */
  sending_ip?: string | undefined;
  /** Do not take a result of the last 24 hours: check anew, and pay. */
  refresh?: boolean | undefined;
}

export interface CheckDomainData extends CheckResult {
  /** Credits charged by this request. */
  credits_used: number;
  /** The balance after it. Left out where it could not be read. */
  credits_remaining?: number;
  /** It was found out within the last 24 hours, for this account. */
  cached: boolean;
  /** True: this is the answer to an earlier request, and charged nothing. */
  idempotent_replay?: boolean;
}

// GET /v1/deliverability/checks

export interface ListChecksInput {
  /** How many at most. A larger number is cut to the largest page. */
  limit?: number | undefined;
}

export interface ListChecksData {
  /** The checks, newest first. */
  checks: CheckFacts[];
  /** How many are in this answer. */
  count: number;
  /** How many there are. */
  total: number;
  /** Not the whole history was looked at. */
  truncated: boolean;
}

// GET /v1/deliverability/checks/{id}

export interface GetCheckInput {
  /** Whose it is: its id. */
  id: string;
}

export interface GetCheckData extends CheckResult {
  /** Credits charged by this request. */
  credits_used: number;
  /** It was found out within the last 24 hours, for this account. */
  cached: boolean;
}

// POST /v1/deliverability/monitors

export interface CreateMonitorInput {
  /** The domain to watch, written as for a deliverability check. */
  domain: string;
  /** The public IPv4 address that sends, for reverse DNS and blocklists. Leave it out if there is none. A private or reserved address is refused; test keys accept 192.0.2.0/24. */
  sending_ip?: string | undefined;
  /** How often it is checked. */
  interval_hours?: number | null | undefined;
}

export type CreateMonitorData = Monitor;

// GET /v1/deliverability/monitors

export interface ListMonitorsData {
  /** The domains that are watched, newest first. */
  monitors: Monitor[];
}

// DELETE /v1/deliverability/monitors/{id}

export interface DeleteMonitorInput {
  /** Whose it is: its id. */
  id: string;
}

export interface DeleteMonitorData {
  /** Its id. */
  monitor_id: string;
  /** It is gone. */
  deleted: true;
}

// GET /v1/webhooks

export interface ListWebhooksData {
  /** The webhooks, oldest first. */
  webhooks: Webhook[];
}

// POST /v1/webhooks

export interface CreateWebhookInput {
  /** The HTTPS address that is called. */
  url: string;
  /** Which events it is told of. */
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
  /** Signs what is sent. Shown in this answer, and never again. */
  secret: string;
}

// PUT /v1/webhooks/{id}

export interface UpdateWebhookInput {
  /** Whose it is: its id. */
  id: string;
  /** The HTTPS address that is called. */
  url?: string | null | undefined;
  /** Which events it is told of. */
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
  /** Where it stands. */
  status?: "active" | "disabled" | null | undefined;
}

export type UpdateWebhookData = Webhook;

// DELETE /v1/webhooks/{id}

export interface DeleteWebhookInput {
  /** Whose it is: its id. */
  id: string;
}

export interface DeleteWebhookData {
  /** Its id. */
  id: string;
  /** It is gone. */
  deleted: true;
}

// POST /v1/webhooks/{id}/test

export interface TestWebhookInput {
  /** Whose it is: its id. */
  id: string;
}

export interface TestWebhookData {
  /** It answered with 2xx. */
  delivered: boolean;
  /** What came of it. */
  delivery: Delivery;
}

// POST /v1/webhooks/{id}/secret

export interface RotateWebhookSecretInput {
  /** Whose it is: its id. */
  id: string;
}

export interface RotateWebhookSecretData extends Webhook {
  /** Signs what is sent. Shown in this answer, and never again. */
  secret: string;
}

// GET /v1/webhooks/events

export interface ListWebhookEventsData {
  /** Every name that can be subscribed to. */
  events: string[];
}

// GET /v1/webhooks/{id}/deliveries

export interface ListDeliveriesInput {
  /** Whose it is: its id. */
  id: string;
}

export interface ListDeliveriesData {
  /** What was sent, newest first. */
  deliveries: Delivery[];
}

// POST /v1/webhooks/{id}/deliveries/{delivery_id}/retry

export interface RetryDeliveryInput {
  /** Whose it is: its id. */
  id: string;
  /** The delivery's id. */
  delivery_id: string;
}

export type RetryDeliveryData = Delivery;

// GET /v1/account

export interface GetAccountData {
  /** The account. */
  account_id: string;
  /** What it is called. */
  name: string;
  /** When it was made. */
  created_at: string;
  /** What it may do. */
  plan: {
    /** Its id. */
    id: "free" | "pro" | "scale";
    /** How many addresses a job may have. */
    max_addresses_per_job: number;
    /** How many requests a key may send in a minute. */
    requests_per_minute: number;
    /** How long results are kept. */
    retention_days: number;
  };
  /** Its balance. */
  credits: {
    /** To be spent. */
    available: number;
    /** Charged, and not settled yet. */
    held: number;
    /** Gone for good. */
    spent: number;
    /** Given back, in all. */
    refunded: number;
    /** Came in, in all. */
    granted: number;
  };
  /** The key in use. */
  key: {
    /** Its id: what to revoke it by. */
    key_id: string;
    /** live: works for real. test: made-up answers, no charge. */
    mode: "live" | "test";
    /** What the key is limited to. Null: it may do everything. */
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
  /** The first day. */
  from: string;
  /** The last day. */
  to: string;
  /** Of all these days. */
  totals: {
    /** Credits that came in. */
    credits_granted: number;
    /** Credits charged by this request. */
    credits_used: number;
    /** Given back, for addresses that could not be queued. */
    credits_refunded: number;
  };
  /** Days on which something moved. */
  days: {
    /** The day (UTC). */
    date: string;
    /** Credits that came in. */
    credits_granted: number;
    /** Credits charged by this request. */
    credits_used: number;
    /** Given back, for addresses that could not be queued. */
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
  /** What it is called. */
  name: string;
  /** live: works for real. test: made-up answers, no charge. */
  mode: "live" | "test";
  /** What the key is limited to. Left out: it may do everything. */
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
  /** The key. Shown in this answer, and never again. */
  key: string;
}

// DELETE /v1/api-keys/{id}

export interface RevokeApiKeyInput {
  /** Whose it is: its id. */
  id: string;
}

export interface RevokeApiKeyData {
  /** Its id: what to revoke it by. */
  key_id: string;
  /** It opens nothing any more. */
  revoked: true;
}

// GET /v1/catalog

export interface GetCatalogData {
  /** What prices are in. */
  currency: "USD";
  /** The plans. */
  plans: {
    /** Its id. */
    id: string;
    /** In US cents, before tax. */
    price_cents_per_month: number;
    /** How many addresses a job may have. */
    max_addresses_per_job: number;
    /** How many requests a key may send in a minute. */
    requests_per_minute: number;
    /** How long results are kept. */
    retention_days: number;
  }[];
  /** What credits are sold in. */
  credit_packs: {
    /** Its id. */
    id: string;
    /** How many credits are in it. */
    credits: number;
    /** In US cents, before tax. */
    price_cents: number;
  }[];
  /** What each operation costs. */
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
  downloadJob(input: DownloadJobInput, options?: CallOptions): Promise<DownloadJobData>;

  /**
   * List the deliveries to the webhook_url of a job, newest first. They are kept for 30 days.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/jobs/{id}/callbacks`
   */
  listCallbacks(input: ListCallbacksInput, options?: CallOptions): Promise<ListCallbacksData>;

  /**
   * Find a person's work address from their names and the company's mail domain.
   *
   * Price: 5 credits, whatever comes of it; the same search again within its two minutes is free, and so is a name that leaves nothing to search with.
   * Sent again only when it is certain that nothing was done.
   *
   * `POST /v1/find`
   */
  findEmail(input: FindEmailInput, options?: CallOptions): Promise<FindEmailData>;

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
  getActivityBatch(
    input: GetActivityBatchInput,
    options?: CallOptions,
  ): Promise<GetActivityBatchData>;

  /**
   * Show how the addresses of a domain take mail, and whether the domain is on a blocklist.
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

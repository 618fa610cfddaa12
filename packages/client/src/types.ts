// Made by scripts/write.ts from the service's endpoints. Do not change it here.

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
  | "JOB_OPEN"
  | "RESULT_DELETED"
  | "PAYLOAD_TOO_LARGE"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "RATE_LIMITED"
  | "NOT_CONFIGURED"
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
    /** True when the domain exists in DNS. */
    domain_exists: boolean;
    /** True when the domain has a host that accepts mail. */
    mx_found: boolean;
    /** True when the mail server gave a definite reply about this address. */
    smtp_check: boolean;
    /** True when the mail server accepts this address and rejects random ones. */
    mailbox_exists: boolean;
    /** True when the mail server accepts every address of the domain. */
    catch_all: boolean;
    /** The checks next to this field that are false because their outcome is not known. Any other false means no. `reason` or `sub_status` says why. */
    not_known: ("domain_exists" | "mx_found" | "smtp_check" | "mailbox_exists" | "catch_all")[];
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
    /** True when the domain's mail host has no mailboxes and forwards all mail. */
    forwarding_mx: boolean;
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
    /** The address that was probably intended. Null when the domain receives mail or there is no likely typo. */
    typo_suggestion: string | null;
    /** Probability of the suggestion, 0–1. Null without a suggestion. */
    typo_confidence: number | null;
    /** Probability that the mailbox exists, 0–1. 1: the server accepted it and rejects unknown ones. 0: the address is invalid. Otherwise an estimate from the name and the domain. */
    catch_all_confidence: number;
  };
  /** DNS answers, SMTP transcript, parts of the score; `receiver` names the mail provider, such as `google`. Only with `include_evidence`. */
  evidence?: Record<string, unknown>;
  /** A compact JWS (EdDSA) of this verdict, which anyone can check with the public keys of this service. Only with `include_receipt`. */
  receipt?: string;
  /** When the address was verified, ISO 8601. */
  verified_at: string;
}

export interface ResultRow extends VerificationResult {
  /** The row's number in the submitted list, from 1. */
  row: number;
  /** The verdict of another service that the list has in this row; in a page of rows with `columns=true`. Left out when there is none. */
  elsewhere?: {
    /** The name of the service. */
    vendor: string;
    /** Its word in the list. */
    verdict: string;
    /** The `status` that this word means here. */
    status:
      | "valid"
      | "invalid"
      | "risky"
      | "unknown"
      | "catch_all"
      | "disposable"
      | "role"
      | "spam_trap";
  };
  /** With `columns=true`: the cells of the row, in the order of `columns`. A cell beyond the last column has no name there. */
  cells?: string[];
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
    /** Number of waiting addresses for each reason. `waiting_for_provider`: all connections that the mail provider allows are in use. Such a wait is not an attempt, and ends with one. */
    by_reason: Record<string, number>;
    /** When the first of them is attempted again, ISO 8601; with `waiting_for_provider` an estimate from the rate at that provider. A time in the past means that the attempt is under way. */
    next_attempt_at: string;
    /** When the last of them has its result at the latest, ISO 8601, apart from the minutes that the attempts take. Left out while other addresses are verified, and where a wait has no limit. */
    latest_end_at?: string;
  };
  /** When it was created, ISO 8601. */
  created_at: string;
  /** When the job ended, ISO 8601. Left out while it runs. */
  completed_at?: string;
  /** Credits refunded for addresses that could not be queued, failed on our side, had no result when the job was cancelled, or are `unknown` because our limits or rules kept us from asking the mail server, or our address, exit or circuit from reaching it. Present when the job has ended and there are any. */
  credits_refunded?: number;
  /** The person who created the job. Left out when a key did. */
  person_id?: string;
  /** The job whose rows this one verifies again. Left out for any other job. */
  parent_job_id?: string;
  /** The earlier job whose list this one continues. Left out for any other job. */
  continues_job_id?: string;
  /** With `continues_job_id`: addresses that the earlier list does not have. */
  new_emails?: number;
  /** With `continues_job_id`: addresses that kept the result of the earlier list, and cost nothing. */
  kept_emails?: number;
  /** The job that verifies rows of this one again. Left out when it has ended. */
  child_job_id?: string;
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
  /** The sending IPv4 address. Null when none was given. */
  sending_ip: string | null;
  /** Overall score, 0–100. */
  score: number;
  /** Grade of the score, A to F. */
  grade: "A" | "B" | "C" | "D" | "F";
  /** high: every part had an answer. medium: at least half of the score's weight. low: less than half. */
  confidence: "high" | "medium" | "low";
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
  /** The sending IPv4 address. Null when none was given. */
  sending_ip: string | null;
  /** Overall score, 0–100. */
  score: number;
  /** Grade of the score, A to F. */
  grade: "A" | "B" | "C" | "D" | "F";
  /** high: every part had an answer. medium: at least half of the score's weight. low: less than half, so the grade is uncertain. */
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
      /** The record in DNS. Null when none was found. */
      record: string | null;
      /** Score of the section, 0–100. Left out when unknown. */
      score?: number;
      /** DNS look-ups that evaluating the record takes. The limit is 10. */
      lookups: number;
      /** DNS look-ups that found nothing. The limit is 2. */
      void_lookups: number;
      /** The records of the policy with their look-ups, each below the record that refers to it. At most 100. */
      tree: {
        /** Depth in the tree. 0 for the domain itself, 1 for what its record includes, and so on. */
        depth: number;
        /** The include or redirect that refers to this record. Left out for the domain itself. */
        term?: string;
        /** The domain of the record. Left out when it is different for each message (a macro). */
        domain?: string;
        /** record: there is one SPF record. several: more than one. none: none. nxdomain: the domain does not exist. loop: it refers back to a record above. unread: it was not looked up. Otherwise why the look-up failed. */
        status:
          | "record"
          | "several"
          | "none"
          | "nxdomain"
          | "servfail"
          | "refused"
          | "timeout"
          | "too_large"
          | "internal"
          | "unread"
          | "loop";
        /** The SPF record. Left out when there is none, when it has more than 4,096 characters, and where the same record is earlier in the tree. */
        record?: string;
        /** DNS look-ups of this term and everything below it. For the domain itself: all look-ups of the policy. */
        lookups: number;
        /** DNS look-ups of only this record's a, mx, ptr and exists terms. */
        own_lookups: number;
        /** Number of ip4 and ip6 terms that could replace the term. Left out when it stands for more than address blocks. */
        address_blocks?: number;
      }[];
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
      /** The record in DNS. Null when none was found. */
      record: string | null;
      /** The domain that publishes the record: this one or a parent. Left out when none was found. */
      record_domain?: string;
      /** The policy the record requests for this domain. Null when there is none. */
      policy: string | null;
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
    /** Number of blocklists that did not answer with a verdict. */
    blacklists_inconclusive: number;
    /** Number of blocklists that were not queried. */
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
    accepts_mail: boolean | null;
    /** Always null: not measured. */
    response_time_ms: number | null;
    /** Always null: not measured. */
    supports_tls: boolean | null;
    /** Always null: not measured. */
    tls_version: string | null;
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
    /** Points that the overall score gains when only its issues are resolved. */
    points_regained: number;
    /** Codes of the issues that it resolves. */
    issues: string[];
    /** The DNS record to publish. Recommendations about the same record carry the same one, which resolves them all. Left out when no record resolves the issue, or only you know it. */
    record?: {
      /** The whole name, without a final dot. */
      name: string;
      /** The record's type. */
      type: "TXT" | "MX" | "A" | "PTR";
      /** The value, without quotes. */
      value: string;
      /** The strings of at most 255 characters that make up the value of this one TXT record, for DNS providers that do not split a long value automatically. Left out when one string is enough. */
      strings?: string[];
      /** Parts of the name or value, in angle brackets, to fill in: your mail server or mail service knows them. Left out when the record is finished. */
      open?: string[];
    };
    /** The published records to remove with it. Left out when there are none. */
    replaces?: {
      /** The whole name, without a final dot. */
      name: string;
      /** The record's type. */
      type: "TXT" | "MX" | "A" | "PTR";
      /** The value, without quotes. */
      value: string;
    }[];
    /** Points that the overall score gains by publishing the record, with all that it resolves. Left out where the check cannot measure that. */
    record_points?: number;
    /** A file to publish with the record: the policy of MTA-STS. Left out otherwise. */
    file?: {
      /** Where to publish the file. */
      url: string;
      /** Its content, with line ends. */
      content: string;
    };
    /** What else to do, in a sentence. Left out when there is nothing. */
    note?: string;
  }[];
  /** The least that the score is once the SPF and DMARC records of the recommendations are published. Left out when neither is proposed. */
  after_records?: {
    /** Overall score, 0–100. */
    score: number;
    /** Grade of the score, A to F. */
    grade: "A" | "B" | "C" | "D" | "F";
  };
}

export interface MailTest {
  /** The mail test's id. */
  test_id: string;
  /** `waiting`: no mail has arrived. `assessing`: a mail has arrived, and the report follows within seconds. `received`: the report is there. `expired`: no mail arrived within the hour. `failed`: the mail could not be assessed because of an error in this service. An expired or failed test is refunded. */
  status: "waiting" | "assessing" | "received" | "expired" | "failed";
  /** Send one mail to this address, the way your customers get theirs. */
  address: string;
  /** When the test was created, ISO 8601. */
  created_at: string;
  /** Until when the address takes a mail, ISO 8601. The status becomes `expired` within a minute after it. */
  expires_at: string;
  /** When the mail arrived, ISO 8601. Left out before. */
  received_at?: string;
  /** Domain of the address in the mail's From field. Left out without a report, or when the field names no address. */
  from_domain?: string;
  /** Credits that this test has cost: 0 after a refund, and with test keys. */
  credits_charged: number;
}

export interface Monitor {
  /** The monitor's id. */
  monitor_id: string;
  /** The domain in lower case, in A-labels (xn--…). */
  domain: string;
  /** The same domain in Unicode. */
  domain_unicode: string;
  /** The sending IPv4 address. Null when none was given. */
  sending_ip: string | null;
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
    /** How much of the score's weight had an answer: high, medium or low. */
    confidence: "high" | "medium" | "low";
    /** When the check was made, ISO 8601. */
    checked_at: string;
  } | null;
  /** Why the last run had no result: `insufficient_credits` also when a monthly limit is reached. Null when it had one. */
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
        | "events:read"
        | "account:read"
      )[]
    | null;
  /** The first and last characters of the key. */
  hint: string;
  /** When it was created, ISO 8601. */
  created_at: string;
  /** When the key expires, ISO 8601. Null when it does not expire. */
  expires_at: string | null;
  /** Address blocks that the key is limited to, in CIDR notation. Null when it is accepted from any address. */
  networks: string[] | null;
  /** Where and how often a public key may be used. Null when the key is secret. */
  public: {
    /** The origins of the pages that have the key. */
    origins: string[];
    /** The most verifications of a day (UTC). */
    daily_limit: number;
  } | null;
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
    | "dmarc.ready"
  )[];
  /** Whether events are sent. */
  status: "active" | "disabled";
  /** asked: disabled by the account. failing: nothing was delivered for five days. gone: the address responded with 410. */
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
  /** The body of the request: the event as it is sent. Null for an entry that is not sent. */
  payload: Record<string, unknown> | null;
  /** The first 500 characters of the last response, without the signing secret and the signature. Null when there was no body. */
  response_body: string | null;
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
        /** The check's id. The operation getCheck returns the check. Null when a report of a receiver is the cause. */
        check_id: string | null;
        /** Result of the DMARC check. `unaligned`: a receiver reported mail that is not aligned. */
        status: string;
        /** The policy the record requests. Null when there is none. */
        policy: string | null;
        /** Codes of the problems found. */
        issues: string[];
        /** The report with unaligned mail. Left out when a check is the cause. */
        report?: {
          /** The organisation that made the report. */
          reporter: string;
          /** The report's id, given by the reporter. */
          report_id: string;
          /** The day (UTC) that the report is about. */
          day: string;
          /** Number of messages in the report. */
          messages: number;
          /** Messages that are not aligned and that the receiver does not know as forwarded. */
          unaligned: number;
        };
      };
    }
  | {
      /** The event's id, also in the header webhook-id and the same on each attempt. */
      id: string;
      /** The event's type. */
      type: "dmarc.ready";
      /** When the event happened, ISO 8601. */
      created_at: string;
      /** The event's data. */
      data: {
        /** The monitored domain. */
        domain: string;
        /** The newest check's id. The operation getDomainProgress returns the record to publish. */
        check_id: string;
        /** The policy that applies now. */
        policy: "none" | "quarantine" | "reject";
        /** The stricter policy that is safe. */
        ready_for: "none" | "quarantine" | "reject";
        /** Share of messages that are aligned, 0–1, without those that are known as forwarded. */
        aligned_share: number;
        /** Number of messages in the reports of the last 14 days. */
        messages: number;
        /** Number of days with reports that found the policy. */
        days: number;
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
  /** The lists of domains (disposable, free). An old edition changes no status. */
  lists: {
    /** Their edition, which is the day they are of. */
    version: string;
    /** Its age in days. */
    age_days: number;
  };
  /** Whether this service can see mail servers. */
  reach: {
    /** open: mail servers can be asked. refused_by: some large providers refuse it now. dns_only: port 25 is closed. lab: only addresses of the built-in lab have results. */
    state: "open" | "dns_only" | "lab" | "refused_by" | "not_measured";
    /** The same in a sentence, for the person who asks. */
    message: string;
    /** The large mail providers that refuse it now. */
    refused_by: string[];
    /** When it was measured, ISO 8601. Null when it never was. */
    measured_at: string | null;
  };
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
    /** low: less than 1 GB is free, and uploads are refused. full: less than 100 MB are free, and all new work with a price is refused. Left out on AWS, and when the system does not know it. */
    disk?: "ok" | "low" | "full";
  };
}

// GET /.well-known/jwks.json

export interface GetReceiptKeysData {
  /** The keys as a JWK set (RFC 7517): one for each year from 2026 to the next. */
  keys: {
    /** Always `OKP` (RFC 8037). */
    kty: "OKP";
    /** Always `Ed25519`. */
    crv: "Ed25519";
    /** The public key, in base64url. */
    x: string;
    /** The key's id: the year in which it signs, and a part of its hash. */
    kid: string;
    /** Always `EdDSA`. */
    alg: "EdDSA";
    /** Always `sig`. */
    use: "sig";
  }[];
}

// POST /v1/verify

export interface VerifyEmailInput {
  /** The address to verify, also as `Ada <ada@example.org>` or with `mailto:`. Text that has no address, or several, returns status `invalid`. */
  email: string;
  /** Whether to add `activity` to the result, at no extra cost. */
  include_activity?: boolean | null | undefined;
  /** Proof that the visitor controls the address, by the Email Verification Protocol. A good one makes the result `valid`, and no mail server is asked; any other changes only `control`. */
  control?:
    | {
        /** The value of the form's `email-verification-token` field, unchanged. Under a test key `test-controlled` proves control. */
        token: string;
        /** The `nonce` that your server gave that field. Take each only once: whether a token was used before is not checked here. */
        nonce: string;
        /** The origin of the page with the form, such as `https://example.com`. */
        origin: string;
      }
    | null
    | undefined;
  /** How to verify. */
  options?:
    | {
        /** Whether to ask the mail server about the mailbox. With `false` only syntax, lists and DNS are checked, at the same price; `verification.not_known` names the rest. */
        deep_verify?: boolean | null | undefined;
        /** Whether the result has `ai`. */
        include_ai?: boolean | null | undefined;
        /** Whether the result has `evidence`. */
        include_evidence?: boolean | null | undefined;
        /** Whether the result has `receipt`, at no extra cost. When the status is pending, the result of the job has it. */
        include_receipt?: boolean | null | undefined;
        /** Milliseconds to wait for the result. Below 100 counts as 100, above 25,000 as 25,000. A slower one continues as a job. A repeat under the same Idempotency-Key may have another value. */
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
      /** What proves the result, if not the mail server: the visitor controls the address. */
      proof?: "controlled";
      /** What became of the request's `control`. Left out where it had none. */
      control?: {
        /** `controlled`, or the code for why control is not proven, which says nothing about the address. `dns_failed`, `issuer_unreachable`: it could not be found out. */
        status: string;
        /** The host of the mail provider that vouches for the address. Left out unless control is proven. */
        issuer?: string;
        /** The edition of the protocol that the token keeps to. Left out unless control is proven. */
        profile?: string;
      };
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
      /** What became of the request's `control`. Left out where it had none. */
      control?: {
        /** `controlled`, or the code for why control is not proven, which says nothing about the address. `dns_failed`, `issuer_unreachable`: it could not be found out. */
        status: string;
        /** The host of the mail provider that vouches for the address. Left out unless control is proven. */
        issuer?: string;
        /** The edition of the protocol that the token keeps to. Left out unless control is proven. */
        profile?: string;
      };
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
  /** Signs the call as Standard Webhooks does: 1 to 256 characters of your choice. */
  webhook_secret?: string | null | undefined;
  /** How to verify. */
  options?:
    | {
        /** Whether to ask the mail server about the mailbox. With `false` only syntax, lists and DNS are checked, at the same price; `verification.not_known` names the rest. */
        deep_verify?: boolean | null | undefined;
        /** Whether results have `ai`. */
        include_ai?: boolean | null | undefined;
        /** The longest time, in minutes, that an address may wait for further attempts; 0: one attempt only. After a throttle the attempts are 15, 60 and 240 minutes apart. Addresses not resolved by then are `unknown`, with the reason. */
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
  /** True when the response repeats that of the job which this Idempotency-Key started. Nothing is charged then. */
  idempotent_replay: boolean;
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
  /** Instead of `email_column`: several columns, each by its header or number. Each address in them is a row of its own, verified and charged once: of n columns, row r of the list is in row ⌈r / n⌉ of the file. */
  email_columns?: readonly string[] | null | undefined;
  /** Whether the first row names the columns. Left out: it is detected. */
  has_header?: boolean | null | undefined;
  /** `true` leaves out, at no charge, the rows whose address another service has found invalid, disposable or a spam trap, by its column in the file (`file.vendor`). */
  skip_settled?: boolean | null | undefined;
  /** The job's name. Left out: the name of the file. */
  name?: string | null | undefined;
  /** The job (`job_id`) of an earlier list that this file is a newer version of. An address with a good result there keeps it, at no charge. */
  continues?: string | null | undefined;
  /** With `continues`: for how many days a result stays good. An older one, `unknown`, or a result whose address bounced since is verified and charged again. Left out: 30. */
  fresh_days?: number | null | undefined;
  /** HTTPS URL to call when the job ends. The call is not signed: treat it as a hint to read the job. */
  webhook_url?: string | null | undefined;
  /** How to verify. */
  options?:
    | {
        /** Whether to ask the mail server about the mailbox. With `false` only syntax, lists and DNS are checked, at the same price; `verification.not_known` names the rest. */
        deep_verify?: boolean | null | undefined;
        /** Whether results have `ai`. */
        include_ai?: boolean | null | undefined;
        /** The longest time, in minutes, that an address may wait for further attempts; 0: one attempt only. After a throttle the attempts are 15, 60 and 240 minutes apart. Addresses not resolved by then are `unknown`, with the reason. */
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
  /** With `skip_settled`: rows that another service's verdict settles. They are neither charged nor in the job. Left out when there are none. */
  settled_skipped?: number;
  /** Different addresses, each verified and charged once. */
  unique_emails: number;
  /** With `continues`: how the list compares with the earlier one. Left out otherwise. */
  compared?: {
    /** Addresses that the earlier list does not have. They are verified. */
    new: number;
    /** Addresses that keep their earlier result. They cost nothing. */
    kept: number;
    /** Addresses whose earlier result is missing, too old or `unknown`. They are verified again. */
    again: number;
    /** Addresses that only the earlier list has. */
    removed: number;
    /** When the oldest result that is kept was found, ISO 8601. Left out when none is kept. */
    kept_since?: string;
  };
  /** What was found in a file, and its first rows without an address. */
  file?: {
    /** The name of the column with the addresses. */
    email_column: string;
    /** The number of that column, from 0. */
    email_column_index: number;
    /** With `email_columns`: the names of all columns that are verified. Left out for one column. */
    email_columns?: string[];
    /** Names of other columns that hold addresses. They are not verified. */
    other_email_columns: string[];
    /** The column with the verdicts of another service. Left out when none is recognized. */
    vendor?: {
      /** The name of the service. */
      name: string;
      /** The name of the column. */
      column: string;
      /** Addresses that all of their verdicts settle: `skip_settled` leaves them out, for a credit less each. */
      settled_emails: number;
    };
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
    /** The first 10 rows without an address. For all of them export the job with `selection=all`. */
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
  /** Credits left after this charge, exactly, with those that this response refunds. For a balance in several parts, as large ones are on AWS: the balance read right before the charge, less the charge. A repeat has the first response's figure, or, while that is not stored, the balance at this moment. Left out when it is not known: that is not zero. */
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

// POST /v1/verify/file

export interface PreviewFileInput {
  /** The `file_key` of the upload. */
  file_key: string;
  /** The header or the number of the column with the addresses. Left out: it is detected. */
  email_column?: string | null | undefined;
  /** Instead of `email_column`: several columns, each by its header or number. Each address in them is a row of its own, verified and charged once: of n columns, row r of the list is in row ⌈r / n⌉ of the file. */
  email_columns?: readonly string[] | null | undefined;
  /** Whether the first row names the columns. Left out: it is detected. */
  has_header?: boolean | null | undefined;
  /** `true` leaves out, at no charge, the rows whose address another service has found invalid, disposable or a spam trap, by its column in the file (`file.vendor`). */
  skip_settled?: boolean | null | undefined;
  /** The job (`job_id`) of an earlier list that this file is a newer version of. An address with a good result there keeps it, at no charge. */
  continues?: string | null | undefined;
  /** With `continues`: for how many days a result stays good. An older one, `unknown`, or a result whose address bounced since is verified and charged again. Left out: 30. */
  fresh_days?: number | null | undefined;
}

export interface PreviewFileData {
  /** Number of rows read, including rows without an address. */
  total_submitted: number;
  /** Repeated addresses. */
  duplicates_removed: number;
  /** Number of rows without an address. They are neither charged nor in the job. */
  invalid_emails_skipped: number;
  /** With `skip_settled`: rows that another service's verdict settles. They are neither charged nor in the job. Left out when there are none. */
  settled_skipped?: number;
  /** Different addresses, each verified and charged once. */
  unique_emails: number;
  /** With `continues`: how the list compares with the earlier one. Left out otherwise. */
  compared?: {
    /** Addresses that the earlier list does not have. They are verified. */
    new: number;
    /** Addresses that keep their earlier result. They cost nothing. */
    kept: number;
    /** Addresses whose earlier result is missing, too old or `unknown`. They are verified again. */
    again: number;
    /** Addresses that only the earlier list has. */
    removed: number;
    /** When the oldest result that is kept was found, ISO 8601. Left out when none is kept. */
    kept_since?: string;
  };
  /** What was found in a file, and its first rows without an address. */
  file: {
    /** The name of the column with the addresses. */
    email_column: string;
    /** The number of that column, from 0. */
    email_column_index: number;
    /** With `email_columns`: the names of all columns that are verified. Left out for one column. */
    email_columns?: string[];
    /** Names of other columns that hold addresses. They are not verified. */
    other_email_columns: string[];
    /** The column with the verdicts of another service. Left out when none is recognized. */
    vendor?: {
      /** The name of the service. */
      name: string;
      /** The name of the column. */
      column: string;
      /** Addresses that all of their verdicts settle: `skip_settled` leaves them out, for a credit less each. */
      settled_emails: number;
    };
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
    /** The first 10 rows without an address. For all of them export the job with `selection=all`. */
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
  /** With `continues`: rows whose address the earlier list has beside other cells. Left out when the two files have different columns. */
  changed?: number;
  /** What `process` with the same fields charges now. */
  credits: number;
}

// POST /v1/verify/form

export interface VerifyFormInput {
  /** The address as the visitor typed it. */
  email: string;
  /** What the visitor's browser says of its control of the address. The page's origin must be `origin`. */
  control?:
    | {
        /** The value of the form's `email-verification-token` field, unchanged. Under a test key `test-controlled` proves control. */
        token: string;
        /** The `nonce` that your server gave that field. Take each only once: whether a token was used before is not checked here. */
        nonce: string;
        /** The origin of the page with the form, such as `https://example.com`. */
        origin: string;
      }
    | null
    | undefined;
}

export interface VerifyFormData {
  /** The address as it was read. */
  email: string;
  /** go: take the address. ask: take it after the visitor has looked at it again. no: it cannot receive mail, or is disposable. It follows from syntax, the domain and lists alone, and is the same whether or not the mailbox exists. */
  class: "go" | "ask" | "no";
  /** Code for the class. Null for `go`. */
  reason: string | null;
  /** The address that was probably intended. Null when there is no likely typo. */
  did_you_mean: string | null;
  /** The job that asks the mail server. Your back end reads the result at GET /v1/jobs/{id}; no public key can. Null where no mail server is asked: control is proven, or the address names an IP address instead of a domain. */
  job_id: string | null;
  /** A compact JWS (EdDSA) that your back end checks by GET /.well-known/jwks.json. Its `jti` is the job, where there is one. */
  receipt?: string;
  /** What became of the request's `control`. Left out where it had none. */
  control?: {
    /** `controlled`, or the code for why control is not proven, which says nothing about the address. `dns_failed`, `issuer_unreachable`: it could not be found out. */
    status: string;
    /** The host of the mail provider that vouches for the address. Left out unless control is proven. */
    issuer?: string;
    /** The edition of the protocol that the token keeps to. Left out unless control is proven. */
    profile?: string;
  };
  /** Credits charged by this request. */
  credits_used: number;
  /** True when an earlier response is repeated. Left out otherwise. */
  idempotent_replay?: boolean;
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
  /** list: only batches and files. single: only verifications of one address, such as those of a form's visitors. */
  kind?: "list" | "single" | undefined;
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
  /** `false` leaves the results out. */
  include_results?: boolean | undefined;
  /** Largest number of results on a page. Larger values are cut to 1,000. */
  limit?: number | undefined;
  /** Only rows with these values, separated by commas: `send:yes`, `status:valid`, `reason:mailbox_full`, `provider:google`, `domain:example.com`, `score:0-49`, `origin:new` (not in the list that the job continues; else `origin:earlier`). Values of one field are alternatives; all fields must match. */
  filter?: string | undefined;
  /** Only addresses that contain this text, in any case. */
  q?: string | undefined;
  /** Order of rows; with `-` the highest first. Default: `row`. */
  sort?:
    | "row"
    | "-row"
    | "score"
    | "-score"
    | "status"
    | "-status"
    | "email"
    | "-email"
    | undefined;
  /** Leaves out so many matching rows. Not with `next_key`. */
  skip?: number | undefined;
  /** `true` adds `columns` and `cells`. Pages are as with `skip`. */
  columns?: "true" | undefined;
  /** `true` adds `facets`: rows by value of `filter`. */
  facets?: "true" | undefined;
  /** The `next_key` of the previous page. From the first page to one without it, every row is returned exactly once, even while the job runs; with the same `filter`, `q` and `sort`, rows that become ready before it are left out. */
  next_key?: string | undefined;
}

export interface GetJobData extends Job {
  /** Counts of all rows with a result. Left out for a job of one address, and when the results are deleted. */
  summary?: {
    /** Rows of each status, including those without any. */
    statuses: Record<string, number>;
    /** Rows of each reason. */
    reasons: Record<string, number>;
    /** Rows in bands of `quality_score`. */
    scores: {
      /** The lowest score. */
      from: number;
      /** The highest score. */
      to: number;
      /** Rows with such a score. */
      count: number;
    }[];
    /** Rows of each mail provider that is recognized. */
    providers: Record<string, number>;
    /** The list's most frequent domains, at most 20. A domain of a single address is left out. */
    top_domains: {
      /** The domain. */
      domain: string;
      /** Rows with such an address. */
      count: number;
    }[];
    /** Frequent domains that are probably typed wrong: `correct` of `POST /v1/jobs/{id}/again` verifies their rows at the other domain. */
    typos: {
      /** The domain as it was typed. */
      domain: string;
      /** The domain that was probably meant. */
      meant: string;
      /** Rows with this suggestion. */
      count: number;
    }[];
    /** Where all rows, ten or more, were refused in a list that is mostly valid elsewhere. */
    suspicions: {
      /** A provider or domain. */
      at: string;
      /** Rows. */
      count: number;
      /** How certain it is that these refusals are about the mailboxes: from 0 to 1. */
      confidence: number;
      /** A sentence. */
      message: string;
    }[];
    /** Who was right, by the bounces and deliveries that you reported after the verification: the service whose verdicts the list has, or this one. Left out for other lists. */
    elsewhere?: {
      /** The name of the service. */
      vendor: string;
      /** Of bounced addresses `invalid`, `disposable` and `spam_trap` are right, of delivered ones `valid`. */
      bounced: {
        /** Addresses with such a fate. */
        rows: number;
        /** Of these, what the other service said was right. */
        vendor_right: number;
        /** Of these, what this service said was right. */
        mailproof_right: number;
      };
      /** Of bounced addresses `invalid`, `disposable` and `spam_trap` are right, of delivered ones `valid`. */
      delivered: {
        /** Addresses with such a fate. */
        rows: number;
        /** Of these, what the other service said was right. */
        vendor_right: number;
        /** Of these, what this service said was right. */
        mailproof_right: number;
      };
    };
  };
  /** By field of `filter` and value: rows with it that match `q` and the other fields. */
  facets?: Record<string, Record<string, number>>;
  /** With `columns=true`: the names of the list's columns, each once. Left out where the list is gone, or has none. */
  columns?: string[];
  /** The next results: those that are ready and that no previous page returned, in the order of the list or of `sort`. Left out when there are none. */
  results?: ResultRow[];
  /** Rows that match `filter` and `q`. Present with `filter`, `q`, `sort` or `skip`. */
  matching_rows?: number;
  /** Cursor for the next page, at most 2,000 characters. Present while the job runs, even on a page without results: send it later for the rows that are ready by then. Left out when the job has ended and every row was returned, and with `include_results=false`. With `filter`, `q`, `sort` or `skip`: present if more rows match. A page ends early where its rows have 1.5 MB. */
  next_key?: string;
}

// GET /v1/jobs/{id}/results/{row}

export interface GetJobRowInput {
  /** The job's id (`job_id`). */
  id: string;
  /** The row's number in the submitted list (`row`). */
  row: string;
}

export interface GetJobRowData extends VerificationResult {
  /** The row's number in the submitted list, from 1. */
  row: number;
  /** The verdict of another service that the list has in this row; in a page of rows with `columns=true`. Left out when there is none. */
  elsewhere?: {
    /** The name of the service. */
    vendor: string;
    /** Its word in the list. */
    verdict: string;
    /** The `status` that this word means here. */
    status:
      | "valid"
      | "invalid"
      | "risky"
      | "unknown"
      | "catch_all"
      | "disposable"
      | "role"
      | "spam_trap";
  };
  /** The cells of the row, by the names of the list's columns. */
  columns?: Record<string, string>;
  /** Earlier results of the address, newest first: those that were replaced in this job, and those of the lists that it continues. Left out when there is none. */
  history?: {
    /** The job that has this result. */
    job_id: string;
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
    /** Code for why the address has this status. */
    reason: string;
    /** Quality, 0–100: 90 excellent, 70 good, 50 fair, below that poor. */
    quality_score: number;
    /** When the address was verified, ISO 8601. */
    verified_at: string;
  }[];
}

// POST /v1/jobs/{id}/again

export interface VerifyAgainInput {
  /** The id (`job_id`) of a job. */
  id: string;
  /** Only rows with these values, as in `GET /v1/jobs/{id}`: `status:unknown`. One of `filter`, `q` and `correct` is required. */
  filter?: string | null | undefined;
  /** Only addresses that contain this text, in any case. */
  q?: string | null | undefined;
  /** Only rows at `domain`: their addresses are verified at `meant`, unless the list has that address already. `email` is the corrected address then; exports keep the list's own beside it. */
  correct?:
    | {
        /** The domain, as `summary.typos` names it. */
        domain: string;
        /** The domain at which they are verified. */
        meant: string;
      }
    | null
    | undefined;
}

export interface VerifyAgainData {
  /** The id of the job that verifies the rows. */
  job_id: string;
  /** The job whose rows it verifies. */
  parent_job_id: string;
  /** The state of the job. */
  status: "processing";
  /** Number of rows that are verified, each charged once. */
  rows: number;
  /** Number of rows that were corrected to an address of the list: they are not charged, get its result, and have the sub_status `duplicate`. Left out where there are none. */
  duplicates?: number;
  /** When it was created, ISO 8601. */
  created_at: string;
  /** Credits charged by this request. */
  credits_used: number;
  /** True when the response repeats that of the job which this Idempotency-Key started. Nothing is charged then. */
  idempotent_replay: boolean;
}

// POST /v1/jobs/{id}/cancel

export interface CancelJobInput {
  /** The job's id (`job_id`). */
  id: string;
}

export type CancelJobData = Job;

// DELETE /v1/jobs/{id}

export interface DeleteJobInput {
  /** The job's id (`job_id`). */
  id: string;
}

export interface DeleteJobData {
  /** The job's id. */
  job_id: string;
  /** Always true. */
  deleted: true;
}

// GET /v1/jobs/{id}/download

export interface DownloadJobInput {
  /** The job's id (`job_id`). */
  id: string;
  /** `spreadsheet`: the table as an .xlsx file. `zip`: a CSV for each value of `send`. */
  as?: "spreadsheet" | "zip" | undefined;
  /** Which results to export: all, valid, invalid, risky, unknown, catch_all, disposable, role, spam_trap, safe_to_send. safe_to_send has the valid ones. invalid includes disposable; risky includes catch_all, role and spam_trap; unknown includes rows without a status. Case does not matter. Or terms, as in `GET /v1/jobs/{id}`. */
  filter?: string | undefined;
  /** Only addresses that contain this text, in any case. */
  q?: string | undefined;
  /** `verified`: the rows that have a result. `all`: every row of the list, in its order; `row_outcome` says why a row has no result. Cannot be combined with a filter. Case does not matter. */
  selection?: "verified" | "all" | undefined;
  /** Separates the cells of a CSV. Left out: that of your own file. Case does not matter. */
  delimiter?: "comma" | "semicolon" | "tab" | undefined;
}

export type DownloadJobData = {
  /** The format of the export. */
  format: "json";
  /** Which results the export has: the `filter` of the request. */
  filter: string;
  /** Which rows of the list the export has. */
  selection: "verified" | "all";
  /** True when the job is completed and every row it counts was read. Look at this field first. */
  complete: boolean;
  /** Rows with a result that the filter selects. The number grows while the job runs. */
  expected_rows: number;
  /** Rows among them that could not be read. */
  rows_missing: number;
  /** Addresses of the job without a result yet. */
  rows_pending: number;
  /** The rows of the export, in the order of the list. */
  rows: (
    | (VerificationResult & {
        /** The row's number in the submitted list, from 1. */
        row: number;
        /** The verdict of another service that the list has in this row; in a page of rows with `columns=true`. Left out when there is none. */
        elsewhere?: {
          /** The name of the service. */
          vendor: string;
          /** Its word in the list. */
          verdict: string;
          /** The `status` that this word means here. */
          status:
            | "valid"
            | "invalid"
            | "risky"
            | "unknown"
            | "catch_all"
            | "disposable"
            | "role"
            | "spam_trap";
        };
        /** Whether to send mail to the address: it follows from `status`. */
        send: "yes" | "careful" | "no";
        /** `verified`: the row has a result. Present with `selection=all`. */
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
        row_outcome: "pending" | "not_queued" | "cancelled" | "missing" | "duplicate" | "skipped";
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
        /** The verdict of another service that the list has in this row; in a page of rows with `columns=true`. Left out when there is none. */
        elsewhere?: {
          /** The name of the service. */
          vendor: string;
          /** Its word in the list. */
          verdict: string;
          /** The `status` that this word means here. */
          status:
            | "valid"
            | "invalid"
            | "risky"
            | "unknown"
            | "catch_all"
            | "disposable"
            | "role"
            | "spam_trap";
        };
      }
  )[];
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
  /** Credits this search costs, even if it was charged before. */
  credits_used: number;
  /** Credits left after this charge, exactly. For a balance in several parts, as large ones are on AWS: the balance read right before the charge, less the charge. A repeat has the first response's figure, where that is stored. Where nothing is charged it is the balance at this moment. Left out when it is not known: that is not zero. */
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
    /** True when at least one blocklist lists the domain. False when `status` is `not_known`. */
    listed: boolean;
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
    /** Your id for the event. A repeated id is not counted again. */
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
    /** For a bounce: `hard` if the mailbox accepts no mail. It corrects your next verification. */
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
    /** Your id for the event. */
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
  /** Credits left after this charge, exactly. For a balance in several parts, as large ones are on AWS: the balance read right before the charge, less the charge. A repeat has the first response's figure, where that is stored. Where nothing is charged it is the balance at this moment. Left out when it is not known: that is not zero. */
  credits_remaining?: number;
  /** True when the result is from the last 24 hours. */
  cached: boolean;
  /** True when an earlier response is repeated. Left out otherwise. */
  idempotent_replay?: boolean;
}

// GET /v1/deliverability/checks

export interface ListChecksInput {
  /** Only checks of this domain. */
  domain?: string | undefined;
  /** Largest number of checks on a page. Larger values are cut to 100. */
  limit?: number | undefined;
}

export interface ListChecksData {
  /** The checks, newest first. */
  checks: CheckSummary[];
  /** Number of checks in this response. */
  count: number;
  /** Number of all checks, or of those of the domain. */
  total: number;
  /** True when only a part of the history was read. */
  truncated: boolean;
}

// GET /v1/deliverability/checks/{id}

export interface GetCheckInput {
  /** The check's id (`check_id`). */
  id: string;
  /** Domains that the SPF record includes, with commas between them: `flattened_spf` has the record with their address blocks instead. When one of these services changes its addresses, your record has to follow, or its mail fails SPF. */
  flatten?: string | undefined;
}

export interface GetCheckData extends CheckResult {
  /** The SPF record with address blocks instead of the includes that `flatten` names. Left out without `flatten`. */
  flattened_spf?: {
    /** The DNS record to publish. Recommendations about the same record carry the same one, which resolves them all. Left out when no record resolves the issue, or only you know it. */
    record?: {
      /** The whole name, without a final dot. */
      name: string;
      /** The record's type. */
      type: "TXT" | "MX" | "A" | "PTR";
      /** The value, without quotes. */
      value: string;
      /** The strings of at most 255 characters that make up the value of this one TXT record, for DNS providers that do not split a long value automatically. Left out when one string is enough. */
      strings?: string[];
      /** Parts of the name or value, in angle brackets, to fill in: your mail server or mail service knows them. Left out when the record is finished. */
      open?: string[];
    };
    /** The published records to remove with it. Left out when there are none. */
    replaces?: {
      /** The whole name, without a final dot. */
      name: string;
      /** The record's type. */
      type: "TXT" | "MX" | "A" | "PTR";
      /** The value, without quotes. */
      value: string;
    }[];
    /** Points that the overall score gains by publishing the record, with all that it resolves. Left out where the check cannot measure that. */
    record_points?: number;
    /** A file to publish with the record: the policy of MTA-STS. Left out otherwise. */
    file?: {
      /** Where to publish the file. */
      url: string;
      /** Its content, with line ends. */
      content: string;
    };
    /** What else to do, in a sentence. Left out when there is nothing. */
    note?: string;
    /** The includes that were replaced. */
    includes: {
      /** The domain that the record no longer includes. */
      include: string;
      /** Number of ip4 and ip6 terms in its place. */
      address_blocks: number;
    }[];
    /** DNS look-ups that evaluating the record takes. The limit is 10. */
    lookups: number;
    /** Length of the record. Above 450 it may no longer fit into one UDP answer. */
    bytes: number;
  };
  /** Always 0: reading a check is free. */
  credits_used: number;
  /** Always false. */
  cached: boolean;
}

// POST /v1/deliverability/tests

export interface CreateMailTestData extends MailTest {
  /** Credits charged by this request. */
  credits_used: number;
  /** Credits left after this charge, exactly. For a balance in several parts, as large ones are on AWS: the balance read right before the charge, less the charge. A repeat has the first response's figure, where that is stored. Where nothing is charged it is the balance at this moment. Left out when it is not known: that is not zero. */
  credits_remaining?: number;
  /** True when the test of an earlier request is returned. Left out otherwise. */
  idempotent_replay?: boolean;
}

// GET /v1/deliverability/tests

export interface ListMailTestsInput {
  /** Only tests with a mail from this domain. */
  domain?: string | undefined;
  /** Largest number of tests on a page. Larger values are cut to 100. */
  limit?: number | undefined;
  /** The `next_offset` of the previous page. */
  offset?: string | undefined;
}

export interface ListMailTestsData {
  /** The mail tests, newest first. */
  tests: MailTest[];
  /** True when there is another page. */
  has_more: boolean;
  /** Cursor for the next page. Left out on the last page. */
  next_offset?: string;
}

// GET /v1/deliverability/tests/{id}

export interface GetMailTestInput {
  /** The mail test's id (`test_id`). */
  id: string;
}

export interface GetMailTestData extends MailTest {
  /** The report about the mail. Left out until `status` is `received`, and after the sender's address was erased. */
  report?: {
    /** Overall score, 0–100. */
    score: number;
    /** Grade of the score, A to F. */
    grade: "A" | "B" | "C" | "D" | "F";
    /** Version of the scoring rules. */
    model_version: string;
    /** How the score is computed. */
    score_parts: {
      /** The parts of the weighted mean. */
      components: {
        /** The part's name. */
        component: "spf" | "dkim" | "dmarc" | "server" | "reputation" | "header" | "content";
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
    /** Parts that could not be judged because DNS did not answer. They are left out of the score. */
    missing_parts: ("spf" | "dkim" | "dmarc" | "server" | "reputation" | "header" | "content")[];
    /** What the SMTP session showed. */
    envelope: {
      /** The address of MAIL FROM. Empty for the null reverse-path. */
      mail_from: string;
      /** The HELO or EHLO name of the client. */
      helo: string;
      /** The client's IP address. */
      ip: string;
      /** Whether the client encrypted the connection. unknown: the service that received the mail does not tell, and the score ignores it. */
      tls_status: "encrypted" | "none" | "unknown";
      /** TLS version of the connection. Left out unless `tls_status` is `encrypted`. */
      tls_version?: string;
      /** Cipher of the connection. Left out unless `tls_status` is `encrypted`. */
      tls_cipher?: string;
      /** When the message was received, ISO 8601. */
      received_at: string;
    };
    /** What the header shows. */
    header: {
      /** The subject. Left out when there is none. */
      subject?: string;
      /** The author. Left out unless there is exactly one author domain. */
      from?: {
        /** The display name. */
        name: string;
        /** The address. */
        address: string;
        /** The domain of the address, in A-labels. */
        domain: string;
      };
      /** The Date field, ISO 8601. Left out without a valid one. */
      sent_at?: string;
      /** The Message-ID. Left out when there is none. */
      message_id?: string;
    };
    /** The SPF result. Left out when the client's IP address is not known. */
    spf?: {
      /** The SPF result for the message (RFC 7208). */
      result: "none" | "neutral" | "pass" | "fail" | "softfail" | "temperror" | "permerror";
      /** The domain of the evaluated policy. */
      domain: string;
      /** Where the domain is from. helo: MAIL FROM was empty. */
      identity: "mailfrom" | "helo";
      /** The terms that decided: an include, then the term inside it. */
      matched: {
        /** The domain of the record. */
        domain: string;
        /** The term. */
        term: string;
      }[];
      /** Left out unless the result is permerror or temperror. */
      problem?: {
        /** Why the policy could not be evaluated. */
        reason: string;
        /** The domain of the record with the fault. */
        domain: string;
        /** The term with the fault. Left out when it is not one term's. */
        term?: string;
      };
      /** DNS look-ups that the evaluation took. The limit is 10. */
      lookups: number;
      /** The SPF result for the HELO name on its own. */
      helo_result: "none" | "neutral" | "pass" | "fail" | "softfail" | "temperror" | "permerror";
    };
    /** The DKIM signatures, in the order of the message. */
    dkim: {
      /** The result (RFC 8601). policy: valid, but too weak. neutral: the signature or its key cannot be used. temperror: DNS did not answer. */
      result: "pass" | "fail" | "policy" | "neutral" | "temperror";
      /** Why it did not pass, as a code. Left out for a pass. */
      reason?: string;
      /** The signing domain (d=). Left out when it cannot be read. */
      domain?: string;
      /** The selector (s=). Left out when it cannot be read. */
      selector?: string;
      /** The algorithm (a=). Left out when it cannot be read. */
      algorithm?: string;
      /** Length of the RSA key. Left out for other keys, and when there is none. */
      key_bits?: number;
      /** How the header and the body were canonicalised, such as relaxed/simple. Left out when it cannot be read. */
      canonicalization?: string;
      /** Names of the signed header fields (h=), in lower case. */
      signed_fields: string[];
      /** Octets of the body that the signature does not cover (l=). */
      unsigned_bytes: number;
      /** True when the key is in test mode (t=y). */
      testing: boolean;
      /** When it was made (t=), ISO 8601. Left out when unknown. */
      signed_at?: string;
      /** When it expires (x=), ISO 8601. Left out when never. */
      expires_at?: string;
    }[];
    /** The chain of systems that forwarded the message. The IETF is moving ARC to Historic (milestone November 2026). */
    arc: {
      /** The result for the chain (RFC 8617). none: the message has no ARC fields. */
      result: "none" | "pass" | "fail" | "temperror";
      /** Why the chain is not valid. Left out otherwise. */
      reason?: string;
      /** The sets of the chain, the oldest first. */
      sets: {
        /** The number of the set, from 1. */
        instance: number;
        /** The domain that added the set. Left out when unknown. */
        domain?: string;
        /** What that domain found about the earlier sets (cv=). Left out when unknown. */
        chain?: string;
      }[];
    };
    /** The DMARC result. */
    dmarc: {
      /** The DMARC result (RFC 9989). none: there is no record. permerror: the message has no single author domain. */
      result: "pass" | "fail" | "none" | "temperror" | "permerror";
      /** The domain of From. Left out without a single one. */
      domain?: string;
      /** The organisational domain. Left out when it is not known. */
      organisation?: string;
      /** The record that applies. Left out when there is none. */
      record?: string;
      /** The domain that publishes the record. Left out when there is none. */
      record_domain?: string;
      /** What the record requests for mail that fails. Left out when there is no record. */
      policy?: "none" | "quarantine" | "reject";
      /** What a receiver that obeys the record does with this message. */
      disposition: "none" | "quarantine" | "reject";
      /** Alignment of SPF. */
      spf: {
        /** The mode that the DMARC record requests. relaxed: the names share an organisation. strict: they are equal. */
        mode: "relaxed" | "strict";
        /** True when the check passed for a name that belongs to the domain of From. Left out when DNS did not answer. */
        aligned?: boolean;
        /** The aligned name. Left out when there is none. */
        domain?: string;
      };
      /** Alignment of DKIM. */
      dkim: {
        /** The mode that the DMARC record requests. relaxed: the names share an organisation. strict: they are equal. */
        mode: "relaxed" | "strict";
        /** True when the check passed for a name that belongs to the domain of From. Left out when DNS did not answer. */
        aligned?: boolean;
        /** The aligned name. Left out when there is none. */
        domain?: string;
      };
    };
    /** What DNS has about the sending server. */
    server: {
      /** The host name of the client's IP address (PTR). Left out when there is none or it is not known. */
      reverse_dns?: string;
      /** True when that name resolves back to the IP address. Left out when unknown. */
      reverse_dns_confirmed?: boolean;
      /** name: a full host name. literal: an IP address in brackets. invalid: neither. */
      helo_kind: "name" | "literal" | "invalid";
      /** True when the HELO name has an address. Left out when unknown. */
      helo_resolves?: boolean;
      /** True when the HELO name resolves to the client's IP address. Left out when unknown. */
      helo_confirmed?: boolean;
    };
    /** Results of the blocklists. */
    reputation: {
      /** Number of blocklists that returned a verdict. */
      blacklists_checked: number;
      /** Number of blocklists that list the IP address or the domain of From. */
      blacklists_listed: number;
      /** The blocklists that list the IP address, the domain of From or a domain that the message links to. */
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
    /** How recipients can unsubscribe. */
    unsubscribe: {
      /** True when receivers can offer one click (RFC 8058). */
      one_click: boolean;
      /** The https address. Left out when there is none. */
      https_uri?: string;
      /** The mailto address. Left out when there is none. */
      mailto_uri?: string;
      /** True when List-Unsubscribe-Post has the value that RFC 8058 requires. */
      post: boolean;
      /** True when a valid DKIM signature covers both fields. Left out when DNS did not answer. */
      signed?: boolean;
    };
    /** What the message consists of. */
    content: {
      /** Octets of the whole message. */
      size_bytes: number;
      /** Octets of the HTML text. Gmail shows the first 102,400. */
      html_bytes: number;
      /** True when the message has an HTML text. */
      html: boolean;
      /** True when the message has a plain text. */
      text: boolean;
      /** Number of pictures in the HTML. */
      images: number;
      /** The MIME parts, at most 50. */
      parts: {
        /** Depth in the message. 0 for the message itself. */
        depth: number;
        /** The media type. */
        type: string;
        /** The character set. Left out when none is named. */
        charset?: string;
        /** The transfer encoding. */
        encoding: string;
        /** Octets as sent. */
        bytes: number;
      }[];
      /** The attached files, at most 50. */
      attachments: {
        /** The file's name. Left out when it has none. */
        filename?: string;
        /** The media type. */
        type: string;
        /** Octets as sent. */
        bytes: number;
      }[];
      /** Number of links to pages. */
      links: number;
      /** Where the links lead, at most 50 hosts, the one with most links first. */
      link_hosts: {
        /** The host. */
        host: string;
        /** Number of links to it. */
        links: number;
        /** True for a public link shortener. */
        shortener: boolean;
        /** True when a link to it is not encrypted. */
        plain_http: boolean;
      }[];
    };
    /** What Gmail, Yahoo and Microsoft require of senders, and whether the message meets it. */
    requirements: {
      /** The requirement's code. */
      id: string;
      /** The requirement in a sentence. */
      text: string;
      /** The receivers that publish it. */
      receivers: ("gmail" | "yahoo" | "microsoft")[];
      /** True when it is for bulk senders only. */
      bulk_only: boolean;
      /** Whether the message meets it. unknown: DNS did not answer. */
      status: "met" | "unmet" | "unknown";
    }[];
    /** What was found and what to do about it, by the points it regains, most first. */
    findings: {
      /** The finding's code. */
      id: string;
      /** The part of the score that it belongs to. */
      part: "spf" | "dkim" | "dmarc" | "server" | "reputation" | "header" | "content";
      /** How serious it is. */
      severity: "critical" | "high" | "medium" | "low" | "info";
      /** The finding in a sentence. */
      message: string;
      /** What to do, in a sentence. */
      advice: string;
      /** Names and numbers that the finding is about. */
      detail: Record<string, string | number>;
      /** Points that it costs in the score of its part. */
      cost_points: number;
      /** Points that the overall score gains when only this is resolved. */
      points_regained: number;
      /** The DNS record to publish. Recommendations about the same record carry the same one, which resolves them all. Left out when no record resolves the issue, or only you know it. */
      record?: {
        /** The whole name, without a final dot. */
        name: string;
        /** The record's type. */
        type: "TXT" | "MX" | "A" | "PTR";
        /** The value, without quotes. */
        value: string;
        /** The strings of at most 255 characters that make up the value of this one TXT record, for DNS providers that do not split a long value automatically. Left out when one string is enough. */
        strings?: string[];
        /** Parts of the name or value, in angle brackets, to fill in: your mail server or mail service knows them. Left out when the record is finished. */
        open?: string[];
      };
      /** The published records to remove with it. Left out when there are none. */
      replaces?: {
        /** The whole name, without a final dot. */
        name: string;
        /** The record's type. */
        type: "TXT" | "MX" | "A" | "PTR";
        /** The value, without quotes. */
        value: string;
      }[];
      /** Points that the overall score gains by publishing the record, with all that it resolves. Left out where the check cannot measure that. */
      record_points?: number;
      /** A file to publish with the record: the policy of MTA-STS. Left out otherwise. */
      file?: {
        /** Where to publish the file. */
        url: string;
        /** Its content, with line ends. */
        content: string;
      };
      /** What else to do, in a sentence. Left out when there is nothing. */
      note?: string;
    }[];
  };
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

// POST /v1/deliverability/reports

export interface UploadReportInput {
  /** The file in base64. A form with the field `file` takes larger ones. */
  content: string;
}

export interface UploadReportData {
  /** dmarc: a DMARC aggregate report (RFC 7489, RFC 9990). tls: an SMTP TLS report (RFC 8460). */
  type: "dmarc" | "tls";
  /** The organisation that made the report. */
  reporter: string;
  /** The report's id, given by the reporter. */
  report_id: string;
  /** The domain in lower case, in A-labels (xn--…). */
  domain: string;
  /** The same domain in Unicode. */
  domain_unicode: string;
  /** Start of the time that the report covers, ISO 8601. */
  begins_at: string;
  /** End of the time that the report covers, ISO 8601. */
  ends_at: string;
  /** Number of rows in the report: records, or policies of a TLS report. */
  rows: number;
  /** Number of messages, or of sessions in a TLS report. */
  messages: number;
  /** Faults in the file that affect no sum, up to 20: the report still counts. */
  notes: {
    /** Where in the file, such as `feedback.report_metadata.org_name`. */
    field: string;
    /** What is wrong there. */
    message: string;
  }[];
  /** True when this reporter's report was already stored. Nothing changes then. */
  duplicate: boolean;
}

// GET /v1/deliverability/domains

export interface ListDomainsInput {
  /** Number of days, today (UTC) included. Larger values are cut to 100. */
  days?: number | undefined;
  /** Largest number of domains on a page. Larger values are cut to 100. */
  limit?: number | undefined;
  /** The `next_offset` of the previous page. */
  offset?: string | undefined;
}

export interface ListDomainsData {
  /** The first day (UTC) that counts. */
  from: string;
  /** The last day (UTC) that counts. */
  to: string;
  /** The domains, by name. */
  domains: {
    /** The domain in lower case, in A-labels (xn--…). */
    domain: string;
    /** The same domain in Unicode. */
    domain_unicode: string;
    /** Number of reports. */
    reports: number;
    /** Messages in the DMARC reports. */
    messages: number;
    /** Messages that SPF or DKIM aligns. */
    aligned: number;
    /** Share of messages that are aligned, 0–1. Left out without messages. */
    aligned_share?: number;
    /** The same sums of as many days before these. */
    before: {
      /** Number of reports. */
      reports: number;
      /** Messages in the DMARC reports. */
      messages: number;
      /** Messages that SPF or DKIM aligns. */
      aligned: number;
      /** Share of messages that are aligned, 0–1. Left out without messages. */
      aligned_share?: number;
    };
    /** The newest day (UTC) with a report. */
    last_day?: string;
    /** The sums of each day with reports, the oldest first. */
    days: {
      /** The day (UTC). */
      day: string;
      /** Number of reports. */
      reports: number;
      /** Messages in the DMARC reports. */
      messages: number;
      /** Messages that SPF or DKIM aligns. */
      aligned: number;
      /** Share of messages that are aligned, 0–1. Left out without messages. */
      aligned_share?: number;
    }[];
  }[];
  /** True when there is another page. */
  has_more: boolean;
  /** Cursor for the next page. Left out on the last page. */
  next_offset?: string;
}

// GET /v1/deliverability/domains/{domain}

export interface GetDomainProgressInput {
  /** The domain, written as for a deliverability check. */
  domain: string;
}

export interface GetDomainProgressData {
  /** The domain in lower case, in A-labels (xn--…). */
  domain: string;
  /** The same domain in Unicode. */
  domain_unicode: string;
  /** True when a monitor checks the domain. */
  monitored: boolean;
  /** The four steps, in their order. */
  steps: {
    /** published: SPF, DKIM and DMARC are in DNS. tested: a test mail passes DMARC. reported: receivers report mail that is aligned. enforced: the policy is reject. */
    step: "published" | "tested" | "reported" | "enforced";
    /** done: it was observed. failing: what was observed is wrong. open: it was not observed yet, not enough of it, or DNS did not answer. */
    status: "done" | "failing" | "open";
    /** When the newest evidence is from, ISO 8601. Left out without any. */
    observed_at?: string;
    /** The check that shows it. The operation getCheck returns the check. Left out when no check does. */
    check_id?: string;
    /** The mail test that shows it. The operation getMailTest returns the test. Left out when no test does. */
    test_id?: string;
    /** What is missing, in sentences. Empty when it is done. */
    missing: string[];
  }[];
  /** The one thing to do now. */
  next: {
    /** What to do now, as a code. */
    code:
      | "check_domain"
      | "publish_spf"
      | "publish_dkim"
      | "publish_dmarc"
      | "request_reports"
      | "send_test_mail"
      | "correct_mail"
      | "correct_source"
      | "collect_reports"
      | "tighten_policy"
      | "protect_subdomains"
      | "keep_watching";
    /** The same in a sentence. */
    text: string;
    /** The DNS record to publish. Left out when there is nothing to publish, or only you know it. */
    record?: {
      /** The whole name, without a final dot. */
      name: string;
      /** The record's type. */
      type: "TXT" | "MX" | "A" | "PTR";
      /** The value, without quotes. */
      value: string;
      /** The strings of at most 255 characters that make up the value of this one TXT record, for DNS providers that do not split a long value automatically. Left out when one string is enough. */
      strings?: string[];
      /** Parts of the name or value, in angle brackets, to fill in: your mail server or mail service knows them. Left out when the record is finished. */
      open?: string[];
    };
    /** The published records to remove with it. Left out when there are none. */
    replaces?: {
      /** The whole name, without a final dot. */
      name: string;
      /** The record's type. */
      type: "TXT" | "MX" | "A" | "PTR";
      /** The value, without quotes. */
      value: string;
    }[];
    /** What else to do, in a sentence. Left out when there is nothing. */
    note?: string;
  };
  /** What the DMARC reports of the last 14 days show. */
  dmarc: {
    /** The policy that applies to the domain, by the newest check, or by reports of later days. Left out when none is known. */
    policy?: "none" | "quarantine" | "reject";
    /** True when a stricter policy is safe. */
    ready: boolean;
    /** The policy of the record to publish next. Left out unless `ready`. */
    ready_for?: "none" | "quarantine" | "reject";
    /** Why a stricter policy is not safe yet, or not needed. Empty when `ready`. */
    reasons: {
      /** The reason as a code. */
      code:
        | "not_checked"
        | "not_published"
        | "already_strict"
        | "spf_or_dkim_faulty"
        | "reports_not_requested"
        | "no_reports"
        | "too_few_days"
        | "too_many_reports"
        | "too_few_messages"
        | "low_aligned_share"
        | "unaligned_senders"
        | "spf_only_sources"
        | "test_mail_failed";
      /** The same in a sentence. */
      text: string;
    }[];
    /** The first day (UTC) that counts: today and the 14 days before. */
    from: string;
    /** The last day (UTC) that counts. */
    to: string;
    /** True when there are more than 5,000 reports: the oldest are not counted. */
    truncated: boolean;
    /** Number of DMARC aggregate reports. */
    reports: number;
    /** Number of organisations that reported. */
    reporters: number;
    /** Number of days with reports. */
    days: number;
    /** Number of days with reports that found the current policy. */
    days_at_policy: number;
    /** Number of messages. */
    messages: number;
    /** Messages that are not aligned and that the receiver reports as forwarded, or as from a mailing list. */
    forwarded: number;
    /** Share of messages that are aligned, 0–1, without those that are known as forwarded. Left out without messages. */
    aligned_share?: number;
    /** Number of addresses that sent mail that is neither aligned nor known as forwarded. */
    unaligned_source_count: number;
    /** These addresses, the one with most such mail first. At most 20. */
    unaligned_sources: {
      /** The IPv4 or IPv6 address. Left out for the sum of the smallest sources of reports with thousands of them. */
      ip?: string;
      /** The name of the address, if the name resolves back to it. Left out when it has none or DNS did not answer. */
      host_name?: string;
      /** The service that sends, such as `google` or `amazon_ses`. Left out for other senders. */
      provider?: string;
      /** Number of messages. */
      messages: number;
      /** Messages that SPF or DKIM aligns: they pass DMARC. */
      aligned: number;
      /** Messages that SPF aligns. */
      spf_aligned: number;
      /** Messages that DKIM aligns. */
      dkim_aligned: number;
      /** Messages that are not aligned and that the receiver reports as forwarded, or as from a mailing list. */
      forwarded: number;
      /** Messages that only unauthenticated reports have. */
      unauthenticated: number;
      /** What receivers did with the messages. */
      dispositions: {
        /** none: delivered as usual. pass: passed DMARC. quarantine: treated as suspicious. reject: refused. unknown: the report does not say. */
        disposition: "none" | "pass" | "quarantine" | "reject" | "unknown";
        /** Number of messages. */
        messages: number;
      }[];
      /** Share of messages that are aligned, 0–1. Left out without messages. */
      aligned_share?: number;
      /** Why receivers did not apply the policy. */
      reasons: {
        /** The reason, as RFC 7489 and RFC 9990 name it. */
        reason:
          | "forwarded"
          | "local_policy"
          | "mailing_list"
          | "other"
          | "policy_test_mode"
          | "sampled_out"
          | "trusted_forwarder";
        /** Number of messages. */
        messages: number;
      }[];
      /** Domains that passed SPF or DKIM, aligned or not. At most ten. */
      authenticated_as: string[];
      /** The first day (UTC) on which reports have this source. */
      first_day: string;
      /** The last day (UTC) on which reports have this source. */
      last_day: string;
      /** What to do about this mail. */
      advice: {
        /** What the mail needs, as a code. */
        code:
          | "aligned"
          | "forwarded"
          | "add_dkim"
          | "add_service"
          | "add_service_dkim"
          | "signs_as_other"
          | "unknown_source"
          | "partly_aligned"
          | "small_sources";
        /** The same in a sentence. */
        text: string;
        /** A term for the SPF record. Left out when none helps. */
        spf_term?: string;
      };
    }[];
  };
}

// GET /v1/deliverability/domains/{domain}/reports

export interface GetDomainReportsInput {
  /** The domain, written as for a deliverability check. */
  domain: string;
  /** Number of days, the last one included. Larger values are cut to 400. Reports are stored as long as the plan retains results. */
  days?: number | undefined;
  /** The last day. By default today (UTC). */
  to?: string | undefined;
  /** Largest number of sources on a page. Larger values are cut to 200. */
  limit?: number | undefined;
  /** The `next_offset` of the previous page. */
  offset?: string | undefined;
}

export interface GetDomainReportsData {
  /** The domain in lower case, in A-labels (xn--…). */
  domain: string;
  /** The same domain in Unicode. */
  domain_unicode: string;
  /** The address to which receivers send the reports of this account: put `mailto:` and the address into `rua` of each domain's DMARC and TLS-RPT record. Left out for test keys, and where the service receives no mail. */
  reports_address?: string;
  /** The first day (UTC) that counts. */
  from: string;
  /** The last day (UTC) that counts. */
  to: string;
  /** All stored reports about the domain, whatever days this response adds up. Left out when none is stored. */
  stored?: {
    /** The first day (UTC) with a stored report. */
    from: string;
    /** The last day (UTC) with a stored report. */
    to: string;
  };
  /** True when there are more than 5,000 reports: the oldest are not counted. */
  truncated: boolean;
  /** The organisations that reported, up to 100, those with most reports first. */
  reporters: {
    /** The organisation. */
    name: string;
    /** Number of its reports. */
    reports: number;
  }[];
  /** Faults in reports that still count, up to 50, the newest first. */
  notes: {
    /** The day (UTC) of the report. */
    day: string;
    /** The organisation that made it. */
    reporter: string;
    /** Its id. */
    report_id: string;
    /** Where in the file, such as `feedback.report_metadata.org_name`. */
    field: string;
    /** What is wrong there. */
    message: string;
  }[];
  /** Mails with a report that could not be read, about any domain of the account, by day, the newest first, with the fault of the day's last. They are not counted. */
  unreadable: {
    /** The day (UTC) on which they came. */
    day: string;
    /** Number of mails with a report that could not be read. */
    mails: number;
    /** The domain in the From of the last. Left out where it is not known. */
    from?: string;
    /** Where in the file, such as `feedback.report_metadata.org_name`. */
    field: string;
    /** What is wrong there. */
    message: string;
  }[];
  /** DMARC aggregate reports. */
  dmarc: {
    /** Number of DMARC aggregate reports. */
    reports: number;
    /** Those that came by mail that did not pass DMARC: any host may have sent them. They are in the sums below, but cause no event and do not count toward a stricter policy. */
    unauthenticated_reports: number;
    /** The policy that the newest authenticated report found. Left out without such reports. */
    policy?: {
      /** The policy for the domain. */
      p?: "none" | "quarantine" | "reject";
      /** The policy for its subdomains. */
      sp?: "none" | "quarantine" | "reject";
      /** The policy for names that do not exist (RFC 9989). */
      np?: "none" | "quarantine" | "reject";
      /** True when the record only tests its policy. */
      testing: boolean;
    };
    /** Number of messages. */
    messages: number;
    /** Messages that SPF or DKIM aligns: they pass DMARC. */
    aligned: number;
    /** Messages that SPF aligns. */
    spf_aligned: number;
    /** Messages that DKIM aligns. */
    dkim_aligned: number;
    /** Messages that are not aligned and that the receiver reports as forwarded, or as from a mailing list. */
    forwarded: number;
    /** Messages that only unauthenticated reports have. */
    unauthenticated: number;
    /** What receivers did with the messages. */
    dispositions: {
      /** none: delivered as usual. pass: passed DMARC. quarantine: treated as suspicious. reject: refused. unknown: the report does not say. */
      disposition: "none" | "pass" | "quarantine" | "reject" | "unknown";
      /** Number of messages. */
      messages: number;
    }[];
    /** Share of messages that are aligned, 0–1. Left out without messages. */
    aligned_share?: number;
    /** The sums of each day with reports, the oldest first. */
    days: {
      /** The day (UTC), such as 2026-11-21. */
      day: string;
      /** Number of messages. */
      messages: number;
      /** Messages that SPF or DKIM aligns: they pass DMARC. */
      aligned: number;
      /** Messages that SPF aligns. */
      spf_aligned: number;
      /** Messages that DKIM aligns. */
      dkim_aligned: number;
      /** Messages that are not aligned and that the receiver reports as forwarded, or as from a mailing list. */
      forwarded: number;
      /** Messages that only unauthenticated reports have. */
      unauthenticated: number;
      /** What receivers did with the messages. */
      dispositions: {
        /** none: delivered as usual. pass: passed DMARC. quarantine: treated as suspicious. reject: refused. unknown: the report does not say. */
        disposition: "none" | "pass" | "quarantine" | "reject" | "unknown";
        /** Number of messages. */
        messages: number;
      }[];
      /** Share of messages that are aligned, 0–1. Left out without messages. */
      aligned_share?: number;
    }[];
    /** The sums of each service that sends, the largest first. */
    providers: {
      /** The service that sends, such as `google` or `amazon_ses`. Left out for other senders. */
      provider?: string;
      /** Number of its addresses. */
      sources: number;
      /** Number of messages. */
      messages: number;
      /** Messages that SPF or DKIM aligns: they pass DMARC. */
      aligned: number;
      /** Messages that SPF aligns. */
      spf_aligned: number;
      /** Messages that DKIM aligns. */
      dkim_aligned: number;
      /** Messages that are not aligned and that the receiver reports as forwarded, or as from a mailing list. */
      forwarded: number;
      /** Messages that only unauthenticated reports have. */
      unauthenticated: number;
      /** What receivers did with the messages. */
      dispositions: {
        /** none: delivered as usual. pass: passed DMARC. quarantine: treated as suspicious. reject: refused. unknown: the report does not say. */
        disposition: "none" | "pass" | "quarantine" | "reject" | "unknown";
        /** Number of messages. */
        messages: number;
      }[];
      /** Share of messages that are aligned, 0–1. Left out without messages. */
      aligned_share?: number;
    }[];
    /** The sums of each sender, the largest first, up to 100: a known service, or the sources that share a domain or a network. */
    senders: {
      /** The service, the domain of its hosts, or the network of its addresses. Left out for the sum of the smallest sources. */
      name?: string;
      /** The service that sends, such as `google` or `amazon_ses`. Left out for other senders. */
      provider?: string;
      /** Number of its addresses. */
      sources: number;
      /** Number of messages. */
      messages: number;
      /** Messages that SPF or DKIM aligns: they pass DMARC. */
      aligned: number;
      /** Messages that SPF aligns. */
      spf_aligned: number;
      /** Messages that DKIM aligns. */
      dkim_aligned: number;
      /** Messages that are not aligned and that the receiver reports as forwarded, or as from a mailing list. */
      forwarded: number;
      /** Messages that only unauthenticated reports have. */
      unauthenticated: number;
      /** What receivers did with the messages. */
      dispositions: {
        /** none: delivered as usual. pass: passed DMARC. quarantine: treated as suspicious. reject: refused. unknown: the report does not say. */
        disposition: "none" | "pass" | "quarantine" | "reject" | "unknown";
        /** Number of messages. */
        messages: number;
      }[];
      /** Share of messages that are aligned, 0–1. Left out without messages. */
      aligned_share?: number;
      /** What to do about this mail. */
      advice: {
        /** What the mail needs, as a code. */
        code:
          | "aligned"
          | "forwarded"
          | "add_dkim"
          | "add_service"
          | "add_service_dkim"
          | "signs_as_other"
          | "unknown_source"
          | "partly_aligned"
          | "small_sources";
        /** The same in a sentence. */
        text: string;
        /** A term for the SPF record. Left out when none helps. */
        spf_term?: string;
      };
    }[];
    /** Number of all senders. */
    sender_count: number;
    /** Number of sources on all pages. */
    source_count: number;
    /** The addresses that sent as the domain, the largest first. */
    sources: {
      /** The IPv4 or IPv6 address. Left out for the sum of the smallest sources of reports with thousands of them. */
      ip?: string;
      /** The name of the address, if the name resolves back to it. Left out when it has none or DNS did not answer. */
      host_name?: string;
      /** The service that sends, such as `google` or `amazon_ses`. Left out for other senders. */
      provider?: string;
      /** Number of messages. */
      messages: number;
      /** Messages that SPF or DKIM aligns: they pass DMARC. */
      aligned: number;
      /** Messages that SPF aligns. */
      spf_aligned: number;
      /** Messages that DKIM aligns. */
      dkim_aligned: number;
      /** Messages that are not aligned and that the receiver reports as forwarded, or as from a mailing list. */
      forwarded: number;
      /** Messages that only unauthenticated reports have. */
      unauthenticated: number;
      /** What receivers did with the messages. */
      dispositions: {
        /** none: delivered as usual. pass: passed DMARC. quarantine: treated as suspicious. reject: refused. unknown: the report does not say. */
        disposition: "none" | "pass" | "quarantine" | "reject" | "unknown";
        /** Number of messages. */
        messages: number;
      }[];
      /** Share of messages that are aligned, 0–1. Left out without messages. */
      aligned_share?: number;
      /** Why receivers did not apply the policy. */
      reasons: {
        /** The reason, as RFC 7489 and RFC 9990 name it. */
        reason:
          | "forwarded"
          | "local_policy"
          | "mailing_list"
          | "other"
          | "policy_test_mode"
          | "sampled_out"
          | "trusted_forwarder";
        /** Number of messages. */
        messages: number;
      }[];
      /** Domains that passed SPF or DKIM, aligned or not. At most ten. */
      authenticated_as: string[];
      /** The first day (UTC) on which reports have this source. */
      first_day: string;
      /** The last day (UTC) on which reports have this source. */
      last_day: string;
      /** What to do about this mail. */
      advice: {
        /** What the mail needs, as a code. */
        code:
          | "aligned"
          | "forwarded"
          | "add_dkim"
          | "add_service"
          | "add_service_dkim"
          | "signs_as_other"
          | "unknown_source"
          | "partly_aligned"
          | "small_sources";
        /** The same in a sentence. */
        text: string;
        /** A term for the SPF record. Left out when none helps. */
        spf_term?: string;
      };
    }[];
  };
  /** SMTP TLS reports. */
  tls: {
    /** Number of TLS reports. */
    reports: number;
    /** Sessions with TLS as the policy requires. */
    succeeded: number;
    /** Sessions that failed. */
    failed: number;
    /** The sums of each kind of policy. */
    policies: {
      /** sts: MTA-STS. tlsa: DANE. no-policy-found: neither. */
      policy: "sts" | "tlsa" | "no-policy-found";
      /** Sessions with TLS as the policy requires. */
      succeeded: number;
      /** Sessions that failed. */
      failed: number;
      /** Failed sessions by type, the most frequent first. */
      failures: {
        /** The type of failure, such as `certificate-expired` (RFC 8460). */
        type: string;
        /** Number of sessions. */
        sessions: number;
      }[];
    }[];
    /** The sums of each day with reports, the oldest first. */
    days: {
      /** The day (UTC), such as 2026-11-21. */
      day: string;
      /** Sessions with TLS as the policy requires. */
      succeeded: number;
      /** Sessions that failed. */
      failed: number;
    }[];
  };
  /** True when there is another page of sources. */
  has_more: boolean;
  /** Cursor for the next page. Left out on the last page. */
  next_offset?: string;
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
    | "dmarc.ready"
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
        | "dmarc.ready"
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
  /** Sends a sample of this event instead of `webhook.test`. */
  event?:
    | "job.completed"
    | "job.failed"
    | "credits.low"
    | "credits.depleted"
    | "blacklist.detected"
    | "dmarc.failed"
    | "dmarc.ready"
    | undefined;
}

export interface TestWebhookData {
  /** True when the address responded with 2xx. */
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

// POST /v1/webhooks/{id}/replay

export interface ReplayDeliveriesInput {
  /** The webhook's id. */
  id: string;
  /** Deliveries created at this time or later, ISO 8601. */
  since: string;
}

export interface ReplayDeliveriesData {
  /** Number of deliveries that are sent again, about 200 at most. */
  replayed: number;
  /** Where the request stopped, ISO 8601: pass it as `since` to continue. Null when everything is done. */
  next_since: string | null;
}

// GET /v1/events

export interface ListEventsInput {
  /** The `cursor` of the previous response. Left out: only events from now on. */
  after?: string | undefined;
  /** Seconds to wait for an event when there is none, 0 to 25. The response comes with the first one, or without any at the end. */
  wait?: number | undefined;
  /** Largest number of events. Larger values are cut to 100. */
  limit?: number | undefined;
}

export interface ListEventsData {
  /** The events, oldest first. Empty when there is none. */
  events: {
    /** The event's id, as in the header webhook-id of its deliveries. */
    id: string;
    /** The event's type. */
    type:
      | "job.completed"
      | "job.failed"
      | "credits.low"
      | "credits.depleted"
      | "blacklist.detected"
      | "dmarc.failed"
      | "dmarc.ready";
    /** When the event happened, ISO 8601. */
    created_at: string;
    /** The event's data. */
    data: Record<string, unknown>;
  }[];
  /** Pass it as `after` to read the events that follow. */
  cursor: string;
}

// GET /v1/account

export interface GetAccountData {
  /** The account's id. */
  account_id: string;
  /** The account's name. */
  name: string;
  /** When the account was created, ISO 8601. */
  created_at: string;
  /** Days that jobs are stored after they have ended: the plan's, or fewer if the operator set fewer. */
  retention_days: number;
  /** The plan and its limits. */
  plan: {
    /** The plan's id. */
    id: "free" | "pro" | "scale";
    /** Largest number of addresses in a job. */
    max_addresses_per_job: number;
    /** Requests that a key may send in a minute. */
    requests_per_minute: number;
    /** Requests that all keys of the account may send in a minute; live and test keys are counted separately. */
    account_requests_per_minute: number;
    /** Days that results are stored. */
    retention_days: number;
  };
  /** The account's balance. */
  credits: {
    /** Credits that can be spent. */
    available: number;
    /** Credits charged and not settled yet. */
    held: number;
    /** Credits that finished work has cost, in total, with those refunded later: granted - used + refunded - held = available. */
    used: number;
    /** Credits spent, in total, without those refunded. */
    spent: number;
    /** Credits refunded, in total. */
    refunded: number;
    /** Credits granted, in total. */
    granted: number;
  };
  /** The limit of the signed-in person. Left out without one, and for keys. */
  limit?: {
    /** The part of the service that people are limited to. Left out: no limit. */
    area?: "lists" | "domains";
    /** The limit of this month (UTC). Left out: no limit. */
    monthly?: {
      /** The most credits that may be spent in the month. */
      credits: number;
      /** Credits spent in the month, without those refunded. */
      spent: number;
      /** Credits that may still be spent in the month. */
      left: number;
      /** When the next month starts, ISO 8601. */
      resets_at: string;
    };
  };
  /** The limit of the whole account, which an owner sets. Its area limits people who are not owners. Left out without one. */
  account_limit?: {
    /** The part of the service that people are limited to. Left out: no limit. */
    area?: "lists" | "domains";
    /** The limit of this month (UTC). Left out: no limit. */
    monthly?: {
      /** The most credits that may be spent in the month. */
      credits: number;
      /** Credits spent in the month, without those refunded. */
      spent: number;
      /** Credits that may still be spent in the month. */
      left: number;
      /** When the next month starts, ISO 8601. */
      resets_at: string;
    };
  };
  /** Whether this service can see mail servers. */
  reach: {
    /** open: mail servers can be asked. refused_by: some large providers refuse it now. dns_only: port 25 is closed. lab: only addresses of the built-in lab have results. */
    state: "open" | "dns_only" | "lab" | "refused_by" | "not_measured";
    /** The same in a sentence, for the person who asks. */
    message: string;
    /** The large mail providers that refuse it now. */
    refused_by: string[];
    /** When it was measured, ISO 8601. Null when it never was. */
    measured_at: string | null;
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
          | "events:read"
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
    /** Credits charged, with those that are held for work under way and those refunded later. */
    credits_used: number;
    /** Credits refunded. */
    credits_refunded: number;
    /** The same by operation, without those that moved no credits. */
    by_operation: {
      /** What the credits paid for. */
      operation:
        | "verify"
        | "verify_batch"
        | "verify_file"
        | "find"
        | "deliverability_check"
        | "monitor"
        | "mail_test";
      /** Credits charged, with those that are held for work under way and those refunded later. */
      credits_used: number;
      /** Credits refunded. */
      credits_refunded: number;
    }[];
    /** Results of verifications, by status. An address in several lists counts in each. */
    verdicts: {
      /** Results with the status valid. */
      valid: number;
      /** Results with the status invalid. */
      invalid: number;
      /** Results with the status risky. */
      risky: number;
      /** Results with the status unknown. */
      unknown: number;
      /** Results with the status catch_all. */
      catch_all: number;
      /** Results with the status disposable. */
      disposable: number;
      /** Results with the status role. */
      role: number;
      /** Results with the status spam_trap. */
      spam_trap: number;
    };
    /** Addresses that visitors typed into forms, by key and page. */
    forms: {
      /** The id of the key. */
      key_id: string;
      /** The origin of the page. Left out when a back end sent the addresses. */
      origin?: string;
      /** Addresses that the form took. */
      go: number;
      /** Addresses that the visitor was asked to look at again. */
      ask: number;
      /** Addresses that the form refused. */
      no: number;
      /** Those of `ask` with a likely typo. */
      typos: number;
    }[];
  };
  /** The days on which credits moved, an address was verified or a form was filled in. Everything is counted on the day its request was accepted, even if it ended or was refunded later. */
  days: {
    /** The day (UTC). */
    date: string;
    /** Credits granted. */
    credits_granted: number;
    /** Credits charged, with those that are held for work under way and those refunded later. */
    credits_used: number;
    /** Credits refunded. */
    credits_refunded: number;
    /** The same by operation, without those that moved no credits. */
    by_operation: {
      /** What the credits paid for. */
      operation:
        | "verify"
        | "verify_batch"
        | "verify_file"
        | "find"
        | "deliverability_check"
        | "monitor"
        | "mail_test";
      /** Credits charged, with those that are held for work under way and those refunded later. */
      credits_used: number;
      /** Credits refunded. */
      credits_refunded: number;
    }[];
    /** Results of verifications, by status. An address in several lists counts in each. */
    verdicts: {
      /** Results with the status valid. */
      valid: number;
      /** Results with the status invalid. */
      invalid: number;
      /** Results with the status risky. */
      risky: number;
      /** Results with the status unknown. */
      unknown: number;
      /** Results with the status catch_all. */
      catch_all: number;
      /** Results with the status disposable. */
      disposable: number;
      /** Results with the status role. */
      role: number;
      /** Results with the status spam_trap. */
      spam_trap: number;
    };
    /** Addresses that visitors typed into forms, by key and page. */
    forms: {
      /** The id of the key. */
      key_id: string;
      /** The origin of the page. Left out when a back end sent the addresses. */
      origin?: string;
      /** Addresses that the form took. */
      go: number;
      /** Addresses that the visitor was asked to look at again. */
      ask: number;
      /** Addresses that the form refused. */
      no: number;
      /** Those of `ask` with a likely typo. */
      typos: number;
    }[];
  }[];
}

// GET /v1/account/ledger

export interface ListLedgerEntriesInput {
  /** The first day (UTC). By default the account's first. */
  from?: string | undefined;
  /** The last day (UTC). By default today. */
  to?: string | undefined;
  /** Largest number of entries on a page. Larger values are cut to 200. */
  limit?: number | undefined;
  /** The `next_offset` of the previous page. */
  offset?: string | undefined;
}

export interface ListLedgerEntriesData {
  /** The entries, newest first. Test keys move no credits and have none. */
  entries: {
    /** The entry's id. */
    entry_id: string;
    /** `grant`: new credits. `clawback`: unspent credits taken back by the operator of this service. `charge`: paid immediately. `hold`: set aside until the outcome is known. `settle`: held credits are paid. `release`: held credits return. `refund`: paid credits return. */
    type: "grant" | "clawback" | "charge" | "hold" | "settle" | "release" | "refund";
    /** How many credits moved, as a positive number. */
    credits: number;
    /** The change of the available credits. The sum over all entries is the balance. */
    balance_change: number;
    /** The change of the held credits. The sum over all entries is what is held now. */
    held_change: number;
    /** What the credits pay for. Left out for grants and clawbacks. */
    operation?:
      | "verify"
      | "verify_batch"
      | "verify_file"
      | "find"
      | "deliverability_check"
      | "monitor"
      | "mail_test";
    /** The id that the entries of one operation share. For a verification that continued as a job it is the job's id. */
    operation_id: string;
    /** The job of the batch or the file. Left out otherwise. */
    job_id?: string;
    /** The deliverability check. Left out otherwise. */
    check_id?: string;
    /** The mail test. Left out otherwise. */
    test_id?: string;
    /** The person who caused the charge. Left out when a key did. */
    person_id?: string;
    /** Why credits moved without a request, or returned: `opening`: the account was opened. `granted`, `taken_back`: by the operator. `failed`: addresses, or a mail test, failed on our side. `not_probed`: their mail server was not asked. `not_reached`: our own address, exit or circuit kept us from it. `cancelled`: the job was cancelled. `no_mail`: the address of a mail test got no mail. Left out otherwise. */
    reason?:
      | "opening"
      | "granted"
      | "taken_back"
      | "failed"
      | "not_probed"
      | "not_reached"
      | "cancelled"
      | "no_mail";
    /** When the operation started, ISO 8601. Entries are listed in this order, and usage counts them on this day. */
    began_at: string;
    /** When the entry was written, ISO 8601. */
    created_at: string;
  }[];
  /** True when there is another page. */
  has_more: boolean;
  /** Cursor for the next page. Left out on the last page. */
  next_offset?: string;
}

// GET /v1/requests

export interface ListRequestsInput {
  /** Largest number of requests on a page. Larger values are cut to 200. */
  limit?: number | undefined;
  /** Only responses of this class. */
  status?: "2xx" | "3xx" | "4xx" | "5xx" | undefined;
  /** Only this method and path, such as `POST /v1/verify`. */
  route?: string | undefined;
  /** Only requests of this key or person. */
  key_id?: string | undefined;
  /** Only requests whose id, method and path, or error code contains this text, in any case. */
  q?: string | undefined;
  /** The `next_offset` of the previous page. */
  offset?: string | undefined;
}

export interface ListRequestsData {
  /** The requests, newest first. */
  requests: {
    /** The request's id, as in `X-Request-Id`. */
    request_id: string;
    /** When the response was sent, ISO 8601. */
    at: string;
    /** HTTP method. */
    method: string;
    /** Path as this document names it, such as `/v1/jobs/{id}`. */
    route: string;
    /** HTTP status of the response. */
    status: number;
    /** Milliseconds until the response. */
    duration_ms: number;
    /** The key that sent it, or the person who was signed in. */
    key_id: string;
    /** `error.code` of the response. Null after success. */
    error_code: string | null;
  }[];
  /** True when there is another page. */
  has_more: boolean;
  /** Cursor for the next page. Left out on the last page. */
  next_offset?: string;
}

// DELETE /v1/data

export interface EraseDataInput {
  /** The address to erase. Spelling does not matter: `Ann@X.com` erases `ann@x.com`, too. */
  email: string;
}

export interface EraseDataData {
  /** True when nothing of the address is left. False with 202: the erasure continues, and repeating the request shows whether it has ended. */
  complete: boolean;
  /** Running jobs with the address in their list. It is erased from them when they have ended. */
  jobs_open: number;
  /** What was erased since the request that started the erasure. */
  erased: {
    /** Results in the cache. */
    cached_results: number;
    /** Responses stored for an Idempotency-Key or a search. A repeat of the request is not charged. */
    responses: number;
    /** Records of opens and clicks. */
    activity_records: number;
    /** Verdicts and bounces that later results take into account. */
    verdicts: number;
    /** Mail tests with a mail from the address. Their mail and report are erased. */
    mail_tests: number;
    /** Rows of jobs. A row keeps its status, and shows `[erased]` instead of the address; the other cells of the list are empty. */
    job_rows: number;
  };
}

// GET /v1/api-keys

export interface ListApiKeysData {
  /** The keys, newest first. */
  api_keys: (ApiKey & {
    /** When the key was last used, ISO 8601, up to an hour earlier than its last use. Null when it was never used. */
    last_used_at: string | null;
  })[];
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
        | "events:read"
        | "account:read"
      )[]
    | null
    | undefined;
  /** When the key expires, such as 2027-01-31T00:00:00Z. Left out: it does not expire. */
  expires_at?: string | null | undefined;
  /** Address blocks that the key is limited to, at most 50. Left out: it is accepted from any address. */
  networks?: readonly string[] | null | undefined;
  /** Makes the key public: it begins with `mp_pub_`, may stand in a page, and only verifies what visitors type there, by POST /v1/verify/form. It has no scopes and no networks. Left out: the key is secret. */
  public?:
    | {
        /** The origins of the pages that have the key, at most 50. */
        origins: readonly string[];
        /** The most verifications of a day (UTC): what an attacker can spend of your credits. Default 1,000. */
        daily_limit?: number | null | undefined;
      }
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
    /** Requests that all keys of an account may send in a minute; live and test keys are counted separately. */
    account_requests_per_minute: number;
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

// GET /v1/listings/{domain}

export interface GetListingInput {
  /** The domain, such as example.com. */
  domain: string;
}

export interface GetListingData {
  /** The domain in lower case, in A-labels (xn--…). */
  domain: string;
  /** The same domain in Unicode. */
  domain_unicode: string;
  /** True when a list names the domain. */
  listed: boolean;
  /** possibly_disposable: on two broad lists, which lowers scores alone. relay: passes mail on. mistyped_provider: typed by mistake for a provider. */
  as: "disposable" | "possibly_disposable" | "relay" | "mistyped_provider" | "free" | "not_listed";
  /** True when this operator calls it not disposable. */
  allowed_by_operator: boolean;
  /** Public lists with the domain or one above it. Empty when only this service lists it. */
  sources: {
    /** Its name. */
    name: string;
    /** Where it takes corrections. */
    url: string;
  }[];
  /** The day on which a source first saw it, or of the first edition with it. Left out when unknown. */
  first_day?: string;
  /** The day the lists are of. */
  edition: string;
  /** This in words, and how the domain leaves the list. */
  message: string;
}

// GET /v1/sign-in

export interface GetSignInData {
  /** The identity provider. Left out when none is set. */
  oidc?: {
    /** The provider's issuer URL. */
    issuer: string;
  };
  /** True when passkeys work at the host of this request. */
  passkeys: boolean;
}

// POST /v1/sign-in/link

export interface SignInWithLinkInput {
  /** The token: the link's text after `#`. */
  token: string;
  /** Accepts the invitation. Default false: only reads it. */
  accept?: boolean | null | undefined;
  /** The person's name. Required for a new person. */
  name?: string | null | undefined;
  /** The account's name, on the first visit. */
  account_name?: string | null | undefined;
}

export interface SignInWithLinkData {
  /** first: makes the service's first owner. member: makes a member of an account. return: signs in a person again. */
  kind: "first" | "member" | "return";
  /** The account's name. Left out when there is none yet. */
  account_name?: string;
  /** owner: everything, with API keys and people. admin: everything but API keys; manages admins, members and viewers, and with a limit only removes them. member: reads and writes. viewer: reads. */
  role: "owner" | "admin" | "member" | "viewer";
  /** The address that may accept, by the identity provider. Left out when the link is enough. */
  email?: string;
  /** The new session. Left out when the invitation was only read. */
  signed_in?: {
    /** The person's id. */
    person_id: string;
    /** The account that the invitation was for. Left out without one. */
    account_id?: string;
  };
}

// POST /v1/sign-in/oidc

export interface StartOidcSignInInput {
  /** The token of an invitation to accept: its link's text after `#`. */
  invitation?: string | null | undefined;
  /** The page of the dashboard to show after the sign-in, such as `/app/jobs`. Another site's is dropped. */
  next?: string | null | undefined;
}

export interface StartOidcSignInData {
  /** The provider's page for this sign-in. */
  url: string;
  /** Send it back with the provider's response, within 10 minutes. */
  flow: string;
}

// POST /v1/sign-in/oidc

export interface FinishOidcSignInInput {
  /** The `flow` that `start` returned. */
  flow: string;
  /** The query string that the provider sent to `/app/sign-in`. */
  response: string;
}

export interface FinishOidcSignInData {
  /** The person's id. */
  person_id: string;
  /** The account that the invitation was for. Left out without one. */
  account_id?: string;
  /** The page of the dashboard to show after the sign-in, such as `/app/jobs`. */
  next: string;
}

// POST /v1/sign-in/passkey

export interface StartPasskeySignInData {
  /** The options for the browser (WebAuthn level 3). Their challenge is valid for five minutes. */
  options: Record<string, unknown>;
}

// POST /v1/sign-in/passkey

export interface FinishPasskeySignInInput {
  /** The browser's AuthenticationResponseJSON (WebAuthn level 3). */
  response: {
    /** The passkey's id, in base64url. */
    id: string;
    /** The same. */
    rawId: string;
    /** Always public-key. */
    type: "public-key";
    /** The authenticator's response. */
    response: {
      /** The challenge and the origin, in base64url. */
      clientDataJSON: string;
      /** The authenticator's data, in base64url. */
      authenticatorData: string;
      /** The signature, in base64url. */
      signature: string;
      /** The person, in base64url. */
      userHandle?: string | null | undefined;
    };
  };
}

export interface FinishPasskeySignInData {
  /** The person's id. */
  person_id: string;
}

// POST /v1/passkeys

export interface StartPasskeyData {
  /** The options for the browser (WebAuthn level 3). Their challenge is valid for five minutes. */
  options: Record<string, unknown>;
}

// POST /v1/passkeys

export interface FinishPasskeyInput {
  /** The passkey's name, to tell passkeys apart. */
  name: string;
  /** The browser's RegistrationResponseJSON (WebAuthn level 3). */
  response: {
    /** The passkey's id, in base64url. */
    id: string;
    /** The same. */
    rawId: string;
    /** Always public-key. */
    type: "public-key";
    /** The authenticator's response. */
    response: {
      /** The challenge and the origin, in base64url. */
      clientDataJSON: string;
      /** The new public key, in base64url. */
      attestationObject: string;
      /** How a browser reaches the authenticator, such as usb or internal. */
      transports?: readonly string[] | null | undefined;
    };
  };
}

export interface FinishPasskeyData {
  /** The passkey's id. */
  passkey_id: string;
  /** The passkey's name. */
  name: string;
  /** When it was added, ISO 8601. */
  created_at: string;
  /** When it was last used, ISO 8601. Left out before its first use. */
  last_used_at?: string;
}

// DELETE /v1/passkeys/{id}

export interface RemovePasskeyInput {
  /** The passkey's id (`passkey_id`). */
  id: string;
}

export interface RemovePasskeyData {
  /** The passkey's id. */
  passkey_id: string;
  /** Always true. */
  removed: true;
}

// GET /v1/person

export interface GetPersonData {
  /** The person's id. */
  person_id: string;
  /** The person's name. */
  name: string;
  /** The person's address. Left out when it is not known. */
  email?: string;
  /** True within five minutes of the sign-in: keys, invitations and secrets require it. */
  recently_signed_in: boolean;
  /** The accounts that the person is a member of. */
  accounts: {
    /** The account's id. The header Mailproof-Account selects it. */
    account_id: string;
    /** The account's name. */
    name: string;
    /** owner: everything, with API keys and people. admin: everything but API keys; manages admins, members and viewers, and with a limit only removes them. member: reads and writes. viewer: reads. */
    role: "owner" | "admin" | "member" | "viewer";
  }[];
  /** The person's passkeys. */
  passkeys: {
    /** The passkey's id. */
    passkey_id: string;
    /** The passkey's name. */
    name: string;
    /** When it was added, ISO 8601. */
    created_at: string;
    /** When it was last used, ISO 8601. Left out before its first use. */
    last_used_at?: string;
  }[];
  /** The person's identities at identity providers. */
  identities: {
    /** The provider's issuer URL. */
    issuer: string;
    /** The person's address at the provider. Left out when it gave none. */
    label?: string;
  }[];
}

// DELETE /v1/session

export interface EndSessionInput {
  /** true ends the person's sessions in all browsers. */
  everywhere?: boolean | undefined;
}

export interface EndSessionData {
  /** Always true. */
  ended: true;
}

// GET /v1/members

export interface ListMembersData {
  /** The members, oldest first. */
  members: {
    /** The person's id. */
    person_id: string;
    /** The person's name. */
    name: string;
    /** The person's address. Left out when it is not known. */
    email?: string;
    /** owner: everything, with API keys and people. admin: everything but API keys; manages admins, members and viewers, and with a limit only removes them. member: reads and writes. viewer: reads. */
    role: "owner" | "admin" | "member" | "viewer";
    /** The part of the service that the member is limited to. Left out: no limit. */
    area?: "lists" | "domains";
    /** The most credits that the member may spend in a month (UTC). Left out: no limit. */
    monthly_credits?: number;
    /** When the person became a member, ISO 8601. */
    since: string;
  }[];
  /** The invitations that nobody has accepted. */
  invitations: {
    /** The invitation's id. */
    invitation_id: string;
    /** owner: everything, with API keys and people. admin: everything but API keys; manages admins, members and viewers, and with a limit only removes them. member: reads and writes. viewer: reads. */
    role: "owner" | "admin" | "member" | "viewer";
    /** The part of the service that the member is limited to. Left out: no limit. */
    area?: "lists" | "domains";
    /** The most credits that the member may spend in a month (UTC). Left out: no limit. */
    monthly_credits?: number;
    /** The address that may accept the invitation. Left out when the link is enough. */
    email?: string;
    /** When the link expires, ISO 8601. */
    expires_at: string;
  }[];
}

// PUT /v1/members/{id}

export interface UpdateMemberInput {
  /** The person's id. */
  id: string;
  /** owner: everything, with API keys and people. admin: everything but API keys; manages admins, members and viewers, and with a limit only removes them. member: reads and writes. viewer: reads. */
  role: "owner" | "admin" | "member" | "viewer";
  /** Limits the member to lists or to domains. Left out: no limit. */
  area?: "lists" | "domains" | null | undefined;
  /** The most credits that the member may spend in a month (UTC). Left out: no limit. */
  monthly_credits?: number | null | undefined;
}

export interface UpdateMemberData {
  /** The person's id. */
  person_id: string;
  /** The person's name. */
  name: string;
  /** The person's address. Left out when it is not known. */
  email?: string;
  /** owner: everything, with API keys and people. admin: everything but API keys; manages admins, members and viewers, and with a limit only removes them. member: reads and writes. viewer: reads. */
  role: "owner" | "admin" | "member" | "viewer";
  /** The part of the service that the member is limited to. Left out: no limit. */
  area?: "lists" | "domains";
  /** The most credits that the member may spend in a month (UTC). Left out: no limit. */
  monthly_credits?: number;
  /** When the person became a member, ISO 8601. */
  since: string;
}

// PUT /v1/account/limits

export interface SetAccountLimitsInput {
  /** Limits people who are not owners to lists or to domains. Keys keep their scopes. Left out: no limit. */
  area?: "lists" | "domains" | null | undefined;
  /** The most credits that people and keys of the account may spend in a month (UTC), with those spent before in this month. Left out: no limit. */
  monthly_credits?: number | null | undefined;
}

export interface SetAccountLimitsData {
  /** The limits of the account. Left out without any. */
  account_limit?: {
    /** The part of the service that people are limited to. Left out: no limit. */
    area?: "lists" | "domains";
    /** The limit of this month (UTC). Left out: no limit. */
    monthly?: {
      /** The most credits that may be spent in the month. */
      credits: number;
      /** Credits spent in the month, without those refunded. */
      spent: number;
      /** Credits that may still be spent in the month. */
      left: number;
      /** When the next month starts, ISO 8601. */
      resets_at: string;
    };
  };
}

// DELETE /v1/members/{id}

export interface RemoveMemberInput {
  /** The person's id. */
  id: string;
}

export interface RemoveMemberData {
  /** The person's id. */
  person_id: string;
  /** Always true. */
  removed: true;
}

// POST /v1/invitations

export interface CreateInvitationInput {
  /** owner: everything, with API keys and people. admin: everything but API keys; manages admins, members and viewers, and with a limit only removes them. member: reads and writes. viewer: reads. */
  role: "owner" | "admin" | "member" | "viewer";
  /** Limits the member to lists or to domains. Left out: no limit. */
  area?: "lists" | "domains" | null | undefined;
  /** The most credits that the member may spend in a month (UTC). Left out: no limit. */
  monthly_credits?: number | null | undefined;
  /** The person's address. Where an identity provider is set, only a person whose address it verified may accept. A new invitation for the address replaces an open one. */
  email?: string | null | undefined;
}

export interface CreateInvitationData {
  /** The invitation's id. */
  invitation_id: string;
  /** owner: everything, with API keys and people. admin: everything but API keys; manages admins, members and viewers, and with a limit only removes them. member: reads and writes. viewer: reads. */
  role: "owner" | "admin" | "member" | "viewer";
  /** The part of the service that the member is limited to. Left out: no limit. */
  area?: "lists" | "domains";
  /** The most credits that the member may spend in a month (UTC). Left out: no limit. */
  monthly_credits?: number;
  /** The address that may accept the invitation. Left out when the link is enough. */
  email?: string;
  /** When the link expires, ISO 8601. */
  expires_at: string;
  /** The link. It is shown only in this response. */
  url: string;
  /** True when the link is also sent to `email`. */
  mailed: boolean;
}

// DELETE /v1/invitations/{id}

export interface DeleteInvitationInput {
  /** The invitation's id. */
  id: string;
}

export interface DeleteInvitationData {
  /** The invitation's id. */
  invitation_id: string;
  /** Always true. */
  withdrawn: true;
}

// POST /v1/mail/unsubscribe

export interface UnsubscribeInput {
  /** The token of the link in the mail. */
  token: string;
  /** on: the person gets mails again. Default off. */
  mail?: "off" | "on" | undefined;
}

export interface UnsubscribeData {
  /** off, or on. */
  mail: string;
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
   * List the public keys that receipts are checked with.
   *
   * Sent again until an answer comes.
   *
   * `GET /.well-known/jwks.json`
   */
  getReceiptKeys(options?: CallOptions): Promise<GetReceiptKeysData>;

  /**
   * Verify one address.
   *
   * Price: 1 credit; 0.5 credit when the same address was verified within 24 hours, and 0.5 when `control` is proven; nothing for an `unknown` that our side causes: our limits, rules, IP address, exit or port (`host_daily_limit`, `probe_policy`, `address_literal`, `no_smtp_egress`).
   * Sent with an Idempotency-Key, so it is sent again until an answer comes, and paid for once.
   *
   * `POST /v1/verify`
   */
  verifyEmail(input: VerifyEmailInput, options?: PaidCallOptions): Promise<VerifyEmailData>;

  /**
   * Verify up to 10,000 addresses as a job.
   *
   * Price: 1 credit for each different address, when the job is accepted. An `unknown` that our side causes is refunded when the job ends; one that the recipient's side causes is not.
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
   * Price: 1 credit for each different address, when the job is accepted. Uploading costs nothing. An `unknown` where our limits or rules kept us from asking the mail server is refunded when the job ends.
   * Sent with an Idempotency-Key, so it is sent again until an answer comes, and paid for once.
   *
   * `POST /v1/verify/file`
   */
  processFile(input: ProcessFileInput, options?: PaidCallOptions): Promise<ProcessFileData>;

  /**
   * Verify the addresses of a CSV or TXT file as a job: request an upload URL, PUT the file, then process it.
   *
   * Sent again until an answer comes.
   *
   * `POST /v1/verify/file`
   */
  previewFile(input: PreviewFileInput, options?: CallOptions): Promise<PreviewFileData>;

  /**
   * Verify the address that a visitor types into a form.
   *
   * Price: 1 credit; 0.5 credit when `control` is proven; nothing when our fault or limits kept us from asking the mail server, and nothing for an address that names an IP address.
   * Sent with an Idempotency-Key, so it is sent again until an answer comes, and paid for once.
   *
   * `POST /v1/verify/form`
   */
  verifyForm(input: VerifyFormInput, options?: PaidCallOptions): Promise<VerifyFormData>;

  /**
   * List the jobs, newest first.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/jobs`
   */
  listJobs(input?: ListJobsInput, options?: CallOptions): Promise<ListJobsData>;

  /**
   * Get a job, the counts of its results, and a page of them.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/jobs/{id}`
   */
  getJob(input: GetJobInput, options?: CallOptions): Promise<GetJobData>;

  /**
   * Get the result of one row of a job, with its evidence.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/jobs/{id}/results/{row}`
   */
  getJobRow(input: GetJobRowInput, options?: CallOptions): Promise<GetJobRowData>;

  /**
   * Verify rows of a job that have a result again, as a job of their own, also while the job runs. Its results replace those rows as they arrive.
   *
   * Price: 1 credit for each row that is verified, when the request is accepted, with the refunds of a file. A row that `correct` gives an address of the list is not: it gets that row's result, with the sub-status `duplicate`. A row that is `unknown` again keeps its former result.
   * Sent with an Idempotency-Key, so it is sent again until an answer comes, and paid for once.
   *
   * `POST /v1/jobs/{id}/again`
   */
  verifyAgain(input: VerifyAgainInput, options?: PaidCallOptions): Promise<VerifyAgainData>;

  /**
   * Cancel a job. Addresses without a result are not verified, and their credits are refunded.
   *
   * Sent again until an answer comes.
   *
   * `POST /v1/jobs/{id}/cancel`
   */
  cancelJob(input: CancelJobInput, options?: CallOptions): Promise<CancelJobData>;

  /**
   * Delete a job that has ended: its list, its results and its exports. Its charge stays in the account's usage.
   *
   * Sent again until an answer comes.
   *
   * `DELETE /v1/jobs/{id}`
   */
  deleteJob(input: DeleteJobInput, options?: CallOptions): Promise<DeleteJobData>;

  /**
   * Export the results of a job as CSV or as a spreadsheet, with the list's own columns, or as JSON.
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
   * Price: 5 credits, whatever the result; nothing when our side kept us from the mail server; repeating the search within two minutes is free, and so is a name that cannot be searched with.
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
   * Create an address that receives one mail and reports how it arrived.
   *
   * Price: 2 credits, refunded when no mail arrives within the hour.
   * Sent with an Idempotency-Key, so it is sent again until an answer comes, and paid for once.
   *
   * `POST /v1/deliverability/tests`
   */
  createMailTest(options?: PaidCallOptions): Promise<CreateMailTestData>;

  /**
   * List the mail tests, newest first.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/deliverability/tests`
   */
  listMailTests(input?: ListMailTestsInput, options?: CallOptions): Promise<ListMailTestsData>;

  /**
   * Get a mail test, with the report about the mail that arrived.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/deliverability/tests/{id}`
   */
  getMailTest(input: GetMailTestInput, options?: CallOptions): Promise<GetMailTestData>;

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
   * Delete a monitor. A check that has started is finished and charged.
   *
   * Sent again until an answer comes.
   *
   * `DELETE /v1/deliverability/monitors/{id}`
   */
  deleteMonitor(input: DeleteMonitorInput, options?: CallOptions): Promise<DeleteMonitorData>;

  /**
   * Store a report that a receiver made about a domain: a DMARC aggregate report (XML) or a TLS report (JSON), in gzip or zip or uncompressed, or the mail that brought it (.eml).
   *
   * Sent again until an answer comes.
   *
   * `POST /v1/deliverability/reports`
   */
  uploadReport(input: UploadReportInput, options?: CallOptions): Promise<UploadReportData>;

  /**
   * List the domains with reports of receivers, by name, with their messages and how many are aligned. Reports in mail that did not pass DMARC do not count.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/deliverability/domains`
   */
  listDomains(input?: ListDomainsInput, options?: CallOptions): Promise<ListDomainsData>;

  /**
   * Get how far a domain is on its way to a strict DMARC policy: published, tested, reported, enforced; what to do next; and whether a stricter policy is safe.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/deliverability/domains/{domain}`
   */
  getDomainProgress(
    input: GetDomainProgressInput,
    options?: CallOptions,
  ): Promise<GetDomainProgressData>;

  /**
   * Get what receivers reported about a domain: who sends as it, how much is aligned, and what to do about each source.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/deliverability/domains/{domain}/reports`
   */
  getDomainReports(
    input: GetDomainReportsInput,
    options?: CallOptions,
  ): Promise<GetDomainReportsData>;

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
   * Send webhook.test, or a sample of any event, once, signed like any other, and return its delivery.
   *
   * Sent again only when it is certain that nothing was done.
   *
   * `POST /v1/webhooks/{id}/test`
   */
  testWebhook(input: TestWebhookInput, options?: CallOptions): Promise<TestWebhookData>;

  /**
   * Replace the signing secret. The new one is shown only in this response; the old one stops working immediately.
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
   * Resend all deliveries that failed since a time.
   *
   * Sent again until an answer comes.
   *
   * `POST /v1/webhooks/{id}/replay`
   */
  replayDeliveries(
    input: ReplayDeliveriesInput,
    options?: CallOptions,
  ): Promise<ReplayDeliveriesData>;

  /**
   * Read the account's events, and wait for the next ones. Webhooks still receive theirs.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/events`
   */
  listEvents(input?: ListEventsInput, options?: CallOptions): Promise<ListEventsData>;

  /**
   * Get the account: its plan, its credits, and the scopes of the key in use.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/account`
   */
  getAccount(options?: CallOptions): Promise<GetAccountData>;

  /**
   * Get the account's credits and verdicts by day (UTC) and by operation.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/account/usage`
   */
  getUsage(input?: GetUsageInput, options?: CallOptions): Promise<GetUsageData>;

  /**
   * List every movement of the account's credits, newest first.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/account/ledger`
   */
  listLedgerEntries(
    input?: ListLedgerEntriesInput,
    options?: CallOptions,
  ): Promise<ListLedgerEntriesData>;

  /**
   * List the account's own requests of the last 7 days, newest first, without successful reads.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/requests`
   */
  listRequests(input?: ListRequestsInput, options?: CallOptions): Promise<ListRequestsData>;

  /**
   * Erase what the account has stored of an email address.
   *
   * Sent again until an answer comes.
   *
   * `DELETE /v1/data`
   */
  eraseData(input: EraseDataInput, options?: CallOptions): Promise<EraseDataData>;

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
   * Revoke an API key. It stops working immediately.
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

  /**
   * Look up whether a domain is listed, why, and how it leaves the list.
   *
   * Sent again until an answer comes.
   *
   * `GET /v1/listings/{domain}`
   */
  getListing(input: GetListingInput, options?: CallOptions): Promise<GetListingData>;

  /**
   * Get the ways to sign in to the dashboard.
   *
   * Sent again until an answer comes.
   * For the dashboard's own pages: keys are refused.
   *
   * `GET /v1/sign-in`
   */
  getSignIn(options?: CallOptions): Promise<GetSignInData>;

  /**
   * Read an invitation by the token of its link, or accept it and begin a session.
   *
   * Sent again only when it is certain that nothing was done.
   * For the dashboard's own pages: keys are refused.
   *
   * `POST /v1/sign-in/link`
   */
  signInWithLink(input: SignInWithLinkInput, options?: CallOptions): Promise<SignInWithLinkData>;

  /**
   * Sign in with the identity provider: get its page, then send back its response.
   *
   * Sent again until an answer comes.
   * For the dashboard's own pages: keys are refused.
   *
   * `POST /v1/sign-in/oidc`
   */
  startOidcSignIn(
    input?: StartOidcSignInInput,
    options?: CallOptions,
  ): Promise<StartOidcSignInData>;

  /**
   * Sign in with the identity provider: get its page, then send back its response.
   *
   * Sent again only when it is certain that nothing was done.
   * For the dashboard's own pages: keys are refused.
   *
   * `POST /v1/sign-in/oidc`
   */
  finishOidcSignIn(
    input: FinishOidcSignInInput,
    options?: CallOptions,
  ): Promise<FinishOidcSignInData>;

  /**
   * Sign in by a passkey: get the options for the browser, then send its response.
   *
   * Sent again until an answer comes.
   * For the dashboard's own pages: keys are refused.
   *
   * `POST /v1/sign-in/passkey`
   */
  startPasskeySignIn(options?: CallOptions): Promise<StartPasskeySignInData>;

  /**
   * Sign in by a passkey: get the options for the browser, then send its response.
   *
   * Sent again only when it is certain that nothing was done.
   * For the dashboard's own pages: keys are refused.
   *
   * `POST /v1/sign-in/passkey`
   */
  finishPasskeySignIn(
    input: FinishPasskeySignInInput,
    options?: CallOptions,
  ): Promise<FinishPasskeySignInData>;

  /**
   * Add a passkey: get the options for the browser, then send its response.
   *
   * Sent again until an answer comes.
   * For the dashboard's own pages: keys are refused.
   *
   * `POST /v1/passkeys`
   */
  startPasskey(options?: CallOptions): Promise<StartPasskeyData>;

  /**
   * Add a passkey: get the options for the browser, then send its response.
   *
   * Sent again only when it is certain that nothing was done.
   * For the dashboard's own pages: keys are refused.
   *
   * `POST /v1/passkeys`
   */
  finishPasskey(input: FinishPasskeyInput, options?: CallOptions): Promise<FinishPasskeyData>;

  /**
   * Remove a passkey. The last way to sign in stays.
   *
   * Sent again until an answer comes.
   * For the dashboard's own pages: keys are refused.
   *
   * `DELETE /v1/passkeys/{id}`
   */
  removePasskey(input: RemovePasskeyInput, options?: CallOptions): Promise<RemovePasskeyData>;

  /**
   * Get the signed-in person: accounts, roles, and ways to sign in.
   *
   * Sent again until an answer comes.
   * For the dashboard's own pages: keys are refused.
   *
   * `GET /v1/person`
   */
  getPerson(options?: CallOptions): Promise<GetPersonData>;

  /**
   * Sign out: in this browser, or everywhere.
   *
   * Sent again until an answer comes.
   * For the dashboard's own pages: keys are refused.
   *
   * `DELETE /v1/session`
   */
  endSession(input?: EndSessionInput, options?: CallOptions): Promise<EndSessionData>;

  /**
   * List the account's members and open invitations.
   *
   * Sent again until an answer comes.
   * For the dashboard's own pages: keys are refused.
   *
   * `GET /v1/members`
   */
  listMembers(options?: CallOptions): Promise<ListMembersData>;

  /**
   * Set a member's role and limits. The member must sign in again.
   *
   * Sent again until an answer comes.
   * For the dashboard's own pages: keys are refused.
   *
   * `PUT /v1/members/{id}`
   */
  updateMember(input: UpdateMemberInput, options?: CallOptions): Promise<UpdateMemberData>;

  /**
   * Set the limits of the account: credits a month, and the area of people who are not owners.
   *
   * Sent again until an answer comes.
   * For the dashboard's own pages: keys are refused.
   *
   * `PUT /v1/account/limits`
   */
  setAccountLimits(
    input?: SetAccountLimitsInput,
    options?: CallOptions,
  ): Promise<SetAccountLimitsData>;

  /**
   * Remove a member, or leave the account. It takes effect immediately.
   *
   * Sent again until an answer comes.
   * For the dashboard's own pages: keys are refused.
   *
   * `DELETE /v1/members/{id}`
   */
  removeMember(input: RemoveMemberInput, options?: CallOptions): Promise<RemoveMemberData>;

  /**
   * Invite a person. The link works once, within 48 hours, and is shown only in this response.
   *
   * Sent again only when it is certain that nothing was done.
   * For the dashboard's own pages: keys are refused.
   *
   * `POST /v1/invitations`
   */
  createInvitation(
    input: CreateInvitationInput,
    options?: CallOptions,
  ): Promise<CreateInvitationData>;

  /**
   * Withdraw an invitation. Its link stops working immediately.
   *
   * Sent again until an answer comes.
   * For the dashboard's own pages: keys are refused.
   *
   * `DELETE /v1/invitations/{id}`
   */
  deleteInvitation(
    input: DeleteInvitationInput,
    options?: CallOptions,
  ): Promise<DeleteInvitationData>;

  /**
   * End this service's mails to a person, by the link in each of them. No body is read.
   *
   * Sent again until an answer comes.
   * For the dashboard's own pages: keys are refused.
   *
   * `POST /v1/mail/unsubscribe`
   */
  unsubscribe(input: UnsubscribeInput, options?: CallOptions): Promise<UnsubscribeData>;
}

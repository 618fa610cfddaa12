import {
  type Dialect,
  type Found,
  findWord,
  OUR_FAILURE,
  toWords,
  withoutRole,
} from "./dialect.ts";

// One table for each vendor: routes, parameters, words, fields and errors, as its published clients send and read them.
// docs/compat.md explains the words.

/** ZeroBounce distinguishes the causes of one status in `sub_status`. */
const ZEROBOUNCE_CAUSES: Readonly<Record<string, string>> = {
  timeout: "timeout_exceeded",
  greylisted: "greylisted",
  connect_failed: "failed_smtp_connection",
  network_error: "failed_smtp_connection",
  connection_lost: "forcible_disconnect",
  dns_inconclusive: "mail_server_did_not_respond",
  rate_limited: "antispam_system",
  ip_blocked: "antispam_system",
  ip_reputation: "antispam_system",
  policy_blocked: "antispam_system",
  [OUR_FAILURE]: "exception_occurred",
  domain_not_found: "no_dns_entries",
  no_mail_host: "no_dns_entries",
  null_mx: "does_not_accept_mail",
  domain_not_accepting: "does_not_accept_mail",
  domain_without_mailboxes: "does_not_accept_mail",
  mx_unroutable: "unroutable_ip_address",
  mailbox_full: "mailbox_quota_exceeded",
  typo_domain: "possible_trap",
  bounced: "global_suppression",
};

const toZeroBounceCause = ({ status, reason, syntaxValid, catchAll }: Found): string => {
  if (!syntaxValid) return "failed_syntax_check";
  if (status === "disposable") return "disposable";
  if (status === "role") return catchAll ? "role_based_catch_all" : "role_based";
  if (status === "invalid") return findWord(ZEROBOUNCE_CAUSES, reason, "mailbox_not_found");
  if (status === "unknown")
    return findWord(ZEROBOUNCE_CAUSES, reason, "mail_server_temporary_error");
  return status === "risky" ? findWord(ZEROBOUNCE_CAUSES, reason, "") : "";
};

/** ZeroBounce has no "risky": these three are dangerous to send to, and the others may be catch-all addresses. */
const isDangerous = ({ status, reason }: Found): boolean =>
  status === "risky" && ["mailbox_full", "typo_domain", "bounced"].includes(reason);

/** ZeroBounce's fields that this service does not know. */
const UNKNOWN_PERSON = Object.fromEntries(
  ["domain_age_days", "gender", "country", "region", "city", "zipcode"].map((one) => [one, null]),
);

const zerobounce: Dialect = {
  routes: {
    "GET /v2/validate": "verify",
    "POST /v2/validatebatch": "verifyMany",
    "GET /v2/getcredits": "credits",
  },
  key: "api_key",
  email: "email",
  timeoutUnitMs: 1_000,
  waitMs: 25_000,
  words: toWords("valid invalid catch-all unknown catch-all do_not_mail do_not_mail spamtrap"),
  toResult: (found) => ({
    address: found.address,
    status: isDangerous(found) ? "do_not_mail" : zerobounce.words[found.status],
    sub_status: toZeroBounceCause(found),
    free_email: found.free,
    did_you_mean: found.didYouMean,
    account: found.user,
    domain: found.domain,
    smtp_provider: found.provider,
    mx_found: String(found.mxFound),
    mx_record: found.mailHost,
    firstname: found.firstName,
    lastname: found.lastName,
    ...UNKNOWN_PERSON,
    processed_at: found.verifiedAt.replace("T", " ").replace("Z", ""),
  }),
  toCredits: (credits) => ({ Credits: String(credits) }),
  statuses: { no_key: 200, wrong_key: 200, no_credits: 200 },
  toError: (fault, error, action) => {
    if (action === "verifyMany")
      return { email_batch: [], errors: [{ error, email_address: "all" }] };
    const isKey = fault === "no_key" || fault === "wrong_key";
    return action === "credits" && isKey ? { Credits: "-1" } : { error };
  },
};

/** NeverBounce and MillionVerifier answer 200 to each request that they have read. */
const READ = { no_key: 200, wrong_key: 200, no_credits: 200, bad_request: 200, failed: 200 };

const NEVERBOUNCE_FAULTS: Readonly<Record<string, string>> = {
  no_key: "auth_failure",
  wrong_key: "auth_failure",
  too_many_requests: "throttle_triggered",
  failed: "temp_unavail",
};

const neverbounce: Dialect = {
  routes: {
    "GET /v4/single/check": "verify",
    "POST /v4/single/check": "verify",
    "GET /v4/account/info": "credits",
    "POST /v4/account/info": "credits",
  },
  key: "key",
  email: "email",
  timeoutUnitMs: 1_000,
  waitMs: 25_000,
  words: toWords("valid invalid catchall unknown catchall disposable unknown invalid"),
  toResult: (found, { ms }) => ({
    status: "success",
    result: neverbounce.words[withoutRole(found)],
    flags: toFlags(found),
    suggested_correction: found.didYouMean ?? "",
    execution_time: ms,
  }),
  toCredits: (credits) => ({
    status: "success",
    credits_info: {
      paid_credits_used: 0,
      free_credits_used: 0,
      paid_credits_remaining: credits,
      free_credits_remaining: 0,
    },
    job_counts: { completed: 0, under_review: 0, queued: 0, processing: 0 },
    execution_time: 0,
  }),
  statuses: { ...READ, too_many_requests: 200 },
  toError: (fault, message) => ({
    status: findWord(NEVERBOUNCE_FAULTS, fault, "general_failure"),
    message,
    execution_time: 0,
  }),
};

const toFlags = (found: Found): readonly string[] => {
  const flags: Readonly<Record<string, boolean>> = {
    has_dns: found.domainExists,
    has_dns_mx: found.mxFound,
    bad_syntax: !found.syntaxValid,
    free_email_host: found.free,
    role_account: found.role,
    disposable_email: found.disposable,
    spelling_mistake: found.didYouMean !== null,
    accepts_all: found.catchAll,
    smtp_connectable: found.mxFound && found.status !== "unknown",
    spamtrap_network: found.status === "spam_trap",
  };
  return Object.keys(flags).filter((name) => flags[name]);
};

/** Kickbox and Emailable use the same four results and the same reasons. */
const FOUR_WORDS = toWords("deliverable undeliverable risky unknown risky risky risky risky");

const NOT_FOUND_OUT: Readonly<Record<string, string>> = {
  timeout: "timeout",
  connect_failed: "no_connect",
  network_error: "no_connect",
  connection_lost: "no_connect",
  protocol_error: "invalid_smtp",
  [OUR_FAILURE]: "unexpected_error",
};

const toReason = ({ status, reason, syntaxValid, mxFound }: Found): string => {
  if (!syntaxValid) return "invalid_email";
  if (status === "valid") return "accepted_email";
  if (status === "invalid") return mxFound ? "rejected_email" : "invalid_domain";
  if (status === "unknown") return findWord(NOT_FOUND_OUT, reason, "unavailable_smtp");
  return status === "catch_all" || status === "risky" ? "low_deliverability" : "low_quality";
};

const kickbox: Dialect = {
  routes: { "GET /v2/verify": "verify", "GET /v2/balance": "credits" },
  key: "apikey",
  email: "email",
  timeoutUnitMs: 1,
  waitMs: 6_000,
  words: FOUR_WORDS,
  toResult: (found) => ({
    result: FOUR_WORDS[found.status],
    reason: toReason(found),
    role: found.role,
    free: found.free,
    disposable: found.disposable,
    accept_all: found.catchAll,
    did_you_mean: found.didYouMean,
    sendex: found.score / 100,
    email: found.address,
    user: found.user,
    domain: found.domain,
    success: true,
    message: null,
  }),
  toCredits: (balance) => ({ balance, success: true, message: null }),
  showsCredits: true,
  toHeaders: ({ credits, ms }) => ({
    "x-kickbox-response-time": String(ms),
    ...(credits !== undefined && { "x-kickbox-balance": String(credits) }),
  }),
  statuses: { no_key: 403, no_credits: 403 },
  toError: (_fault, message) => ({ success: false, message }),
};

/** The place of a result is its code, from 1. */
const MILLIONVERIFIER_RESULTS = ["ok", "catch_all", "unknown", "error", "disposable", "invalid"];
const QUALITIES = { ok: "good", catch_all: "risky", disposable: "bad", invalid: "bad" };

const millionverifier: Dialect = {
  routes: { "GET /api/v3": "verify", "GET /api/v3/credits": "credits" },
  key: "api",
  email: "email",
  timeoutUnitMs: 1_000,
  waitMs: 20_000,
  words: toWords("ok invalid catch_all unknown catch_all disposable unknown invalid"),
  toResult: (found, { credits, ms, isLive }) => {
    const result = millionverifier.words[withoutRole(found)];
    return {
      email: found.address,
      quality: findWord(QUALITIES, result, ""),
      result,
      resultcode: MILLIONVERIFIER_RESULTS.indexOf(result) + 1,
      subresult: found.reason,
      free: found.free,
      role: found.role,
      didyoumean: found.didYouMean ?? "",
      ...(credits !== undefined && { credits }),
      executiontime: Math.ceil(ms / 1_000),
      error: "",
      livemode: isLive,
    };
  },
  toCredits: (credits) => ({ credits }),
  showsCredits: true,
  statuses: READ,
  toError: (_fault, error, action) =>
    action === "credits" ? { error } : { result: "error", resultcode: 4, error },
};

const emailable: Dialect = {
  routes: {
    "GET /v1/verify": "verify",
    "POST /v1/verify": "verify",
    "GET /v1/account": "credits",
  },
  key: "api_key",
  email: "email",
  timeoutUnitMs: 1_000,
  waitMs: 5_000,
  words: FOUR_WORDS,
  toResult: (found, { ms }) => ({
    accept_all: found.catchAll,
    did_you_mean: found.didYouMean,
    disposable: found.disposable,
    domain: found.domain,
    duration: ms / 1_000,
    email: found.address,
    first_name: found.firstName,
    free: found.free,
    full_name: [found.firstName, found.lastName].filter(Boolean).join(" ") || null,
    gender: null,
    last_name: found.lastName,
    mailbox_full: found.mailboxFull,
    mx_record: found.mailHost,
    no_reply: /^no-?reply$/i.test(found.user),
    reason: toReason(found),
    role: found.role,
    score: found.score,
    smtp_provider: found.provider,
    state: FOUR_WORDS[found.status],
    tag: /\+(.*)$/.exec(found.user)?.[1] ?? null,
    user: found.user,
  }),
  toCredits: (credits) => ({ owner_email: "", available_credits: credits }),
  toError: (_fault, message) => ({ message }),
};

const reacher: Dialect = {
  routes: { "POST /v0/check_email": "verify", "POST /v1/check_email": "verify" },
  key: null,
  keyHeader: "x-reacher-secret",
  email: "to_email",
  waitMs: 25_000,
  words: toWords("safe invalid risky unknown risky risky risky risky"),
  toResult: (found) => ({
    input: found.address,
    is_reachable: reacher.words[found.status],
    misc: {
      is_disposable: found.disposable,
      is_role_account: found.role,
      gravatar_url: null,
      haveibeenpwned: null,
    },
    mx: {
      accepts_mail: found.mxFound,
      records: found.mailHost === null ? [] : [`${found.mailHost}.`],
    },
    smtp:
      found.status === "unknown"
        ? { error: { type: "SmtpError", message: found.reason } }
        : {
            can_connect_smtp: found.mxFound,
            has_full_inbox: found.mailboxFull,
            is_catch_all: found.catchAll,
            is_deliverable: found.mailboxExists || found.catchAll,
            is_disabled: found.reason === "mailbox_disabled",
          },
    syntax: {
      address: found.syntaxValid ? found.address : null,
      domain: found.domain,
      is_valid_syntax: found.syntaxValid,
      username: found.user,
      normalized_email: found.syntaxValid ? found.address : null,
      suggestion: found.didYouMean,
    },
  }),
  statuses: { wrong_key: 401, no_credits: 429 },
  toError: (_fault, error) => ({ error }),
};

export const DIALECTS: Readonly<Record<string, Dialect>> = {
  zerobounce,
  neverbounce,
  kickbox,
  millionverifier,
  emailable,
  reacher,
};

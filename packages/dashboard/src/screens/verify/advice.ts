type Advice = {
  readonly advice: "Send" | "Send with care" | "Do not send" | "Wait" | "Ask the operator";
  readonly tone: "good" | "warn" | "bad" | "grey";
  readonly means: string;
};

const ADVICE: Readonly<Record<string, Advice>> = {
  valid: { advice: "Send", tone: "good", means: "The mailbox exists." },
  invalid: { advice: "Do not send", tone: "bad", means: "Mail to this address will bounce." },
  risky: {
    advice: "Send with care",
    tone: "warn",
    means: "Mail may arrive, but there is a risk. Send only if a bounce does no harm.",
  },
  catch_all: {
    advice: "Send with care",
    tone: "warn",
    means: "The domain accepts every address, so it is not known whether this mailbox exists.",
  },
  role: {
    advice: "Send with care",
    tone: "warn",
    means:
      "The address belongs to a role, and several people may read it. Do not send newsletters.",
  },
  disposable: {
    advice: "Do not send",
    tone: "bad",
    means: "The address belongs to a service for throw-away addresses.",
  },
  spam_trap: {
    advice: "Do not send",
    tone: "bad",
    means: "The address exists to catch senders without consent. Check where it came from.",
  },
  unknown: {
    advice: "Wait",
    tone: "grey",
    means: "There is no result, which says nothing about the mailbox. Verify it again tomorrow.",
  },
};

const UNKNOWN_STATUS: Advice = {
  advice: "Send with care",
  tone: "warn",
  means: "This dashboard does not know the status. The API documentation explains it.",
};

/** Only the operator can repair a fault of our own reach: waiting would change nothing. */
const OUR_REACH: Readonly<Record<string, string>> = {
  no_smtp_egress: "This server cannot reach mail servers: port 25 is closed.",
  proxy_failed: "This server's way out to mail servers does not work.",
};

const toOperator = (means: string): Advice => ({
  advice: "Ask the operator",
  tone: "grey",
  means: `${means} Nothing was charged.`,
});

export const getAdvice = (status: string, reason: string): Advice => {
  const cause = status === "unknown" ? OUR_REACH[reason] : undefined;
  return cause === undefined ? (ADVICE[status] ?? UNKNOWN_STATUS) : toOperator(cause);
};

/** A sentence for each common reason. The screen shows the code next to it. */
const REASONS: Readonly<Record<string, string>> = {
  accepted: "The mail server accepts the address.",
  accepted_forward: "The mail server accepts the address and forwards its mail.",
  accept_then_bounce:
    "The mail server accepts every address at first, and may return the mail later.",
  address_literal: "The address names an IP address instead of a domain, and is not checked.",
  auth_or_tls_required: "The mail server requires us to sign in or encrypt first.",
  bounced: "Your own mail to this address bounced.",
  catch_all: "The mail server also accepts a random address of this domain.",
  catch_all_unverified: "The mail server accepts the address, and may accept any other.",
  connect_failed: "We could not connect to the mail server.",
  connection_lost: "The mail server closed the connection before it replied.",
  dns_inconclusive: "The name servers of the domain did not answer.",
  domain_not_accepting: "The mail server does not accept mail for this domain.",
  domain_not_found: "The domain does not exist.",
  greylisted: "The mail server asks every new sender to come back later.",
  host_daily_limit: "We have reached our own limit for this mail server today.",
  internal: "The service failed. This says nothing about the mailbox.",
  witness_refused:
    "The provider refused a mailbox that exists, so its refusals are about this service. It was not charged.",
  ip_blocked: "The mail server refuses our IP address, so it was not asked about the mailbox.",
  listed_disposable: "The domain is on the list of disposable domains.",
  listed_spam_trap: "The address is on a list of spam traps.",
  mailbox_disabled: "The mail server has disabled the mailbox.",
  mailbox_full: "The mailbox exists and is full.",
  mailbox_moved: "The mailbox has moved to another address.",
  mailbox_not_found: "The mail server has no such mailbox.",
  mx_unroutable: "The domain's mail host has no public IP address.",
  no_mail_host: "The domain has no mail host.",
  not_probed: "The mail server was not asked.",
  null_mx: "The domain declares that it accepts no mail.",
  policy_blocked: "The mail server's policy refuses us.",
  probe_policy: "The operator has excluded this mail provider.",
  provider_accepts_unknown: "The mail provider currently accepts unknown addresses.",
  rate_limited: "The mail server limits how often we may ask.",
  recipient_restricted: "The mailbox accepts mail only from certain senders.",
  role_account: "The name before the @ is a role, such as info or sales.",
  sender_blocklisted: "The mail server refuses us because of a blocklist.",
  server_error: "The mail server reports a failure on its side.",
  timeout: "The mail server did not reply in time.",
  typo_domain: "The domain looks like a misspelled domain of a mail provider.",
};

export const toReasonSentence = (reason: string): string | undefined =>
  REASONS[reason] ??
  (reason.startsWith("syntax.") ? "The text is not an email address." : undefined);

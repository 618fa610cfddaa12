import type { Role } from "@mailproof/core/people/roles";

const STATUSES: Readonly<Record<string, string>> = {
  catch_all: "catch-all",
  spam_trap: "spam trap",
};

const REASONS: Readonly<Record<string, string>> = {
  accepted: "the mailbox exists",
  address_literal: "an IP address is not asked",
  accepted_forward: "accepted and forwarded",
  accept_then_bounce: "accepted, may bounce later",
  auth_or_tls_required: "the server wants a sign-in",
  bounced: "your own mail bounced",
  catch_all: "accepts every address",
  catch_all_unverified: "may accept every address",
  connect_failed: "no connection to the server",
  connection_lost: "the connection was lost",
  dns_inconclusive: "DNS did not answer",
  domain_not_accepting: "not the domain's server",
  domain_not_found: "the domain does not exist",
  greylisted: "asked to come back later",
  host_daily_limit: "our limit of today is reached",
  internal: "the service failed",
  ip_blocked: "our address is blocked",
  witness_refused: "the provider refuses us",
  listed_disposable: "a throw-away address",
  listed_spam_trap: "a known spam trap",
  mailbox_disabled: "the mailbox is disabled",
  mailbox_full: "the mailbox is full",
  mailbox_moved: "the mailbox has moved",
  mailbox_not_found: "the mailbox does not exist",
  mx_unroutable: "the mail host is not public",
  no_mail_host: "the domain has no mail host",
  not_a_gmail_name: "no possible Gmail name",
  not_probed: "the server was not asked",
  null_mx: "the domain takes no mail",
  policy_blocked: "refused by policy",
  probe_policy: "excluded by the operator",
  provider_accepts_unknown: "accepts unknown addresses",
  rate_limited: "the server limits us",
  recipient_restricted: "takes mail of some senders",
  role_account: "a role, such as info@",
  sender_blocklisted: "refused by a blocklist",
  server_error: "the server failed",
  timeout: "no reply in time",
  typo_domain: "a misspelled domain",
};

export const toReasonWords = (reason: string): string => {
  if (reason.startsWith("syntax.")) return "not an email address";
  return REASONS[reason] ?? reason.replaceAll(/[_.]/g, " ");
};

export const toStatusWords = (status: string): string => STATUSES[status] ?? status;

export const toProviderWords = (provider: string): string =>
  provider.charAt(0).toUpperCase() + provider.slice(1).replaceAll("_", " ");

export const MEANINGS: Readonly<Record<Role, string>> = {
  owner: "everything, with API keys and people",
  admin: "everything but API keys, and invites people",
  member: "reads and writes, and spends credits",
  viewer: "reads only",
};

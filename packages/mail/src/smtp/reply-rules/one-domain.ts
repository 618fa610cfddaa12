import type { RuleFamily } from "../reply-rule.ts";

/**
 * Refusals that the recipient's own domain asked its mail provider for. They come with a 421, which ends the session, but the provider's
 * other domains are not refused. These rules precede the rules about our IP address.
 */
export const ABOUT_ONE_DOMAIN: readonly RuleFamily[] = [
  {
    reason: "recipient_restricted",
    verdict: "unknown",
    confidence: 0.9,
    scope: "domain",
    rules: [
      {
        // A Workspace domain that accepts mail only from its own gateway.
        id: "domain_allow_list",
        text: /\bnot (?:in|on) (?:the )?(?:white|allow|safe)-? ?list for (?:the )?(?:rcpt|recipient) domain\b/,
        example: "421 4.7.0 IP not in whitelist for RCPT domain, closing connection.",
      },
    ],
  },
  {
    reason: "auth_or_tls_required",
    verdict: "unknown",
    confidence: 0.9,
    scope: "domain",
    rules: [
      {
        id: "domain_requires_tls",
        text: /\btls required for (?:the )?(?:rcpt|recipient) domain\b/,
        example: "421 4.7.0 TLS required for RCPT domain, closing connection.",
      },
    ],
  },
  {
    reason: "mailbox_not_found_transient",
    verdict: "unknown",
    confidence: 0.8,
    retry: "later",
    scope: "domain",
    rules: [
      {
        // RFC 3463 §3.2: x.1.x is about an address; x.1.7 and x.1.8 are about the sender's address.
        id: "address_status_421",
        code: "421",
        enhanced: /^4\.1\.(?![78]$)\d+$/,
        unless:
          /_ip_|_blocklist_|\bsenders?\b|\btoo many\b|\b(?:block|spam|ban|abus)\w*|\breputation\b/,
        example:
          "421 4.1.1 <bob@example.com>: Recipient address rejected: Address verification in progress",
      },
    ],
  },
];

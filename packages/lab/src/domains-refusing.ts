import type { LabDomains } from "./domain.ts";
import {
  acceptAll,
  acceptExisting,
  acceptUpTo,
  alwaysReply,
  greylist,
  type Rule,
  tarpit,
} from "./host-behavior.ts";

const MINUTE_MS = 60_000;
const createHost = (rcpt: Rule) => ({ mx: { rcpt } });

export const refusingDomains: LabDomains = {
  greylist: {
    shows: "Greylists with 450 4.2.0; accepts the same sender after 5 minutes.",
    examples: [["ada.lovelace", "unknown", "greylisted"]],
    hosts: createHost(greylist("450 4.2.0 Greylisted, see you in five minutes", 5 * MINUTE_MS)),
  },
  greylist451: {
    shows: "Greylists with 451 without an enhanced code; accepts the same sender after 4 minutes.",
    examples: [["ada.lovelace", "unknown", "greylisted"]],
    hosts: createHost(greylist("451 Greylisting in action, please come back later", 4 * MINUTE_MS)),
  },
  blocked: {
    shows: "Refuses every recipient with 554 5.7.1: the client's address is on a list.",
    examples: [["ada.lovelace", "unknown", "ip_blocked"]],
    hosts: createHost(
      alwaysReply(
        "554 5.7.1 Service unavailable; Client host [127.0.0.1] blocked using bl.lab.invalid",
      ),
    ),
  },
  blockedbanner: {
    shows: "Sends the same refusal instead of a greeting, and hangs up.",
    examples: [["ada.lovelace", "unknown", "ip_blocked"]],
    hosts: {
      mx: { rcpt: acceptAll, greeting: "554 5.7.1 HOST Your IP is listed at bl.lab.invalid" },
    },
  },
  blocked511: {
    shows: "Reports a blocklisted client with 5.1.1, the code of an unknown mailbox.",
    examples: [["ada.lovelace", "unknown", "ip_blocked"]],
    hosts: createHost(alwaysReply("550 5.1.1 Mail refused: your IP is on our blocklist")),
  },
  refusesall: {
    shows:
      "Refuses every recipient as unknown, as a provider may that blocks us. With a witness there: `witness_refused`.",
    examples: [["ada.lovelace", "invalid", "mailbox_not_found"]],
    hosts: createHost(alwaysReply("550 5.1.1 User unknown")),
  },
  noptr: {
    shows: "Requires a PTR record for the client's address: 550 5.7.25.",
    examples: [["ada.lovelace", "unknown", "missing_ptr"]],
    hosts: createHost(alwaysReply("550 5.7.25 The sending IP address has no PTR record")),
  },
  policy: {
    shows: "Refuses every recipient by an unexplained policy: 550 5.7.1.",
    examples: [["ada.lovelace", "unknown", "policy_blocked"]],
    hosts: createHost(alwaysReply("550 5.7.1 Message refused by local policy")),
  },
  senderrefused: {
    shows: "Refuses every sender: 550 5.1.8 to MAIL.",
    examples: [["ada.lovelace", "unknown", "sender_rejected"]],
    hosts: { mx: { rcpt: acceptAll, mail: "550 5.1.8 Sender address rejected: not wanted here" } },
  },
  relaydenied: {
    shows: "Replies that it does not relay for the domain.",
    examples: [["ada.lovelace", "unknown", "relay_denied"]],
    hosts: createHost(alwaysReply("554 5.7.1 Relay access denied")),
  },
  ratelimited: {
    shows:
      "Ends the session with 421 4.7.0 at the third recipient, and accepts 4 concurrent sessions.",
    examples: [["ada.lovelace", "valid", "accepted"]],
    hosts: {
      mx: {
        rcpt: acceptUpTo(2, {
          reply: "421 4.7.0 Too many recipients too fast, come back later",
          hangUp: true,
        }),
        sessionsMax: 4,
      },
    },
  },
  throttled: {
    shows: "Refuses every session with 421 4.7.0 before it begins.",
    examples: [["ada.lovelace", "unknown", "rate_limited"]],
    hosts: {
      mx: { rcpt: acceptAll, greeting: "421 4.7.0 HOST Too many connections from your address" },
    },
  },
  toomany: {
    shows: "Accepts two recipients per connection, then replies 452 4.5.3.",
    examples: [["ada.lovelace", "valid", "accepted"]],
    hosts: createHost(acceptUpTo(2, "452 4.5.3 Too many recipients")),
  },
  tempfail: {
    shows: "Cannot route mail to its own people for now: 451 4.4.4.",
    examples: [["ada.lovelace", "unknown", "server_error"]],
    hosts: createHost(alwaysReply("451 4.4.4 Temporary server error, please try again later")),
  },
  localerror: {
    shows: "Is out of resources: 452 4.3.1.",
    examples: [["ada.lovelace", "unknown", "server_storage"]],
    hosts: createHost(alwaysReply("452 4.3.1 Insufficient system storage")),
  },
  banner5xx: {
    shows: "Greets with 554 and hangs up: it refuses the client, not the mailbox.",
    examples: [["ada.lovelace", "unknown", "server_refuses"]],
    hosts: { mx: { rcpt: acceptAll, greeting: "554 HOST No SMTP service for you" } },
  },
  banner521: {
    shows: "Greets with 521: this host never accepts mail (RFC 7504).",
    examples: [["ada.lovelace", "invalid", "domain_not_accepting"]],
    hosts: { mx: { rcpt: acceptAll, greeting: "521 5.3.2 HOST does not accept mail" } },
  },
  tls: {
    shows: "Offers STARTTLS and continues after it.",
    hosts: { mx: { rcpt: acceptExisting(), tls: "offered" } },
  },
  tlsonly: {
    shows: "Requires STARTTLS before MAIL: 530 5.7.0 without it.",
    hosts: { mx: { rcpt: acceptExisting(), tls: "required" } },
  },
  tlsrefused: {
    shows: "Offers STARTTLS, then replies 454 to it, but continues unencrypted.",
    hosts: { mx: { rcpt: acceptExisting(), tls: "refused" } },
  },
  tlsbroken: {
    shows: "Requires STARTTLS and breaks the handshake.",
    examples: [["ada.lovelace", "unknown", "auth_or_tls_required"]],
    hosts: { mx: { rcpt: acceptExisting(), tls: "broken" } },
  },
  submission: {
    shows: "Requires authentication: 530 5.7.0 to MAIL.",
    examples: [["ada.lovelace", "unknown", "auth_or_tls_required"]],
    hosts: { mx: { rcpt: acceptExisting(), mail: "530 5.7.0 Authentication required" } },
  },
  tarpit: {
    shows: "Replies more slowly to each recipient than to the one before.",
    examples: [["ada.lovelace", "valid", "accepted"]],
    hosts: createHost(tarpit(0.3)),
  },
};

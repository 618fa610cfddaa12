import type { RuleFamily } from "../reply-rule.ts";

const server = { verdict: "unknown", confidence: 0.8, anyStage: true } as const;

/** A server that forwards to another server and cannot reach it. The addresses in the text are not ours. */
export const NEXT_HOST: readonly RuleFamily[] = [
  {
    ...server,
    reason: "network_error",
    rules: {
      next_host_unreachable: {
        text: /\b(?:connect to|lost connection with|conversation with) _host_/,
        example:
          "450 4.1.1 <bob@example.com>: Recipient address rejected: unverified address: connect to mx.example.net[192.0.2.1]:25: Connection refused",
      },
    },
  },
];

export const SERVER_TROUBLE: readonly RuleFamily[] = [
  {
    ...server,
    reason: "network_error",
    rules: {
      loop: {
        text: /\b(?:too many|maximum|hop) (?:hops|count)\b|\bloop\w*\b|\bhop count\b|\btoo many received\b/,
        example: "554 5.4.6 Too many hops",
      },
      dns_trouble: {
        text: /\bdns (?:query|lookup|error|failure|server|timeout|problem)\b|\bname (?:service|server) error\b[^.;]{0,60}\btry again\b|\bservfail\b|\bno route to host\b|\bnetwork (?:error|unreachable|failure)\b|\bhost ?name for inbound|\bincorrect host ?name\b/,
        example: "550 5.4.312 DNS query failed",
      },
    },
  },
  {
    ...server,
    reason: "timeout",
    rules: {
      timed_out: {
        text: /\btime[- ]?(?:d )?[- ]?out\b|\btimed[- ]out\b|\b(?:message|delivery time|queue) expired\b|\bunable to deliver in\b|\bdelivery time\b|\bretry time\b/,
        example: "451 4.4.1 Connection to the next host timed out",
      },
    },
  },
];

/** Rules about pace and delay follow the full mailbox, whose "limit exceeded" and "too many messages" look alike. */
export const PACE: readonly RuleFamily[] = [
  {
    ...server,
    reason: "rate_limited",
    retry: "later",
    aboutUs: true,
    refusesUs: "for_now",
    rules: {
      rate_words: {
        text: /\btoo (?:many|fast|quickly|frequent\w*|much)\b|\brates?\b|\brate-?limit\w*|\bratelimit\w*|\bthrottl\w*|\bfrequen(?:cy|tly)\b|\bconcurren\w*|\bvolume\b|\bthresholds?\b|\bflood\w*|\btrop de\b|\bzu viele\b|\bdemasiad\w+\b|\bslow down\b|\bunusual\b/,
        example: "450 4.7.1 Error: too much mail from you, slow down",
      },
      limit_reached: {
        text: /\b(?:limits?|quota|max\w*)\b[^.;]{0,30}\b(?:exceed\w*|reached|hit)\b|\b(?:exceed\w*|reached|over|hit)\b[^.;]{0,40}\b(?:limits?|quota|max\w*)\b|\bmax\w* (?:\w+ ){1,3}per\b|\bdaily\b/,
        example: "421 4.7.0 Connection limit exceeded",
      },
    },
  },
  {
    ...server,
    reason: "greylisted",
    confidence: 0.95,
    retry: "later",
    rules: {
      greylist_words: {
        code: "4",
        text: /\bgreylst\b|\binternal resources? (?:are |is )?temporarily unavailable\b|\bdeferred\b[^.;]{0,30}\bfirst\b|\bplease (?:try|come) (?:again |back )?(?:later|in) \d+|\bretry in \d+|\btry again in \d+/,
        example:
          "451 Internal resources are temporarily unavailable - https://community.mimecast.com/docs/DOC-1369#451",
      },
    },
  },
  {
    ...server,
    reason: "server_error",
    confidence: 0.7,
    rules: {
      not_now: {
        text: /\btemporar\w*|\btry (?:it )?(?:again )?later\b|\bplease (?:try again|retry)\b|\bcome back later\b|\bmomentarily\b|\bveuillez essayer plus tard\b|\bservices? (?:is |are )?(?:currently |temporarily )?(?:unavailable|refused?|not available|denied)\b|\bvorubergehend\b|\bspater (?:noch|erneut)\b|\bmas tarde\b/,
        example: "450 4.2.1 Mailbox temporarily locked, try again later",
      },
      server_broken: {
        text: /\b(?:local|internal|system|server|configuration|database|ldap|lookup|software|processing|remote server|directory|backend) (?:\w+ ){0,2}(?:errors?|failure|failed|problems?|misconfigur\w*|incorrectly configured|unavailable|down)\b|\bmisconfigur\w*|\berror in processing\b|\bunable to proc\w+|\bjournal\w*|\bstore ?driver\b|\b(?:inbounds?|outbounds?)\b|\bout of service\b|\bmaintenance\b|\bshutting down\b/,
        unless: /\blocal (?:mailbox|user|recipient)\b/,
        example: "550 5.3.0 Internal server error",
      },
      list_expansion: {
        // Only with OpenSMTPD's own code 524 do these words mean an unknown mailbox.

        code: "55",
        enhanced: /^5\.2\.4$/,
        example: "550 5.2.4 Mailing list expansion problem",
      },
    },
  },
  {
    ...server,
    reason: "protocol_error",
    confidence: 0.9,
    rules: {
      bad_command: {
        text: /\b(?:syntax|protocol) (?:error|violation)|\bsequence of commands\b|\bbad sequence\b|\bcommands? (?:\w+ )?(?:not|unrecogni[sz]ed|unknown|unimplemented|disabled|rejected|out of)\b|\b(?:unknown|unrecogni[sz]ed|invalid|bad|unexpected|unimplemented) (?:\w+ )?commands?\b|\bneed (?:mail|rcpt)\b|\bpipelin\w*|\bparameters?\b|\binvalid (?:arguments?|characters?)\b|\bsmtputf8\b|\bverb\b/,
        unless: /\b(?:recipient|mailbox|user)\b[^.;]{0,20}\bsyntax\b/,
        example: "503 5.5.1 Bad sequence of commands",
      },
    },
  },
];

const relay = { reason: "relay_denied", verdict: "unknown", confidence: 0.8 } as const;

/** A server that refuses to relay does not host the domain, so its words about users or domains prove nothing. */
export const RELAY_REFUSED: readonly RuleFamily[] = [
  {
    ...relay,
    rules: {
      relay_refused: {
        text: /\brelay(?:ing)? (?:access |mail |attempt )?(?:is |was )?(?:not|denied|refused|rejected|prohibited|forbidden|disabled)\b|\b(?:refus\w+|den(?:y|ies|ied)|can not|unable to|(?:we|server|host) (?:do|does) not|not (?:allowed|permitted|authori[sz]ed)(?: to)?) relay(?:ing)?\b/,
        example: "550 5.1.2 Relay not allowed.",
      },
    },
  },
];

/** Other words for a refusal to relay. These rules precede the codes, because servers also send 5.1.1 and 5.1.2 with them. */
export const RELAY: readonly RuleFamily[] = [
  {
    ...relay,
    rules: {
      relay: {
        text: /\brelay\w*|\brcpthosts\b|\brouting not allowed\b|\bnot (?:a )?local domain\b|\bwe do not accept mail for\b|\btenantattribution\b|\bno such (?:local )?domain\b/,
        example: "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)",
      },
    },
  },
];

/** Refusals that prove nothing about the mailbox; they apply when no better rule matched. */
export const POLICY: readonly RuleFamily[] = [
  {
    reason: "recipient_restricted",
    verdict: "unknown",
    confidence: 0.8,
    rules: {
      restricted_recipient: {
        text: /\brecipient\w*\b[^.;]{0,40}\b(?:restrict\w*|only accepts?|not authori[sz]ed|not accept\w*|filtered)\b|\bnot authori[sz]ed\b|\brestricted\b|\bfor group\b|\ballowed[- ]senders?\b|\btarget address\b|\b(?:you are |you do |you )not (?:have )?(?:allowed|permi\w+)\b|\bmay not (?:exist|have|send)\b|\bpermission\w*\b|\brefuses? to accept\b/,
        example: "550 5.7.1 RESOLVER.RST.NotAuthorized; not authorized",
      },
      restricted_code: {
        enhanced: /^[45]\.7\.(?:12|124|13[3-6]|13)$/,
        example: "550 5.7.133 This group is closed",
      },
    },
  },
  {
    reason: "policy_blocked",
    verdict: "unknown",
    confidence: 0.7,
    rules: {
      policy_words: {
        text: /\bpolic(?:y|ies)\b|\baccess (?:is )?den(?:ied|ined)\b|\bprohibit\w*|\bviolat\w*|\bblocked\b|\bsecurity\b|\brefused?\b|\brejecte?d? (?:by|due|because|for|as|under)\b|\bnot (?:allowed|permitted|accepted|acceptable)\b|\bdenied\b|\brichtlinie\w*|\bgesperrt\b|\bpolitique\b|\bpoliticas?\b|\bcommunity standards\b/,
        example: "554 5.7.1 <bob@example.com>: Recipient address rejected: Access denied",
      },
      policy_code: {
        enhanced: /^[45]\.7\.\d+$/,
        example: "550 5.7.0 Go away",
      },
    },
  },
  {
    reason: "mailbox_not_found",
    verdict: "invalid",
    confidence: 0.7,
    rules: {
      bare_unavailable: {
        code: "55",
        enhanced: /^(?:none|5\.5\.0|5\.0\.0|5\.2\.0|5\.1\.0)$/,
        text: /\b(?:mailbox|user|recipient|account|address) (?:is |was )?(?:currently )?(?:un|not )available\b/,
        unless: /\bcurrently\b|\breject due to\b|\btemporar\w*/,
        example: "550 Requested action not taken: mailbox unavailable",
      },
      bare_rejected: {
        code: "55",
        enhanced: /^(?:none|5\.0\.0|5\.1\.0)$/,
        text: /^[^a-z]*(?:the |this )?(?:_addr_[^a-z]*)?(?:recipient|address|recipient address|e-?mail address|user)(?: was| is| has been)? (?:rejected|refused|not accepted)[^a-z]*(?:_addr_[^a-z]*)?$/,
        example: "550 #5.1.0 Address rejected.",
      },
    },
  },
];

/** Temporary codes without known words: they never prove anything about the mailbox. */
export const LEFT_OVER: readonly RuleFamily[] = [
  {
    reason: "mailbox_not_found_transient",
    verdict: "unknown",
    confidence: 0.6,
    retry: "later",
    rules: {
      unknown_for_now: {
        code: "45",
        text: /\b(?:user|recipient|mailbox|address)\b[^.;]{0,40}\b(?:unknown|not found|not exist|unverified|undeliverable)\b|\b(?:invalid|unknown|no such) (?:user|recipient|mailbox|address)\b/,
        example: "450 4.1.1 <bob@example.com>: Recipient address rejected: unverified address",
      },
    },
  },
  {
    reason: "greylisted",
    verdict: "unknown",
    confidence: 0.6,
    retry: "later",
    rules: {
      greylist_code: {
        // The codes of greylisting servers, when the text says nothing else.

        code: "45",
        enhanced: /^(?:4\.7\.1|4\.2\.0|4\.3\.2|none)$/,
        example: "450 4.2.0 <bob@example.com>: Recipient address rejected: back soon",
      },
    },
  },
];

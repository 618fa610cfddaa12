import type { RuleFamily } from "../reply-rule.ts";

const us = { verdict: "unknown", confidence: 0.9, anyStage: true, aboutUs: true } as const;

export const ABOUT_US: readonly RuleFamily[] = [
  {
    reason: "mailbox_rate_limited",
    verdict: "risky",
    confidence: 0.8,
    retry: "later",
    rules: {
      mailbox_receives_too_fast: {
        text: /\b(?:user|recipient|mailbox|account|group)\b[^.;]{0,60}\b(?:receiv\w+|getting) (?:\w+ )?(?:e-?mail|messages?)?[^.;]{0,12}\b(?:too (?:quickly|fast|many|much)|at a rate)\b/,
        example: "450 4.2.1 The user you are trying to contact is receiving mail too quickly.",
      },
      mailbox_receive_limit: {
        text: /\brecipients?(?:'s)? (?:has |have |had )?[^.;]{0,30}\b(?:receiv\w+ limit|receive rate|exceeded their (?:\w+ ){0,2}limit|thread limit)\b/,
        example: "451 4.3.2 STOREDRV.Deliver; recipient thread limit exceeded",
      },
      mailbox_receive_limit_code: {
        enhanced: /^[45]\.2\.12[12]$/,
        text: /\blimit\w*\b|\btoo (?:many|much)\b|\brate\b/,
        example: "550 5.2.121 Message limit of this mailbox was reached",
      },
    },
  },
  {
    ...us,
    reason: "directory_harvest",
    refusesUs: "always",
    retry: "later",
    backoff: true,
    rules: {
      taken_for_harvester: {
        text: /\bharvest\w*|\bdictionary attack\b|\bnamespace mining\b|\baddress(?:es)? (?:enumerat|guess|prob)\w+\b/,
        example: "550 5.1.1 Unknown user; address harvesting is not welcome",
      },
      too_many_unknown: {
        text: /\b(?:too many|excessive|maximum (?:number of )?|limit of )[^.;]{0,20}\b(?:invalid|unknown|bad|wrong|failed|rejected|incorrect|inexistent|non-?exist\w*|undeliverable)\b[^.;]{0,20}\b(?:recipients?|rcpts?|address\w*|users?|user ?ids?|mailbox\w*|accounts?|locals?)\b|\b(?:too many|excessive) (?:recipient|rcpt|address|user ?id|user)s? (?:\w+ )?(?:unknown|failures?|errors?|rejections?)\w*\b/,
        example: "550 Too many invalid recipients",
      },
      too_many_errors: {
        code: "4",
        text: /\btoo many (?:\w+ )?(?:errors|(?:bad|failed|invalid|rejected|unrecogni[sz]ed|unknown|wrong) commands)\b/,
        example: "421 4.7.0 mx.example.com Error: too many errors",
      },
    },
  },
  {
    ...us,
    reason: "rate_limited",
    refusesUs: "for_now",
    retry: "later",
    backoff: true,
    rules: {
      recipients_of_client: {
        // Postfix counts all sessions of a client in one minute, so another connection gets the same reply.

        text: /\btoo many recipients from _(?:ip|host)_/,
        example: "450 4.7.1 Error: too many recipients from 198.51.100.7",
      },
    },
  },
  {
    reason: "too_many_recipients",
    verdict: "unknown",
    confidence: 0.9,
    retry: "new_connection",
    aboutUs: true,
    rules: {
      too_many_recipients: {
        text: /\btoo many (?:valid |smtp )?(?:recipients|rcpts?|addresses)\b|\bmaximum (?:number of )?recipients\b|\brecipients? limit\b|\bnumber of recipients\b/,
        example: "452 4.5.3 Error: too many recipients",
      },
      too_many_recipients_code: {
        enhanced: /^[45]\.5\.3$/,
        example: "452 4.5.3 Please send the rest in another message",
      },
    },
  },
  {
    ...us,
    reason: "ip_reputation",
    refusesUs: "always",
    rules: {
      poor_reputation: {
        text: /\breputations?\b|\bsender ?score\b|\bsenderbase\b/,
        example: "554 5.7.1 Your access was rejected due to the poor reputation of the sending MTA",
      },
    },
  },
  {
    ...us,
    reason: "sender_blocklisted",
    refusesUs: "always",
    rules: {
      sender_on_blocklist: {
        text: /\bsender (?:address|domain) [^.;]{0,20}\bblocked using\b|\b(?:uribl|surbl)\b/,
        example: "554 5.7.1 Sender address [probe@example.org] blocked using dbl.example.net",
      },
    },
  },
  {
    ...us,
    reason: "ip_blocked",
    refusesUs: "always",
    rules: {
      named_blocklist: {
        text: /spamhaus|spamcop|\bsorbs\b|abusix|abuseat|cloudmark|invaluement|uceprotect|backscatterer|barracuda|hostkarma|junkemailfilter|mailspike|\brbls?\b|dnsbls?\b|dnsrbl|\bxbl\b|\bsbl\b|\bcsi\b|_blocklist_/,
        example:
          "554 5.7.1 Service unavailable; Client host [198.51.100.7] blocked using zen.spamhaus.org",
      },
      blocklist_words: {
        text: /\bblack-? ?list\w*|\bblock-? ?list\w*|\bdeny-? ?list\w*|\bblacklisted\b|\b(?:not (?:in|on) (?:\w+ ){0,2}(?:white|allow|safe)-? ?list)\w*|\bgrey ?hole\b|\bliste noire\b|\blista nera\b|\blista negra\b|\blistes? noires?\b|\bschwarze liste\b|chernyj? spis|черн\w* спис/,
        example: "550 Your server is blacklisted here",
      },
      listed_by: {
        text: /\b(?:is|are|was|been|currently|currently in|found) (?:\w+ )?listed\b|\blisted (?:at|in|by|on) (?:the )?_(?:host|url)_|(?<!\bnot )\b(?:found|listed) (?:in|on|at) (?:one or more |a |the |our )?(?:dns\w*|spam\w*|bl\b|list)/,
        unless:
          /\b(?:user|recipient|mailbox|account)\b[^.;]{0,60}\b(?:not|no longer|never) listed\b/,
        example: "550 Rejected: 198.51.100.7 is listed at bl.example.org",
      },
      blocked_using: {
        text: /\b(?:blocked|rejected|denied|refused|listed) (?:using|by) _(?:host|url)_|\bcurrently sending spam\b|\bspammers?\b|\bspam (?:source|trap|incident|domain|host|network)s?\b|\bpour incident de spam\b|\bbot ?net\b/,
        example: "550 Mail refused by bl.example.net, see there",
      },
    },
  },
  {
    ...us,
    reason: "sender_auth_failed",
    refusesUs: "always",
    rules: {
      spf_dkim_dmarc: {
        text: /\b(?:spf|dkim|dmarc|arc|bimi|sender ?-?id|domainkeys?|sender policy framework|spoof\w*|forged|forgery|anti-?spoofing)\b/,
        example: "550 5.7.26 Mail from example.com is refused by its DMARC policy",
      },
      sender_auth_code: {
        enhanced: /^[45]\.7\.(?:2[0-4679]|30|3[1-2]|40|509|515)$/,
        example: "550 5.7.23 The message was rejected",
      },
    },
  },
  {
    ...us,
    reason: "missing_ptr",
    refusesUs: "always",
    rules: {
      reverse_dns: {
        text: /\breverse[- ](?:dns|host ?names?|lookup|address|record|name)\b|\br-?dns\b|\bfc-?rdns\b|\bptrs?\b|\b(?:can not|could not|unable to) (?:find|resolve|verify) (?:your|the client'?s?) (?:\w+ )?(?:host ?name|host|address|domain)\b|\bip name lookup\b|\bin-addr\b|\b(?:client|connecting) (?:host|ip|address)\b[^.;]{0,20}\bnot resolv/,
        example:
          "450 4.7.25 Client host rejected: cannot find your reverse hostname, [198.51.100.7]",
      },
      reverse_dns_code: {
        enhanced: /^[45]\.7\.25$/,
        example: "550 5.7.25 Fix the name of your server",
      },
    },
  },
];

/** Words that name our address. These rules follow the rules that say for how long the refusal lasts. */
export const OUR_ADDRESS: readonly RuleFamily[] = [
  {
    ...us,
    reason: "ip_blocked",
    refusesUs: "always",
    rules: {
      client_host: {
        text: /\bclient (?:host|address|ip|network|server)\b|\bclient _(?:ip|host)_|\bclient (?:is |was )?(?:blocked|rejected|denied|banned|refused)\b|\bsending (?:host|mta|server|mail ?server|system|network)\b|\b(?:connecting|source|originating) (?:host|mta|server|ip|address)\b|\bremote ip\b|\bhost network\b|\bnetwork\b[^.;]{0,20}\b(?:block|reject|ban|not allowed)/,
        example: "554 5.7.1 <mail.example.org[198.51.100.7]>: Client host rejected: Access denied",
      },
      your_server: {
        text: /(?<!\b(?:contact|ask|notify|inform|check|by|with|in|via|consult) )\byour (?:\w+ )?(?:ips?|host|server|mail ?server|smtp|mta|network|isp|access|connection|country|range|host ?name)\b/,
        example: "550 5.7.1 Your mail server is not welcome, contact postmaster",
      },
      any_ip_address: {
        text: /(?<![.-])\bip(?:v[46])?s?\b(?![.-])|_ip_[ >\])]{0,3}_is_blocked|_ip_[^.;]{0,40}\b(?:block\w*|list\w*|reject\w*|denied|refused|banned|not allowed|disallowed)|\b(?:from|mail from|connection from|address|host|bad) _ip_|\badresse ip\b|\bbad ip\b/,
        unless: /\bfrequency limited\b/,
        example: "554 5.7.1 Mail from this IP range is not taken",
      },
      connection_refused_us: {
        text: /\bconnections?\b[^.;]{0,25}\b(?:refused|rejected|denied|dropped|not (?:be )?accepted|blocked|not allowed|disallowed|prohibited)\b|\b(?:not accepting|no more|not accept|reject\w*|den\w+|refus\w+) (?:your |any |new )?connections?\b|\bcurrently not accepting\b|\bdynamic(?:ally)? (?:ip|address|host|pool|assigned)|\bresidential\b|\bgeo-?ip\b|\bgeograph\w*|\bcountry\b|\b(?:direct-to-mx|dial-?up)\b/,
        unless: /\bmessage expired\b/,
        example: "554 Connections from a dynamic address are refused",
      },
      helo: {
        text: /\b(?:helo|ehlo)\b|\b(?:e|h)elo (?:command|name|argument)/,
        example: "504 5.5.2 <localhost>: Helo command rejected: need fully-qualified hostname",
      },
      banned: {
        text: /\bbanned\b|\b(?:spam ?assassin|greet pause|early talker|pre-?greet\w*)\b|\babus(?:e|ive)\b|\bunsolicited mail originating\b|\bbounce attacks?\b/,
        example: "550 5.7.606 Access denied, you are banned",
      },
      blocked_by_521: {
        // RFC 7504 defines 521 as a host that accepts no mail at all; AT&T uses 521 when it accepts no mail from us.

        code: "521",
        text: /\b(?:block\w*|bann?ed|denied)\b/,
        example: "521 5.7.1 Blocked, see our page of errors",
      },
      ip_blocked_code: {
        enhanced: /^[45]\.7\.(?:28|50[0-8]|51[0-9]|5[2-9]\d|6\d\d|7\d\d|8[5-9]\d|10[67]|51|52)$/,
        example: "550 5.7.708 Traffic not accepted",
      },
      yahoo_listed: {
        text: /^\s*\[?(?:bl\d\d|s31[45]0)\b|\((?:s31[45]0|bl)\)|\[bl\d\d\]/,
        example: "553 5.7.1 [BL21] Mail is not accepted, see the page of errors",
      },
    },
  },
];

/** Replies about permission to send, our sender, and the message that the sender would have sent. */
export const ABOUT_OUR_SENDER: readonly RuleFamily[] = [
  {
    ...us,
    reason: "auth_or_tls_required",
    refusesUs: "before_rcpt",
    rules: {
      tls_required: {
        text: /\b(?:starttls|tls|ssl|encrypt\w*|ciphers?|certificates?|cert|dane|mta-sts|tlsa)\b/,
        example: "530 5.7.0 Must issue a STARTTLS command first",
      },
      auth_required: {
        text: /\b(?:un)?authenti\w*|\bauth(?:required)?\b|\bpasswords?\b|\bcredentials?\b|\blog(?:ged)?[- ]?in (?:first|required|before)|\bauthori[sz]ation (?:required|failed)|\bcheck for (?:new )?mail (?:first|before)|\bpop before smtp\b/,
        unless: /\bfor group\b/,
        example: "530 5.7.57 Client was not authenticated to send anonymous mail",
      },
    },
  },
  {
    ...us,
    reason: "sender_rejected",
    refusesUs: "before_rcpt",
    outweighsQuote: true,
    rules: {
      sender_code: {
        enhanced: /^[45]\.1\.[78]$/,
        example: "553 5.1.8 <probe@example.org>... Domain of example.org does not resolve",
      },
      sender_without_dns: {
        text: /\binvalid dns (?:mx|a|aaaa|records?)\b|\b(?:exist|found|resolve) for (?:the )?sender\b/,
        example:
          "550 Requested action not taken: mailbox unavailable, invalid DNS MX or A/AAAA resource record",
      },
      sender_refused: {
        text: /\b(?:sender|senders|sender's|mail ?from|return[- ]?path|reverse[- ]?path|envelope[- ]from|from address|from header|from domain|originator|originating (?:address|mailbox|domain|user)|sending (?:address|mailbox|domain|user)|outgoing (?:e-?mail|mail)|submitter)\b[^.;]{0,60}\b(?:reject\w*|den(?:y|ied|ies)|refus\w*|block\w*|invalid|illegal|bad|bann?ed|unknown|disabled|suspended|inactive|restrict\w*|not|no|un(?:available|deliverable|rout(?:e)?able)|failed|fails|missing|must|unresolv\w*|unverif\w*|disallowed|exceed\w*|required|null|empty|over)\b/,
        unless: /\b(?:sender|senders) not (?:authenticated|in (?:the )?(?:allowed|accepted))\b/,
        example: "550 5.1.0 <probe@example.org>: Sender address rejected: not welcome here",
      },
      refused_sender: {
        text: /\b(?:reject\w*|den(?:y|ied)|refus\w*|block\w*|invalid|illegal|bad|unknown|unverified|undeliverable|disabled|suspended|malformed|un(?:available|rout(?:e)?able)|null|empty|verify\w*|verif\w+ of|accept\w* (?:e-?mail |mail |messages )?from)\b[^.;]{0,25}\b(?:sender|senders|sender's|mail ?from|return[- ]?path|reverse[- ]?path|envelope[- ]from|originator|originating (?:address|mailbox|domain)|sending (?:address|domain)|submitter|from address|from header)\b|\bbad ?mail ?from\b|\bsender[- ](?:verif\w+|callout|callback|blocked)\b|\bcallback\b|^[^a-z]{0,10}from: |\bverification failed for\b/,
        example: "553 sorry, your envelope address is in my badmailfrom list (#5.7.1)",
      },
      your_address: {
        text: /(?<!\b(?:check|verify|correct|in|from) )\byour (?:e-?mail |mail |envelope |own |from )?(?:address|domain|account|mailbox|identity|organi[sz]ation|company|user)\b(?! book)|\b(?:domain of|domain for|mx (?:record )?for|mx of)\b[^.;]{0,20}\bsender\b|\bidentities failed\b/,
        example: "550 Your domain was not found in DNS",
      },
      who_may_send: {
        text: /\byou(?:'re| are) (?:not|sending (?:e-?mail |mail |this )?(?:from|as)|an? )\b|\b(?:for|allowed|valid user) (?:to send|sending)\b|\bsend (?:from|as)\b|\bsending from\b|\bsubmit from\b|\b(?:reply-to|(?:return|bounce|from|reply) address)\b|\bnon-?members?\b|\bmembers[- ]only\b|\b(?:users|members|subscribers) may\b|\b(?:may|can|allowed to) (?:send|post)\b|\bin mail\b/,
        example: "550 Only registered users may post to this list",
      },
      speaks_of_sender: {
        // The same words name an unknown sender and an unknown recipient.

        code: "5",
        text: /\b(?:senders?|sender's|return[- ]path|reverse[- ]path|originating|mail from)\b/,
        unless: /\b(?:notify|inform|contact|return\w* to|back to|reply to) (?:the |its )?sender/,
        example: "550 No person of that name is behind the sender",
      },
      sender_in_other_words: {
        text: /\babsender\w*|\bexpediteur\w*|\bemetteur\w*|\bremitente\w*|\bmittente\b|\bremetente\w*|\botpravitel\w*|отправител|\bafzender\b|\bavsandare\w*|\bnadawc\w*|送信者|发件人/,
        example: "550 5.1.0 Absenderadresse existiert nicht",
      },
    },
  },
  {
    ...us,
    reason: "content_rejected",
    refusesUs: "before_rcpt",
    rules: {
      spam: {
        text: /\b(?:spam\w*|anti-?spam|ube|uce|junk|phish\w*|virus\w*|malware|malicious|infected|bulk|dcc|spamassassin|unsolicited|suspicious|suspicion|suspected|bayes\w*|dt:spm|viagra)\b|\bpourriels?\b|спам/,
        example: "554 5.7.1 Message was scored as spam",
      },
      content: {
        text: /\bcontents?\b|\battach\w+\b|\bheaders?\b|\bquarantin\w*|\brfc ?-?[25]?[38]22\b|\b(?:mime|subject|charset|html|links?|urls? in|line too long|bare lf|8-?bit)\b|\bmessage[- ]?id\b(?! ?[:=])|\bduplicate\b|\b(?:mal|ill-?)formed (?:message|mail)|\bmessage (?:is )?(?:malformed|filtered|too old)\b/,
        example: "554 5.6.0 Message contents rejected",
      },
      message_size: {
        text: /\b(?:message|mail|e-?mail|letter|size|line|body)\b[^.;]{0,30}\b(?:too (?:big|large|long)|size limits?|maximum size|max size|size exceed\w*|length exceed\w*)\b|\b(?:exceed\w*|over|above|maximum|max)\b[^.;]{0,20}\b(?:message|mail|e-?mail|fixed maximum|maxmail)[- ]?(?:mail )?size\b|\bmaximum (?:e-?mail|message) size\b/,
        example: "552 5.3.4 Message size exceeds fixed limit; message too large",
      },
      content_code: {
        enhanced: /^[45]\.(?:6\.\d+|2\.3|3\.4)$/,
        example: "554 5.6.3 Not taken in this form",
      },
    },
  },
];

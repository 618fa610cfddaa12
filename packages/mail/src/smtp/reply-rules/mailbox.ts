import type { RuleFamily } from "../reply-rule.ts";

const WHO =
  "users?|recipients?(?: address)?|mailbox|mail box|mail-box|mailboxes|e-?mail(?: (?:address|account|box|id))?|mail (?:address|account)|address|account|addressee|adress|mail ?drop|mail id|login(?: name)?|alias|customer|person|inbox|local[- ]?part|destination|username|user ?name|user ?id|subscriber|receiver|rcpt|forward-path";

const NOT_THERE =
  "unknown(?! (?:error|reason|encoding|problem|type|policy|charset|failure|status|command|mailer))|never found|no longer exists?|does no exists?|not (?:be )?(?:found|located|identified|resolved|recogni[sz]ed|listed|known|exists?|existing|valid|registered|present|here|defined|ours)|not a (?:valid|known|local|registered)|invalid|(?:is|was) (?:incorrect|wrong|illegal)|non-?exist[ae]nt|non existent|non-? ?existing|(?:has )?never existed|not local|not on file|not an? (?:existing|active)|unrouteable|unroutable|misspelled|mistyped|unrecogni[sz]ed|undefined|unavailable here";

const DEAD =
  "disabled|inactive|inactivated|not active|not activated|deactivated|de-activated|suspended|discontinued|frozen|terminated|dormant|abandoned|decommissioned|no longer (?:active|valid|in use|in service|available|used|employed|with (?:us|the)|monitored|maintained|supported|works?|accept\\w*|receiv\\w*)|out of use|not in use|not in service";

/** These words may also describe a connection or a message, so a rule needs the mailbox as their subject. */
const GONE =
  "closed|deleted|removed|cancell?ed|expired|erased|retired|revoked|locked|barred|obsolete|archived|gone";

const near = (one: string, other: string): RegExp =>
  new RegExp(`\\b(?:${one})\\b[^.;!]{0,45}?\\b(?:${other})\\b`);

const before = (word: string): RegExp =>
  new RegExp(
    `\\b(?:${word}) (?:or \\w+ )?(?:local |destination |target |delivery |virtual |e-?mail |mail |smtp |recipient |recipient's |to |user )?(?:${WHO})\\b`,
  );

const invalid = { verdict: "invalid", confidence: 0.95 } as const;

/** A limit on senders is not a full mailbox, and none of these words names the recipient's account. */
export const NOT_THE_BOX =
  /\b(?:sending|senders?|sent|submission|outbound|outgoing|relay|rate|throttl\w*|hour|hourly|day|daily|minute|per|message-id|connections?|concurrent)\b/;

/** The rule for a full disk comes first, because a full disk proves nothing about the mailbox; a full mailbox exists. */
export const FULL_MAILBOX: readonly RuleFamily[] = [
  {
    reason: "server_storage",
    verdict: "unknown",
    confidence: 0.8,
    retry: "other_host",
    anyStage: true,
    rules: {
      system_storage: {
        text: /\binsufficient (?:system|server|disk|local|free)\b|\bno space left on device\b|\b(?:disk|spool|partition|queue)(?: file ?system)? (?:is )?full\b|\bout of (?:memory|disk)\b|\bsystem (?:storage|resources)\b/,
        example: "452 4.3.1 Insufficient system storage",
      },
    },
  },
  {
    reason: "mailbox_full",
    verdict: "risky",
    confidence: 0.9,
    retry: "later",
    rules: {
      over_quota: {
        text: /\b(?:over|exceed\w*|above|out of|beyond|reached|no)\b[^.;]{0,30}\bquota\b|\bquota\b[^.;]{0,30}\b(?:exceed\w*|full|reached|over\w*|violat\w*|limit\w*)\b|\bover-?quota\w*|\bquota_?exceeded\b|\bp=overquota\w*|\b(?:cuota|cota|kvota|kontingent|limite)\b[^.;]{0,30}\b(?:exced\w*|super\w*|uberschritten|ausgeschopft)\b/,
        unless: NOT_THE_BOX,
        example: "552 5.2.2 <bob@example.com>: user is over quota",
      },
      box_full: {
        text: /\b(?:mail ?box|mail-box|inbox|box|account|user|recipient\w*|recipient's|folder|maildir|mail ?drop|mail ?file)\b[^.;]{0,40}\b(?:full|overfull|too full)\b|\bfull (?:mail ?|in)?box\b|\bmailbox_?full\b|\b(?:mail ?box|in ?box)\b[^.;]{0,20}\bexceed\w*\b/,
        unless: NOT_THE_BOX,
        example: "552 5.2.0 Mailbox full",
      },
      storage_full: {
        text: /\bout of storage\b|\bexceed\w* (?:its |the |their )?storage\b|\b(?:storage|mail ?box|maildir|inbox|disk) (?:size |space |storage |allocation |capacity )?(?:limits?|space|capacity|allocation|quota)\b[^.;]{0,30}\b(?:exceed\w*|reached|full|over)\b|\b(?:exceed\w*|over|reached|above)\b[^.;]{0,40}\b(?:storage|mail ?box|maildir|inbox|disk|space)\b[^.;]{0,20}\b(?:size|limits?|space|capacity|allocation|allow\w*|quota)\b|\b(?:storage|disk) full\b|\binsufficient (?:storage|mail ?box|space|room)\b|\b(?:no|not enough|lack of) (?:more |free |enough |disk )?(?:room|space|storage)\b(?: left)?|\b(?:too many|max\w* number of) (?:messages|mails) (?:on|in|stored)\b|\bmail ?box size limit\b|\btoo much (?:mail|data) (?:on|in|stored)\b|\bmailfolder (?:is )?full\b|\bsize limit\b[^.;]{0,20}\bmailbox\b|\bmail ?box\b[^.;]{0,20}\bover (?:its |the )?limit\b|\bmail ?box\b[^.;]{0,20}\b(?:reached|exceed\w*) (?:its |the )?max\w* size\b|\bexceed\w* (?:its |the |their )?allot\w+ (?:space|storage)\b|\bnot have enough (?:\w+ )?(?:space|room|storage)\b/,
        unless: NOT_THE_BOX,
        example: "552 Requested mail action aborted: exceeded storage allocation",
      },
    },
  },
];

export const GONE_MAILBOX: readonly RuleFamily[] = [
  {
    ...invalid,
    reason: "mailbox_disabled",
    confidence: 0.9,
    rules: {
      disabled_mailbox: {
        code: "5",
        text: near(WHO, DEAD),
        unless:
          /\btemporar\w*|\b(?:relay\w*|forward\w*|auto-?reply|plus|feature|access|(?<!\b(?:in|of) )service|protocol|imap|pop3?)\b|\baccepts? \w+ from\b/,
        example: "550 5.2.1 <bob@example.com>: This mailbox is disabled",
      },
      closed_mailbox: {
        code: "5",
        text: new RegExp(
          `\\b(?:${WHO})(?: _addr_)?[ :,]{1,3}(?:(?:is|was|has|has been|have been|had been|been) (?:\\w+ )?)?(?:${GONE})\\b`,
        ),
        unless: /\btemporar\w*|\bby another\b/,
        example: "550 This account has been deleted",
      },
      disabled_recipient: {
        code: "5",
        text: before(
          "disabled|inactive|suspended|deactivated|expired|closed|deleted|cancell?ed|terminated|discontinued",
        ),
        example: "550 5.1.1 <bob@example.com>: inactive email address",
      },
      blocked_mailbox: {
        code: "5",
        text: /\b(?:recipient'?s? (?:account|mailbox)|mailbox|account) (?:has been |was |is )?(?:blocked|barred)\b|\bcompte\b[^.;]{0,30}\b(?:bloque|ferme|desactive|inactif|suspendu|resilie)\b|\bcompte inactif\b|\bp=disableduser\b/,
        unless: /\btemporar\w*|\baccess\b/,
        example: "550 The mailbox is blocked, the user has left",
      },
    },
  },
  {
    ...invalid,
    reason: "mailbox_moved",
    confidence: 0.85,
    rules: {
      moved: {
        code: "551",
        text: /\bnot (?:our|a|one of our) (?:local )?(?:user|customer|member|client)\b|\bnot local\b|\bplease try\b|\bhas moved\b|\bno longer\b/,
        example: "551 5.1.6 User not local; please try <bob@example.net>",
      },
      moved_words: {
        code: "5",
        text: /\b(?:user|recipient|mailbox|address|person|customer|employee)\b[^.;]{0,20}\b(?:has moved|moved to|has changed|(?:was|has been) changed to|has left)\b|\bnew address\b|\bno longer (?:works|employed|with|an? (?:customer|member|subscriber|employee))\b|\bhas left (?:the |our )?(?:company|organi[sz]ation|firm)\b/,
        example: "550 This person has left, write to _host_",
      },
    },
  },
  {
    ...invalid,
    reason: "domain_not_accepting",
    confidence: 0.9,
    rules: {
      domain_takes_no_mail: {
        code: "5",
        text: /\b(?:host|domain|server|site|system|_host_|here)\b[^.;]{0,20}\b(?:does not|do not|never|no longer|will not) accepts? (?:any |e-?|incoming )?mails?\b(?! from)|\bno mail accepted\b|\bdomain (?:is )?(?:not|no longer) accepting (?:e-?mail|mail)\b|\bnull mx\b|\bnullmx\b/,
        example: "556 5.1.10 Recipient address has null MX",
      },
    },
  },
  {
    // The server denies a domain that DNS has: mail for this domain has no destination.
    ...invalid,
    reason: "domain_not_accepting",
    confidence: 0.85,
    rules: {
      unknown_host: {
        code: "5",
        text: /\b(?:host|domain|recipient domain|recipient's domain|destination domain|mail domain|_host_) (?:is |was |does )?(?:unknown|not exist|not found|not reachable|unreachable|unrouteable|unroutable|non-?existent)\b|\b(?:unknown|unrouteable|unroutable|no such|non-?existent) (?:mail |recipient |destination |e-?mail )?(?:host|domain)\b|\binvalid (?:recipient|destination|target) domain\b|\bdomain (?:\w+ )?does not exist\b|\bbecause the domain\b|\bno (?:mx|mail) hosts? for\b|\bnon-?existent hosts\b|\brecipient address rejected: (?:domain|host) not found\b|\bnonexistentdomain\b|\bdns domain\b[^.;]{0,30}\bnot exist\b/,
        unless:
          /\b(?:from|helo|hosting|name server|client|in mail|resolv\w*|your|for _addr_|for _ip_)\b/,
        example: "550 5.1.2 <bob@example.invalid>... Host unknown",
      },
    },
  },
  {
    ...invalid,
    reason: "bad_address_syntax",
    confidence: 0.85,
    rules: {
      address_syntax: {
        code: "5",
        text: /\b(?:bad|invalid|malformed|illegal) (?:recipient |destination |e-?mail |mailbox )?(?:address|recipient|mailbox) (?:syntax|format)\b|\bmailbox name not allowed\b|\b(?:address|recipient|mailbox)\b[^.;]{0,20}\b(?:malformed|syntax(?: is)? (?:incorrect|invalid|wrong))\b|\b(?:malformed|reserved) (?:recipient |e-?mail )?address\b|\baddress reserved\b/,
        example: "553 Requested action not taken: mailbox name not allowed",
      },
    },
  },
  {
    ...invalid,
    reason: "mailbox_not_found",
    rules: {
      nobody_there: {
        code: "5",
        text: near(WHO, NOT_THERE),
        unless:
          /\bmay not\b|\bpermission\b|\b(?:allow|white|safe|access)-? ?list\b|\brelay\w* (?:not|denied|access|refused)\b/,
        example:
          "550 5.1.1 <bob@example.com>: Recipient address rejected: User unknown in local recipient table",
      },
      unknown_somebody: {
        code: "5",
        text: before(
          "unknown|invalid|no such|non-?exist[ae]nt|non-existing|bad|unrouteable|unroutable|illegal|undefined|unrecogni[sz]ed|inexistent|undeliverable|incorrect|wrong|not an? (?:valid|known|local|existing|active)|not (?:one of )?our|unregistered|no existing|non-? existing|not (?:an? )?(?:our|local)",
        ),
        unless: /\bmay not\b|\bpermission\b|\bnot (?:allowed|permitted|accepted)\b/,
        example: "550 5.7.1 No such user here",
      },
      no_mailbox_here: {
        code: "5",
        text: new RegExp(
          `\\b(?:there is |sorry,? )?\\b(?:no|not a|no valid) (?:${WHO}|one|body|name)\\b[^.;]{0,20}\\b(?:here|by that|with that|with this|at this|of that|called|named|in this|for)\\b|\\bno ?body (?:here|by|with)\\b|\\bthere is no (?:such )?(?:${WHO}|one|person)\\b|\\b(?:does|do) not have (?:an?|any|such an?) [^.;]{0,40}\\b(?:account|mailbox)\\b|\\bdo not have (?:an? |any |such an? )?(?:user|recipient|mailbox|account|address)\\b|\\bnot (?:an? )?(?:user|customer|client|subscriber) (?:of|on|at|in) (?:this|our|my)\\b|\\bnot belong to (?:any|an?) (?:\\w+ )?(?:user|account|mailbox)\\b|\\bnot handle (?:e-?)?mail for (?:that|this|the) (?:user|recipient|address|mailbox)\\b|\\b(?:user|recipient|account|person)s? (?:has|have) no (?:e-?)?mail\\b(?! (?:server|host|exchang))|\\bhas no (?:mailbox|account|mail ?drop)\\b|\\b(?:can not|could not|unable to|failed to) (?:find|locate|identify|resolve|recogni[sz]e) (?:\\w+ ){0,3}(?:${WHO})\\b`,
        ),
        unless: /\bmay not\b|\bpermission\b/,
        example: "550 Sorry, no mailbox here by that name. (#5.1.1)",
      },
      address_first: {
        code: "5",
        text: new RegExp(
          `^(?:delivery error: dd )?[^a-z_]{0,20}_addr_[^a-z_]{0,10}(?:is |was |does |could |did |has (?:been )?)?(?:${NOT_THERE}|${DEAD}|${GONE})\\b`,
        ),
        example: "550 bob@example.com is not known",
      },
      not_in_directory: {
        code: "5",
        text: /\bnot (?:listed |found |exist |present |contained )?in (?:the |our |my |this )?(?:\w+ ){0,3}(?:address book|directory|recipients? (?:list|table|database|map)|list of (?:\w+ ){0,2}(?:users|recipients)|mailbox table|alias table|validrcptto|userdb|passwd|user ?list|user database)\b|\b(?:err_)?(?:mailbox|user|recipient|account)_(?:not_found|unknown|not_exist)|\brecip(?:ient)?notfound\b|\bvalidrcptto\b|\bnosuchuser\b|\bunknownuser\b|\buser_unknown\b|\bno_such_user\b|\bvalid-address-filter\b|\bunknown local-? ?part\b|\brecipientunknown\b/,
        example: "550 sorry, this recipient is not in my validrcptto list (#5.7.1)",
      },
    },
  },
];

// The form of a rule that reads a reply. The rules themselves are in rules.ts.

export type MailboxVerdict = "valid" | "invalid" | "risky" | "unknown";
export type RetryHint = "later" | "new_connection" | "other_host";

/**
 * One wording. All conditions that are given must hold. `text` and `unless` are tried on the normalised text
 * (see classify.ts): lower case, no accents, and `_addr_`, `_host_`, `_ip_`, `_url_` where those stood.
 */
export type ReplyRule = {
  readonly id: string;
  /** The first digits of the code: "5" is any permanent reply, "524" only that one. */
  readonly code?: string;
  /** Tried on the enhanced code, or on "none" where the reply has none. */
  readonly enhanced?: RegExp;
  readonly text?: RegExp;
  readonly unless?: RegExp;
  /** Holds only for mail exchangers of this name. */
  readonly mx?: RegExp;
  /** Holds only for mail hosts of a provider that filters mail for the mail systems of others. */
  readonly atGateway?: true;
  /**
   * What a server says, whole; this rule and no earlier one must match it. A rule that reads only the code has
   * a code in use with words no rule knows.
   */
  readonly example: string;
  /** The mail exchanger that gave the example, where the rule asks for it. */
  readonly fromHost?: string;
};

/** Rules that come to the same finding. */
export type RuleFamily = {
  readonly reason: string;
  readonly verdict: MailboxVerdict;
  readonly confidence: number;
  /** Without it a 4xx is worth another try later and a 5xx is not. */
  readonly retry?: RetryHint;
  /** Also tried on replies to the greeting, EHLO, STARTTLS and MAIL, where no mailbox was named yet. */
  readonly anyStage?: true;
  /** The server speaks of us: our address, our sender, our pace. */
  readonly aboutUs?: true;
  /**
   * It refuses our address or our name for any recipient, and counts for the mail provider's circuit breaker: for good
   * with a 5xx, and for now, a throttle, with a 4xx. `before_rcpt`: only while no recipient is named, since one mailbox
   * may refuse unknown senders so, too. `for_now`: as a throttle only.
   */
  readonly refusesUs?: "always" | "before_rcpt" | "for_now";
  /** Ends the session and starts the mail provider's backoff, whatever the code and the recipient. */
  readonly backoff?: true;
  /** The refusal concerns only the recipient's domain: the mail provider's other domains are not refused. */
  readonly scope?: "domain";
  /** Also tried on the words before a quoted reply: "sender verify failed … response: 550 user unknown". */
  readonly outweighsQuote?: true;
  readonly rules: readonly ReplyRule[];
};

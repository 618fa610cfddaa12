// The form of a rule that reads a reply. rules.ts has the rules.

export type MailboxVerdict = "valid" | "invalid" | "risky" | "unknown";
export type RetryHint = "later" | "new_connection" | "other_host";

/**
 * One wording of a reply; all given conditions must hold. `text` and `unless` match the normalised text (see classify.ts): lower case, no
 * accents, and `_addr_`, `_host_`, `_ip_`, `_url_` in place of such names.
 */
export type ReplyRule = {
  /** The first digits of the code: "5" matches every permanent reply, "524" only that one. */
  readonly code?: string;
  /** The expression is matched against the enhanced code, or against "none" when the reply has no enhanced code. */
  readonly enhanced?: RegExp;
  readonly text?: RegExp;
  readonly unless?: RegExp;
  readonly mx?: RegExp;
  /** The rule applies only to mail hosts of a provider that filters mail for the mail systems of others. */
  readonly atGateway?: true;
  /**
   * A whole reply that this rule matches and no earlier rule does. The example of a rule that reads only the code combines a real code with
   * words that no rule knows.
   */
  readonly example: string;
  readonly fromHost?: string;
};

export type RuleFamily = {
  readonly reason: string;
  readonly verdict: MailboxVerdict;
  readonly confidence: number;
  readonly retry?: RetryHint;
  /** The rules also match replies to the greeting, EHLO, STARTTLS and MAIL, before a mailbox was named. */
  readonly anyStage?: true;
  readonly aboutUs?: true;
  /**
   * The server refuses our address or our name for every recipient, which counts for the mail provider's circuit breaker: a 5xx as a
   * permanent refusal, a 4xx as a throttle. `before_rcpt` limits this to replies before RCPT, since a single mailbox may refuse unknown
   * senders in the same words. `for_now` counts every reply as a throttle.
   */
  readonly refusesUs?: "always" | "before_rcpt" | "for_now";
  /** Ends the session and starts the mail provider's backoff, for every code and recipient. */
  readonly backoff?: true;
  readonly scope?: "domain";
  /** The rules also match the words before a quoted reply: "sender verify failed … response: 550 user unknown". */
  readonly outweighsQuote?: true;
  /** The rules by id, in the order in which they are tried. */
  readonly rules: Readonly<Record<string, ReplyRule>>;
};

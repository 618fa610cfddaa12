import type { Verification } from "./result.ts";
import type { DomainSignal, Signals } from "./signals.ts";

export const hasMailHost = (domain: DomainSignal): boolean =>
  domain === "mail_host" || domain === "implicit_mail_host";

/** Every other risky reply shows an existing mailbox. */
const WITHOUT_MAILBOX: ReadonlySet<string> = new Set([
  "domain_without_mailboxes",
  "mailbox_not_found_transient",
]);

/** Each check is true when it was proven, otherwise false: a failed look-up does not make a domain "missing". */
export const toChecks = (signals: Signals): Verification["verification"] => {
  const { domain, mailbox, catchAll, syntaxFault } = signals;
  const hasHost = hasMailHost(domain);
  const exists = hasHost || ["null_mx", "no_mail_host", "mx_unroutable"].includes(domain);
  const answered = mailbox !== null && mailbox.verdict !== "unknown";
  return {
    syntaxValid: syntaxFault === null,
    domainExists: exists,
    mxFound: hasHost,
    smtpCheck: answered,
    // An acceptance proves a mailbox only if the server would refuse a random recipient.
    mailboxExists:
      (mailbox?.verdict === "valid" && (catchAll === "no" || signals.rejectsUnknownRecipients)) ||
      (mailbox?.verdict === "risky" && !WITHOUT_MAILBOX.has(mailbox.reason) && catchAll !== "yes"),
    catchAll: catchAll === "yes",
  };
};

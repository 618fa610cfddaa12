import { getDomain } from "@mailproof/mail/address";
import { classify, type Finding } from "@mailproof/mail/smtp/classify";
import type { Reply } from "@mailproof/mail/smtp/reply";
import type { RecipientResult } from "@mailproof/mail/smtp/session";

/** The finding about one recipient. A network fault is never evidence about the mailbox. */
export const toFinding = (
  { recipient, reply, stage, fault }: RecipientResult,
  mxHost: string,
  sender: string,
): Finding => {
  if (reply && stage !== "connect")
    return namesSender(reply, recipient, sender)
      ? SENDER_REJECTED
      : classify(reply, { stage, mxHost });
  const { reason, retry } = FAULTS[fault ?? "closed"];
  return {
    verdict: "unknown",
    reason,
    rule: fault ?? "closed",
    confidence: 1,
    retry,
    aboutUs: true,
  };
};

const SENDER_REJECTED: Finding = {
  verdict: "unknown",
  reason: "sender_rejected",
  rule: "names_our_sender",
  confidence: 0.9,
  retry: null,
  aboutUs: true,
};

/**
 * A refusal that names our sender or its domain is about the sender: a server that calls back to check it replies "user
 * unknown" about us in the same words as about its own users.
 */
const namesSender = ({ code, text }: Reply, recipient: string, sender: string): boolean => {
  if (code < 400) return false;
  const words = text.toLowerCase().replaceAll(recipient.toLowerCase(), "");
  return words.includes(getDomain(sender).toLowerCase());
};

type Fault = NonNullable<RecipientResult["fault"]>;

const FAULTS: Readonly<Record<Fault, Pick<Finding, "reason" | "retry">>> = {
  no_address: { reason: "connect_failed", retry: "later" },
  connect_refused: { reason: "connect_failed", retry: "later" },
  connect_timeout: { reason: "connect_failed", retry: "later" },
  unreachable: { reason: "connect_failed", retry: "later" },
  proxy_failed: { reason: "proxy_failed", retry: "later" },
  timeout: { reason: "timeout", retry: "later" },
  deadline: { reason: "timeout", retry: "later" },
  closed: { reason: "connection_lost", retry: "later" },
  internal: { reason: "internal", retry: "later" },
  tls_failed: { reason: "connect_failed", retry: "later" },
  not_smtp: { reason: "protocol_error", retry: null },
  reply_too_long: { reason: "protocol_error", retry: null },
  smtputf8_unsupported: { reason: "smtputf8_unsupported", retry: null },
};

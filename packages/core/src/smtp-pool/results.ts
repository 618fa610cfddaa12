import { getDomain } from "@mailproof/mail/address";
import { getProbeMode, type ProbePolicy } from "@mailproof/mail/probe-policy";
import { classify, type Finding } from "@mailproof/mail/smtp/classify";
import type { SessionOutcome } from "@mailproof/mail/smtp/connect";
import type { Reply } from "@mailproof/mail/smtp/reply";
import type { RecipientResult } from "@mailproof/mail/smtp/session";
import { addMs } from "../lib/time.ts";
import type { EgressHealth } from "./exits.ts";
import type {
  CatchAll,
  PendingProbe,
  Probe,
  ProbeRequest,
  ProbeResult,
  SessionSummary,
} from "./probe.ts";
import type { ProviderRefusal } from "./refusal.ts";
import {
  NO_REFUSAL,
  type SlotKey,
  type SlotReturn,
  type SlotTurn,
  toWaitQueueName,
} from "./slots/slots.ts";

/** The finding about one recipient. A network fault is never evidence about the mailbox. */
export const toFinding = (
  { recipient, reply, stage, fault }: RecipientResult,
  mxHost: string,
  sender: string,
): Finding => {
  if (reply && stage !== "connect") {
    const finding = classify(reply, { stage, mxHost });
    return !finding.aboutUs && namesSender(reply, recipient, sender) ? SENDER_REJECTED : finding;
  }
  const { reason, retry } = FAULTS[fault ?? "closed"];
  return { ...NO_EVIDENCE, reason, rule: fault ?? "closed", retry };
};

const NO_EVIDENCE = { verdict: "unknown", confidence: 1, aboutUs: true } as const;

const SENDER_REJECTED: Finding = {
  ...NO_EVIDENCE,
  reason: "sender_rejected",
  rule: "names_our_sender",
  confidence: 0.9,
  retry: null,
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

// Results, with their reasons, for recipients about which the pool asked no mail server.

/** The reason when the mail host or the domain has reached its daily limit (`daily-limits.ts`). */
export const HOST_DAILY_LIMIT = "host_daily_limit";
/** The reason when the operator excludes the mail provider (`probe-policy.ts`). */
export const PROBE_POLICY = "probe_policy";

/** The reason while an address waits for a slot at its mail provider. No result states it, because such a wait is not an attempt. */
export const WAITING_FOR_PROVIDER = "waiting_for_provider";

/** The summary when no server was asked. */
export const NO_SESSION: SessionSummary = {
  ...NO_REFUSAL,
  answered: [],
  remaining: [],
  host: "",
  attempts: [],
  lostFlight: false,
};

type UnaskedProbe = Pick<ProbeRequest, "recipient" | "hosts"> &
  Partial<Pick<PendingProbe, "unknownRecipients">>;

/** The result after a bug of ours broke the session. */
export const createBrokenResult = ({
  recipient,
  unknownRecipients = [],
  hosts,
}: UnaskedProbe): ProbeResult => ({
  ...createUnansweredResult(recipient),
  unknownRecipients,
  host: hosts[0]?.host ?? "",
});

/** The result when no mail server was asked and no later attempt would ask one. */
export const createUnaskedResult = (
  one: UnaskedProbe,
  reason: typeof HOST_DAILY_LIMIT | typeof PROBE_POLICY,
): ProbeResult => ({
  ...createBrokenResult(one),
  finding: { ...NO_EVIDENCE, reason, rule: reason, retry: null },
});

/** Every probe calls this function, so no code path asks a mail server that the operator excludes. */
export const createProbeByPolicy =
  (probe: Probe, policy: ProbePolicy): Probe =>
  async (question) => {
    const mode = getProbeMode(policy, question.hosts);
    if (mode === "never") return createUnaskedResult(question, PROBE_POLICY);
    if (mode === "yes") return probe(question);
    const { isCanary: _, ...careful } = question;
    return probe({ ...careful, probeCatchAll: false });
  };

/**
 * No mail server was asked, because it refused the process before. A lasting refusal is final: no later attempt of this
 * verification would reach the server.
 */
export const createRefusedResult = (result: ProbeResult, isLasting: boolean): ProbeResult => ({
  ...result,
  isWithheld: true,
  ...(isLasting && { finding: { ...result.finding, retry: null } }),
});

/** The result after a failure of ours, before any mail server was asked. */
export const createUnansweredResult = (recipient: string): ProbeResult => ({
  recipient,
  unknownRecipients: [],
  finding: { ...NO_EVIDENCE, reason: "internal", rule: "internal", retry: "later" },
  reply: null,
  host: "",
  ip: "",
  encrypted: false,
  catchAll: "not_tested",
  transcript: [],
  randomRecipient: null,
});

type ResultPorts = {
  readonly smtp: { readonly from: string };
  readonly egress: EgressHealth;
};

/** The result of a recipient that the session did not reach; its reason states how the session ended. */
export const toProbeResult = (
  ports: ResultPorts,
  outcome: SessionOutcome,
  one: PendingProbe,
  catchAll: CatchAll = "not_tested",
): ProbeResult => {
  const recipientResult = toUnreachedResult(one, outcome);
  return createProbeResult(
    outcome,
    one,
    recipientResult,
    classifyResult(ports, outcome, recipientResult),
    catchAll,
  );
};

export const classifyResult = (
  { smtp, egress }: ResultPorts,
  outcome: SessionOutcome,
  recipientResult: RecipientResult,
): Finding => {
  const finding = toFinding(recipientResult, outcome.host, smtp.from);
  return finding.reason === "connect_failed" && egress.isClosed()
    ? { ...finding, reason: "no_smtp_egress" }
    : finding;
};

const toUnreachedResult = (
  { recipient }: PendingProbe,
  { result: { ending } }: SessionOutcome,
): RecipientResult => {
  const reply = ending?.reply ?? "deadline";
  const stage = ending?.stage ?? "rcpt";
  return typeof reply === "string"
    ? { recipient, stage, reply: null, fault: reply }
    : { recipient, stage, reply: reply, fault: null };
};

export const createProbeResult = (
  outcome: SessionOutcome,
  { unknownRecipients }: PendingProbe,
  recipientResult: RecipientResult,
  finding: Finding,
  catchAll: CatchAll,
  randomRecipient: string | null = null,
): ProbeResult => ({
  recipient: recipientResult.recipient,
  unknownRecipients,
  finding,
  reply: recipientResult.reply,
  host: outcome.host,
  ip: outcome.ip,
  encrypted: outcome.result.tls,
  // A refused recipient proves that the domain no longer accepts everybody.
  catchAll: catchAll === "yes" && finding.verdict === "invalid" ? "undecided" : catchAll,
  transcript: outcome.transcript,
  randomRecipient,
});

/** Recipients return after this time when no queue can estimate how long they must wait. */
const RETURN_MS = 60_000;

/** Returns recipients without a session to their caller, with their ticket and the time of the next attempt. */
export const createReturn = (
  { slotKey, turn }: { readonly slotKey: SlotKey; readonly turn: SlotTurn },
  now: Date,
  inMs = RETURN_MS,
): SlotReturn => ({
  at: addMs(now, inMs).toISOString(),
  ticket: turn.ticket ?? { queue: toWaitQueueName(slotKey), position: now.getTime(), draw: 0 },
});

/** The outcome for recipients that never got a slot: a time-out, and no evidence. */
export const createSlotTimeout = ({ host }: SlotKey): SessionOutcome =>
  createUnopened(
    { host, ip: "" },
    { stage: "connect", reply: "deadline" },
    "deadline (waiting for a slot)",
  );

/** The outcome for recipients whose provider refuses us: the reply is the server's. */
export const toSharedOutcome = ({ stage, reply, ...at }: ProviderRefusal): SessionOutcome =>
  createUnopened(at, { stage, reply }, `${reply.code} (reply in another session)`);

const createUnopened = (
  { host, ip }: Pick<SessionOutcome, "host" | "ip">,
  ending: NonNullable<SessionOutcome["result"]["ending"]>,
  text: string,
): SessionOutcome => ({
  host,
  ip,
  result: {
    recipients: [],
    unknownRecipients: [],
    remaining: [],
    catchAllProbes: [],
    closedBy: "deadline",
    ending,
    tls: false,
    extensions: [],
  },
  transcript: [{ ms: 0, who: "wire", text }],
  attempts: [],
});

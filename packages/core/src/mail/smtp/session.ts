import { getDomain } from "../address.ts";
import type { ProviderLimits } from "../mail-provider-table.ts";
import { asksForBackoff, concernsOneDomain, isDeferral, refusesUs } from "./classify.ts";
import type { Dialogue } from "./converse.ts";
import type { Reply, Stage } from "./reply.ts";
import { isFault, type ReplyOrFault, type WireFault } from "./wire.ts";

export type SessionPlan = {
  /** Our name, whose address is the one we come from. */
  readonly helo: string;
  /** A real mailbox of ours: a null sender would be taken for a backscatter callout. */
  readonly from: string;
  readonly mxHost: string;
  /** Domains as A-labels. */
  readonly recipients: readonly string[];
  /** The further guesses. Absent: none. */
  readonly fallbacks?: FallbackRecipients;
  /** By domain in lower case: a random recipient, where it is not known yet whether the domain is a catch-all. */
  readonly randomRecipients: ReadonlyMap<string, string>;
  readonly limits: ProviderLimits;
  /** Whether to QUIT after so many recipients, because another session needs the connection more. */
  readonly shouldEnd?: ((tried: number) => boolean) | undefined;
  /** False: stay in the clear even where STARTTLS is offered. */
  readonly tls: boolean;
};

/** For a person whose address is not known: more guesses, in the place of the recipient that was the first one. */
export type FallbackRecipients = {
  /** By the recipient's place in the plan. */
  readonly byRecipient: readonly (readonly string[])[];
  /** The server does not know the recipient: only then the next guess is tried. */
  readonly isUnknownRecipient: (result: RecipientResult, mxHost: string) => boolean;
};

/** The outcome for one recipient: either a reply, or the fault that explains why there is none. */
export type RecipientResult = {
  readonly recipient: string;
  readonly stage: Stage | "connect";
  readonly reply: Reply | null;
  readonly fault: WireFault | "smtputf8_unsupported" | null;
};

/**
 * `us`: everybody was asked. `limit`: as many as we ask of one connection. `full`: too many recipients for the
 * server, another connection takes the rest. `421`: the server wants to be left alone for a while. `backoff`: it says
 * the same in other words, such as those against harvesters. `domain`: a 421 about the last recipient's domain alone.
 * `refused`: it does not want to talk to us. `lost`: a fault of the wire. `deadline`: the caller's time was up.
 */
export type ClosedBy =
  | "us"
  | "limit"
  | "full"
  | "421"
  | "backoff"
  | "domain"
  | "refused"
  | "lost"
  | "deadline";

export type SessionResult = {
  /** Where there were guesses: the one that settled it, or the last. */
  readonly recipients: readonly RecipientResult[];
  /** Guesses that the server does not know, and after which another one was tried. */
  readonly unknownRecipients: readonly string[];
  /** Without an outcome: for another session, after the pause that `closedBy` requires. */
  readonly remaining: readonly string[];
  /** One per domain that was asked; null when the answer was lost. Only a 2xx or 5xx here settles anything. */
  readonly catchAllProbes: readonly { readonly domain: string; readonly reply: Reply | null }[];
  readonly closedBy: ClosedBy;
  /** What ended the session early: why the unasked are unasked. */
  readonly ending: {
    readonly stage: RecipientResult["stage"];
    readonly reply: ReplyOrFault;
  } | null;
  readonly tls: boolean;
  readonly extensions: readonly string[];
};

/**
 * One connection's dialogue: greeting, EHLO, STARTTLS where offered, MAIL, and RCPT for one after the other.
 * Never DATA, never VRFY, and no PIPELINING: a server that hangs up must leave no doubt which answer is whose.
 */
export function* createDialogue(plan: SessionPlan): Dialogue<SessionResult> {
  const opened = yield* openSession(plan);
  const state: SessionState = {
    ...opened,
    plan,
    results: [],
    unknownRecipients: [],
    catchAllProbes: [],
    transaction: null,
    recipients: 0,
    rejections: 0,
    refusalsOfUs: 0,
  };
  const stop = opened.stop ?? (yield* tryAll(state));
  if (stop && state.recipients === 0) failRemaining(state, stop);
  return {
    recipients: state.results,
    unknownRecipients: state.unknownRecipients,
    remaining: plan.recipients.slice(state.results.length),
    catchAllProbes: state.catchAllProbes,
    closedBy: stop?.closedBy ?? "us",
    ending: stop?.ending ?? null,
    tls: state.tls,
    extensions: state.extensions,
  };
}

type SessionStop = Pick<SessionResult, "closedBy" | "ending">;
type OpenedSession = Pick<SessionResult, "tls" | "extensions"> & {
  readonly stop: SessionStop | null;
};

/** How far a session has come. `asked` runs along the plan's recipients, without a gap. */
type SessionState = Pick<SessionResult, "tls" | "extensions"> & {
  readonly plan: SessionPlan;
  readonly results: RecipientResult[];
  readonly unknownRecipients: string[];
  readonly catchAllProbes: SessionResult["catchAllProbes"][number][];
  transaction: Transaction | null;
  /** Without the random ones. */
  recipients: number;
  rejections: number;
  /** In a row. */
  refusalsOfUs: number;
};

/** The one that is open. `domain` is that of its first recipient. */
type Transaction = { recipients: number; readonly utf8: boolean; readonly domain: string };

/** A server that refused us for so many recipients in a row would refuse us for the others, too. */
const REFUSALS_OF_US_MAX = 3;

function* openSession(plan: SessionPlan): Dialogue<OpenedSession> {
  const closeAt = (stage: Stage, reply: ReplyOrFault): OpenedSession => ({
    stop: createStop(stage, reply),
    tls: false,
    extensions: [],
  });
  const greeting = yield { command: null, wait: "greeting" };
  if (!isReply(greeting, 220)) return closeAt("greeting", greeting);

  const clear = yield* sayHello(plan.helo);
  if (!isReply(clear, 250)) return closeAt("ehlo", clear);
  const inClear = { stop: null, tls: false, extensions: parseExtensions(clear) };
  if (!plan.tls || !inClear.extensions.includes("STARTTLS")) return inClear;

  const upgrade = yield { command: "STARTTLS", wait: "starttls", tlsTo: plan.mxHost };
  if (isFault(upgrade) || upgrade.code === 421) return closeAt("starttls", upgrade);
  // It is offered but does not work today (RFC 3207 §4). Mail would go on in the clear, and so do we.
  if (upgrade.code !== 220) return inClear;

  // What was offered in the clear may have been forged, and is asked for again (RFC 3207 §4.2).
  const secured = yield* sayHello(plan.helo);
  if (isFault(secured)) return closeAt("starttls", secured);
  if (!isReply(secured, 250)) return closeAt("ehlo", secured);
  return { stop: null, tls: true, extensions: parseExtensions(secured) };
}

/** RFC 5321 §4.1.4: a server that does not know EHLO is asked with HELO. */
function* sayHello(helo: string): Dialogue<ReplyOrFault> {
  const reply = yield { command: `EHLO ${helo}`, wait: "ehlo" };
  if (!isReply(reply, 500) && !isReply(reply, 502)) return reply;
  return yield { command: `HELO ${helo}`, wait: "ehlo" };
}

const parseExtensions = ({ text }: Reply): readonly string[] =>
  text
    .split("\n")
    .slice(1)
    .map((line) => line.split(/[ =]/, 1)[0]?.toUpperCase() ?? "");

function* tryAll(state: SessionState): Dialogue<SessionStop | null> {
  for (const [index, recipient] of state.plan.recipients.entries()) {
    if (state.recipients > 0 && state.plan.shouldEnd?.(index)) return LIMIT;
    if (needsUtf8(recipient) && !state.extensions.includes("SMTPUTF8")) {
      state.results.push({ recipient, stage: "rcpt", reply: null, fault: "smtputf8_unsupported" });
      continue;
    }
    const stop = yield* tryRecipient(
      state,
      recipient,
      state.plan.fallbacks?.byRecipient[index] ?? [],
    );
    if (stop) return stop;
  }
  return null;
}

/** The guesses end with the first that the server knows, or about which its reply decides nothing. */
function* tryRecipient(
  state: SessionState,
  recipient: string,
  others: readonly string[],
): Dialogue<SessionStop | null> {
  if (isOverLimit(state)) return LIMIT;
  const stop =
    (yield* ensureTransaction(state, recipient)) ??
    (yield* sendRecipient(state, recipient)) ??
    (yield* probeCatchAll(state, recipient));
  const [next, ...more] = others;
  const result = state.results.at(-1);
  if (stop || next === undefined || !result || !isUnknownRecipient(state, result)) return stop;
  state.results.pop();
  state.unknownRecipients.push(recipient);
  return yield* tryRecipient(state, next, more);
}

const isUnknownRecipient = ({ plan }: SessionState, result: RecipientResult): boolean =>
  plan.fallbacks?.isUnknownRecipient(result, plan.mxHost) ?? false;

const LIMIT: SessionStop = { closedBy: "limit", ending: null };

/** Sees to it that a transaction is open and has room for one more recipient. */
function* ensureTransaction(state: SessionState, recipient: string): Dialogue<SessionStop | null> {
  const { transaction, plan } = state;
  const utf8 = needsUtf8(recipient);
  const domain = getDomain(recipient).toLowerCase();
  if (transaction && hasRoom(transaction, plan.limits, { utf8, domain })) return null;

  if (transaction) {
    const reset = yield { command: "RSET", wait: "rset" };
    if (!isReply(reset, 250)) return createStop("mail", reset);
  }
  // RFC 6531 §3.4: only where an address needs it, since some servers are stricter with such mail.
  const mail = yield {
    command: `MAIL FROM:<${plan.from}>${utf8 ? " SMTPUTF8" : ""}`,
    wait: "mail",
  };
  if (!isReply(mail, 250)) return createStop("mail", mail);
  state.transaction = { recipients: 0, utf8, domain };
  return null;
}

const hasRoom = (
  transaction: Transaction,
  { recipientsPerTransaction, oneDomainPerTransaction }: ProviderLimits,
  { utf8, domain }: Pick<Transaction, "utf8" | "domain">,
): boolean =>
  transaction.recipients < recipientsPerTransaction &&
  (transaction.utf8 || !utf8) &&
  (!oneDomainPerTransaction || transaction.domain === domain);

const isOverLimit = ({ recipients, rejections, plan: { limits } }: SessionState): boolean =>
  rejections >= limits.rejectionsPerConnection || recipients >= limits.recipientsPerConnection;

function* sendRecipient(state: SessionState, recipient: string): Dialogue<SessionStop | null> {
  const reply = yield* sendRcpt(state, recipient);
  if (reply === "deadline") return createStop("rcpt", reply);

  // The reply that ends a session counts for its first recipient, or no session would ever get on. A later one was
  // only in the way of it and is asked again, unless the reply is about its domain.
  const isFirst = state.recipients === 0;
  const stop = findStop(reply, state.plan.mxHost);
  state.recipients += 1;
  if (isFirst || !stop || stop.closedBy === "domain")
    state.results.push({ recipient, stage: "rcpt", ...toReplyOrFault(reply) });
  if (stop) return stop;
  if (isRejection(reply)) state.rejections += 1;
  state.refusalsOfUs = isRefusalOfUs(reply, state.plan.mxHost) ? state.refusalsOfUs + 1 : 0;
  return state.refusalsOfUs < REFUSALS_OF_US_MAX
    ? null
    : { closedBy: "refused", ending: { stage: "rcpt", reply } };
}

const isRefusalOfUs = (reply: ReplyOrFault, mxHost: string): boolean =>
  !isFault(reply) && refusesUs(reply, { stage: "rcpt", mxHost });

function* sendRcpt(state: SessionState, recipient: string): Dialogue<ReplyOrFault> {
  if (state.transaction) state.transaction.recipients += 1;
  return yield { command: `RCPT TO:<${recipient}>`, wait: "rcpt" };
}

/**
 * After the first address of a domain that was accepted or deferred: a server that bans for unknown recipients has
 * then answered. A server that greylists has to see the random recipient as early as the person, or it would still
 * defer it when it accepts the person.
 */
function* probeCatchAll(state: SessionState, recipient: string): Dialogue<SessionStop | null> {
  const domain = getDomain(recipient).toLowerCase();
  const randomRecipient = state.plan.randomRecipients.get(domain);
  const isProbed = state.catchAllProbes.some((probe) => probe.domain === domain);
  const recipientReply = state.results.at(-1)?.reply;
  if (!randomRecipient || isProbed || !recipientReply) return null;
  if (recipientReply.code >= 300 && !isDeferral(recipientReply, state.plan.mxHost)) return null;

  const stop = yield* ensureTransaction(state, randomRecipient);
  if (stop) return stop;
  const reply = yield* sendRcpt(state, randomRecipient);
  if (reply === "deadline") return createStop("rcpt", reply);
  state.catchAllProbes.push({ domain, reply: toReplyOrFault(reply).reply });
  if (isRejection(reply)) state.rejections += 1;
  return findStop(reply, state.plan.mxHost);
}

/** No recipient could be tried, and all that wait have the same outcome. Those beyond the time limit have none. */
const failRemaining = (
  { plan, results }: SessionState,
  { closedBy, ending }: SessionStop,
): void => {
  if (!ending || closedBy === "deadline") return;
  const { stage, reply } = ending;
  for (const recipient of plan.recipients.slice(results.length))
    results.push({ recipient, stage, ...toReplyOrFault(reply) });
};

const createStop = (stage: Stage, reply: ReplyOrFault): SessionStop => ({
  closedBy: toClosedBy(reply),
  ending: { stage, reply },
});

const toClosedBy = (reply: ReplyOrFault): ClosedBy => {
  if (isFault(reply)) return reply === "deadline" ? "deadline" : "lost";
  if (isTooMany(reply)) return "full";
  return reply.code === 421 ? "421" : "refused";
};

/** Most answers to RCPT are about the recipient, and the session goes on. */
const findStop = (reply: ReplyOrFault, mxHost: string): SessionStop | null => {
  if (isFault(reply)) return createStop("rcpt", reply);
  if (reply.code === 421 && concernsOneDomain(reply, { stage: "rcpt", mxHost }))
    return { closedBy: "domain", ending: { stage: "rcpt", reply } };
  if (reply.code === 421) return createStop("rcpt", reply);
  if (asksForBackoff(reply, { stage: "rcpt", mxHost }))
    return { closedBy: "backoff", ending: { stage: "rcpt", reply } };
  return isTooMany(reply) ? createStop("rcpt", reply) : null;
};

/** RFC 5321 §4.5.3.1.10: 452, or 552 from older servers. It is about this connection, not about the address. */
const isTooMany = ({ code, enhanced, text }: Reply): boolean =>
  enhanced === null
    ? (code === 452 || code === 552) && /too many (?:recipients|rcpts?)/i.test(text)
    : enhanced.endsWith(".5.3");

const isReply = (reply: ReplyOrFault, code: number): reply is Reply =>
  !isFault(reply) && reply.code === code;

const isRejection = (reply: ReplyOrFault): boolean => !isFault(reply) && reply.code >= 400;

const toReplyOrFault = (
  reply: ReplyOrFault,
): Pick<RecipientResult, "reply"> & { readonly fault: WireFault | null } =>
  isFault(reply) ? { reply: null, fault: reply } : { reply: reply, fault: null };

const needsUtf8 = (address: string): boolean => /\P{ASCII}/u.test(address);

import { getDomain } from "../address.ts";
import { findRefusalOfUs, isDeferral } from "./classify.ts";
import type { Dialogue } from "./converse.ts";
import { planFlight, type Step, toSteps } from "./flight-plan.ts";
import type { RecipientResult } from "./session.ts";
import {
  createTransaction,
  hasMore,
  isSupported,
  listFallbacks,
  needsProbe,
  type Question,
  type SessionState,
} from "./session-state.ts";
import {
  asksForNewTransaction,
  createStop,
  findStop,
  isMixed,
  isTooMany,
  LIMIT,
  type SessionStop,
} from "./session-stop.ts";
import { isFault, type ReplyOrFault } from "./wire.ts";

// Asks about the recipients in flights. A flight holds the commands that go out before the session waits for a reply: several recipients,
// also of several transactions, where the server announces PIPELINING (RFC 2920), else one.

export function* tryAll(state: SessionState): Dialogue<SessionStop | null> {
  for (;;) {
    skipUnsupported(state);
    const questions = planFlight(state);
    if (questions.length === 0) return hasMore(state) ? LIMIT : null;
    const stop = yield* sendFlight(state, questions);
    if (stop) return stop;
  }
}

/** Gives a result to each internationalised address whose server lacks SMTPUTF8, without sending it. */
const skipUnsupported = (state: SessionState): void => {
  for (;;) {
    const recipient = state.plan.recipients[state.results.length];
    if (recipient === undefined || isSupported(state, recipient)) return;
    state.results.push({ recipient, stage: "rcpt", reply: null, fault: "smtputf8_unsupported" });
  }
};

function* sendFlight(
  state: SessionState,
  questions: readonly Question[],
): Dialogue<SessionStop | null> {
  const steps = toSteps(state, questions);
  state.recipients += questions.filter(({ kind }) => kind === "recipient").length;
  const replies = yield* exchange(state, steps);
  const stop = readReplies(state, steps, replies);
  if (stop) dropUnproven(state, stop);
  return stop;
}

/** Sends the commands. Replies come in the order of the steps; a fault or a 421 ends them early. */
function* exchange(state: SessionState, steps: readonly Step[]): Dialogue<readonly ReplyOrFault[]> {
  if (state.pipelines) {
    const replies = yield steps.map(({ command }) => command);
    // The server left out one reply, which need not be the last.
    return replies.at(-1) === "timeout" ? ["timeout"] : replies;
  }
  const replies: ReplyOrFault[] = [];
  for (const { kind, command } of steps) {
    const [reply = "closed"] = yield [command];
    replies.push(reply);
    if (isFault(reply) || (kind !== "rcpt" && reply.code !== 250)) break;
  }
  return replies;
}

const readReplies = (
  state: SessionState,
  steps: readonly Step[],
  replies: readonly ReplyOrFault[],
): SessionStop | null => {
  let isAskedAgain = false;
  for (const [at, { kind, question }] of steps.entries()) {
    const reply = replies[at] ?? "closed";
    // A fault may come from pipelining itself, so a session without PIPELINING asks about the lost recipients again.
    if (state.pipelines && isFault(reply)) state.wasTried = true;
    if (kind !== "rcpt") {
      if (isFault(reply) || reply.code !== 250) return createStop("mail", reply);
      state.transaction = kind === "mail" ? createTransaction(question) : null;
      continue;
    }
    const isSplit = splitTransaction(state, question, reply);
    // Results must have no gap: when one recipient needs a new transaction, the recipients after it are asked again, too.
    if (question.kind === "recipient") isAskedAgain ||= isSplit;
    const isUnread = isSplit || (isAskedAgain && question.kind === "recipient");
    const stop = isUnread ? findStop(reply, state.plan.mxHost) : readReply(state, question, reply);
    if (stop) return stop;
    countReply(state, reply);
  }
  return null;
};

/** Opens a new transaction when the server had no room for the recipient in the current one. Returns false when it had room. */
const splitTransaction = (
  state: SessionState,
  question: Question,
  reply: ReplyOrFault,
): boolean => {
  const { transaction, limits, plan } = state;
  if (!transaction || transaction.recipients === 0 || !asksForNewTransaction(reply)) return false;
  if (findStop(reply, plan.mxHost)) return false;
  if (transaction.isFull) return true;
  if (isMixed(reply) && transaction.domain !== question.domain)
    limits.oneDomainPerTransaction = true;
  else limits.recipientsPerTransaction = transaction.recipients;
  transaction.isFull = true;
  return true;
};

const readReply = (
  state: SessionState,
  question: Question,
  reply: ReplyOrFault,
): SessionStop | null => {
  if (isFault(reply) && (state.pipelines || reply === "deadline")) return createStop("rcpt", reply);
  const full = isTooMany(reply) ? createStop("rcpt", reply) : null;
  const stop = findStop(reply, state.plan.mxHost) ?? full;
  if (question.kind === "random") {
    addProbe(state, question, reply);
    return stop;
  }
  addResult(state, question, reply, stop);
  return stop ?? findRefusal(state, reply);
};

/** A server that refused us for this number of recipients in a row would refuse us for the next ones, too. */
const REFUSALS_OF_US_MAX = 3;

const findRefusal = (state: SessionState, reply: ReplyOrFault): SessionStop | null => {
  const { mxHost } = state.plan;
  const isRefusal = !isFault(reply) && findRefusalOfUs(reply, { stage: "rcpt", mxHost }) !== null;
  state.refusalsOfUs = isRefusal ? state.refusalsOfUs + 1 : 0;
  return state.refusalsOfUs < REFUSALS_OF_US_MAX
    ? null
    : { closedBy: "refused", ending: { stage: "rcpt", reply } };
};

const addResult = (
  state: SessionState,
  { address: recipient, domain }: Question,
  reply: ReplyOrFault,
  stop: SessionStop | null,
): void => {
  // The reply that ends a session counts for the session's first recipient, or no session would progress. A later recipient is asked again,
  // unless the reply is about its domain.
  const isFirst = !state.wasTried;
  state.wasTried = true;
  if (stop && !isFirst && stop.closedBy !== "domain") return;

  const { plan, results } = state;
  const outcome = isFault(reply) ? { reply: null, fault: reply } : { reply, fault: null };
  const result: RecipientResult = { recipient, stage: "rcpt", ...outcome };
  const isLastGuess = state.guess === listFallbacks(plan, results.length).length;
  if (!stop && !isLastGuess && plan.fallbacks?.isUnknownRecipient(result, plan.mxHost)) {
    state.unknownRecipients.push(recipient);
    state.guess += 1;
    return;
  }
  results.push(result);
  state.guess = 0;
  if (!isProbable(result, plan.mxHost)) return;
  if (!isFault(reply) && reply.code >= 400) state.hasDeferred = true;
  if (needsProbe(state, domain)) state.pendingProbes.add(domain);
};

/**
 * True for a domain's first recipient that was accepted or deferred: a server that bans for unknown recipients has then replied to it. A
 * greylisting server must see the random recipient as early as the person, or it would still defer that one when it accepts the person.
 */
const isProbable = ({ reply }: RecipientResult, mxHost: string): boolean =>
  reply !== null && (reply.code < 300 || isDeferral(reply, mxHost));

const addProbe = (state: SessionState, { domain }: Question, reply: ReplyOrFault): void => {
  state.pendingProbes.delete(domain);
  state.catchAllProbes.push({ domain, reply: isFault(reply) ? null : reply });
};

const countReply = (state: SessionState, reply: ReplyOrFault): void => {
  if (state.transaction) state.transaction.recipients += 1;
  if (isFault(reply)) return;
  if (reply.code >= 400) state.rejections += 1;
  else state.window += 1;
};

/**
 * Removes results whose domain's random recipient got no reply, because an acceptance alone proves nothing; these recipients are asked
 * again. The first result stays, so that every session progresses; a lost flight is repeated without PIPELINING, which also progresses.
 */
const dropUnproven = (state: SessionState, { closedBy }: SessionStop): void => {
  const { results, pendingProbes, plan, pipelines } = state;
  const first = results.findIndex(
    (result) =>
      pendingProbes.has(getDomain(result.recipient).toLowerCase()) &&
      isProbable(result, plan.mxHost),
  );
  if (first === -1) return;
  results.length = Math.min(
    results.length,
    Math.max(first, pipelines && closedBy === "lost" ? 0 : 1),
  );
};

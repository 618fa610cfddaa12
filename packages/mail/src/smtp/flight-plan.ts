import { getDomain } from "../address.ts";
import type { SmtpCommand } from "./converse.ts";
import {
  createTransaction,
  hasMore,
  isSupported,
  listFallbacks,
  needsProbe,
  needsUtf8,
  type Question,
  type SessionState,
  type Transaction,
  type TransactionLimits,
} from "./session-state.ts";

/** Plans random recipients first, for domains that have accepted a recipient, then as many recipients as fit. */
export const planFlight = (state: SessionState): readonly Question[] => {
  const width = state.pipelines ? state.window : 1;
  const questions = [...state.pendingProbes]
    .slice(0, width)
    .map((domain) => toRandomQuestion(state, domain));
  if (questions.length < width && !shouldEnd(state)) addRecipients(state, questions, width);
  return questions;
};

const shouldEnd = (state: SessionState): boolean => {
  const { plan, results, recipients } = state;
  state.isEnding ||=
    recipients > 0 && hasMore(state) && (plan.shouldEnd?.(results.length) ?? false);
  return state.isEnding;
};

/**
 * Limits the flight to as many recipients as the server could all refuse without ending the connection. After one deferral the next
 * recipients will be deferred too, so the plan leaves room for their random recipients. A guess goes out alone, because the next guess
 * depends on its reply.
 */
const addRecipients = (state: SessionState, questions: Question[], width: number): void => {
  const { plan, results, recipients, rejections } = state;
  const { recipientsPerConnection, rejectionsPerConnection } = plan.limits;
  const bearable = rejectionsPerConnection - rejections;
  const most = Math.min(width - questions.length, recipientsPerConnection - recipients);
  const end = Math.min(results.length + most, plan.recipients.length);
  let refusable = questions.length;
  for (let at = results.length; at < end && bearable > 0; at++) {
    const question = toRecipientQuestion(state, at);
    const isGuess = listFallbacks(plan, at).length > 0;
    refusable += state.hasDeferred && needsProbe(state, question.domain, questions) ? 2 : 1;
    if (
      questions.length > 0 &&
      (refusable > bearable || isGuess || !isSupported(state, question.address))
    )
      return;
    questions.push(question);
    if (isGuess) return;
  }
};

const toRandomQuestion = ({ plan }: SessionState, domain: string): Question => ({
  kind: "random",
  address: plan.randomRecipients.get(domain) ?? "",
  domain,
});

const toRecipientQuestion = (state: SessionState, at: number): Question => {
  const { plan, results, guess } = state;
  const first = plan.recipients[at] ?? "";
  const isNext = at === results.length && guess > 0;
  const address = isNext ? (listFallbacks(plan, at)[guess - 1] ?? first) : first;
  return { kind: "recipient", address, domain: getDomain(address).toLowerCase() };
};

export type Step = {
  readonly kind: "rset" | "mail" | "rcpt";
  readonly question: Question;
  readonly command: SmtpCommand;
};

export const toSteps = (state: SessionState, questions: readonly Question[]): readonly Step[] => {
  const steps: Step[] = [];
  let transaction = state.transaction;
  for (const question of questions) {
    const add = (kind: Step["kind"], line: string): void => {
      steps.push({ kind, question, command: { line, wait: kind } });
    };
    if (!transaction || !hasRoom(transaction, state.limits, question)) {
      if (transaction) add("rset", "RSET");
      transaction = createTransaction(question);
      // RFC 6531 §3.4: only for an address that needs it, since some servers are stricter with such mail.
      add("mail", `MAIL FROM:<${state.plan.from}>${transaction.utf8 ? " SMTPUTF8" : ""}`);
    }
    transaction = { ...transaction, recipients: transaction.recipients + 1 };
    add("rcpt", `RCPT TO:<${question.address}>`);
  }
  return steps;
};

const hasRoom = (
  { recipients, isFull, utf8, domain }: Transaction,
  { recipientsPerTransaction, oneDomainPerTransaction }: TransactionLimits,
  question: Question,
): boolean =>
  !isFull &&
  recipients < recipientsPerTransaction &&
  (utf8 || !needsUtf8(question.address)) &&
  (!oneDomainPerTransaction || domain === question.domain);

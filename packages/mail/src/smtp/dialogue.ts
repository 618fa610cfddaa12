import type { Dialogue } from "./converse.ts";
import { tryAll } from "./flight.ts";
import type { Reply, Stage } from "./reply.ts";
import type { SessionPlan, SessionResult } from "./session.ts";
import { createSessionState, type SessionState } from "./session-state.ts";
import { createStop, isThrottled, LIMIT, type SessionStop } from "./session-stop.ts";
import { isFault, type ReplyOrFault } from "./wire.ts";

/**
 * Runs one connection: greeting, EHLO, STARTTLS where offered, then MAIL and RCPT for all recipients, several in one packet where the
 * server announces PIPELINING (RFC 2920). It never sends DATA or VRFY.
 */
export function* createDialogue(plan: SessionPlan): Dialogue<SessionResult> {
  const opened = yield* openSession(plan);
  const state = createSessionState(plan, opened);
  const stop = opened.stop ?? (yield* tryAll(state));
  const { tls, extensions } = opened;
  const isListening = stop === null || stop === LIMIT;
  const witness = isListening ? yield* askWitness(state) : undefined;
  if (!(yield* quit(state, stop))) return { ...createUntrusted(plan), tls, extensions };
  // A throttle before RCPT says nothing of the recipients: another session may be accepted for all of them.
  if (stop && !state.wasTried && !isThrottled(stop, plan.mxHost)) failRemaining(state, stop);
  return {
    recipients: state.results,
    unknownRecipients: state.unknownRecipients,
    remaining: plan.recipients.slice(state.results.length),
    catchAllProbes: state.catchAllProbes,
    witness,
    closedBy: stop?.closedBy ?? "us",
    ending: stop?.ending ?? null,
    tls,
    extensions,
  };
}

/** The witness gets a separate transaction, so that its reply does not depend on the recipients before it. */
function* askWitness({ plan, results, transaction }: SessionState): Dialogue<Reply | undefined> {
  const witness = plan.chooseWitness?.(results, plan.mxHost);
  if (witness === undefined) return undefined;
  if (transaction && !isReply(getOnly(yield [{ line: "RSET", wait: "rset" }]), 250))
    return undefined;
  const sender = getOnly(yield [{ line: `MAIL FROM:<${plan.from}>`, wait: "mail" }]);
  if (!isReply(sender, 250)) return undefined;
  const reply = getOnly(yield [{ line: `RCPT TO:<${witness}>`, wait: "rcpt" }]);
  return isFault(reply) ? undefined : reply;
}

/**
 * RFC 5321 §4.1.1.10 requires QUIT and a reply; a server that replied 421 or fell silent has already left. Returns false when the server
 * sent too many replies, because the session cannot match them with pipelined commands.
 */
function* quit({ pipelines }: SessionState, stop: SessionStop | null): Dialogue<boolean> {
  const last = stop?.ending?.reply;
  if (last !== undefined && (isFault(last) || last.code === 421))
    return !pipelines || last !== "not_smtp";
  const reply = getOnly(yield [{ line: "QUIT", wait: "quit" }]);
  if (!pipelines) return true;
  return isFault(reply) ? reply !== "not_smtp" : reply.code === 221 || reply.code === 421;
}

/** Discards every reply; a session without PIPELINING asks again. */
const createUntrusted = ({
  recipients,
}: SessionPlan): Omit<SessionResult, "tls" | "extensions"> => ({
  recipients: [],
  unknownRecipients: [],
  remaining: recipients,
  catchAllProbes: [],
  closedBy: "lost",
  ending: { stage: "rcpt", reply: "not_smtp" },
});

type OpenedSession = Pick<SessionResult, "tls" | "extensions"> & {
  readonly stop: SessionStop | null;
};

function* openSession(plan: SessionPlan): Dialogue<OpenedSession> {
  const closeAt = (stage: Stage, reply: ReplyOrFault): OpenedSession => ({
    stop: createStop(stage, reply),
    tls: false,
    extensions: [],
  });
  const greeting = getOnly(yield [{ line: null, wait: "greeting" }]);
  if (!isReply(greeting, 220)) return closeAt("greeting", greeting);

  const clear = yield* sayHello(plan.helo);
  if (!isReply(clear, 250)) return closeAt("ehlo", clear);
  const inClear = { stop: null, tls: false, extensions: parseExtensions(clear) };
  if (!plan.tls || !inClear.extensions.includes("STARTTLS")) return inClear;

  const upgrade = getOnly(yield [{ line: "STARTTLS", wait: "starttls", tlsTo: plan.mxHost }]);
  if (isFault(upgrade) || upgrade.code === 421) return closeAt("starttls", upgrade);
  // The server offers STARTTLS, but it does not work now (RFC 3207 §4). A mail client would continue in clear text, and so do we.
  if (upgrade.code !== 220) return inClear;

  // An attacker may have forged the extensions in clear text, so we ask again over TLS (RFC 3207 §4.2).
  const secured = yield* sayHello(plan.helo);
  if (isFault(secured)) return closeAt("starttls", secured);
  if (!isReply(secured, 250)) return closeAt("ehlo", secured);
  return { stop: null, tls: true, extensions: parseExtensions(secured) };
}

/** RFC 5321 §4.1.4: a server that does not know EHLO gets HELO. */
function* sayHello(helo: string): Dialogue<ReplyOrFault> {
  const reply = getOnly(yield [{ line: `EHLO ${helo}`, wait: "ehlo" }]);
  if (!isReply(reply, 500) && !isReply(reply, 502)) return reply;
  return getOnly(yield [{ line: `HELO ${helo}`, wait: "ehlo" }]);
}

const getOnly = ([reply = "closed"]: readonly ReplyOrFault[]): ReplyOrFault => reply;

const isReply = (reply: ReplyOrFault, code: number): reply is Reply =>
  !isFault(reply) && reply.code === code;

const parseExtensions = ({ text }: Reply): readonly string[] =>
  text
    .split("\n")
    .slice(1)
    .map((line) => line.split(/[ =]/, 1)[0]?.toUpperCase() ?? "");

/** Gives all remaining recipients the outcome of the failed session. Recipients beyond the time limit get none. */
const failRemaining = (
  { plan, results }: SessionState,
  { closedBy, ending }: SessionStop,
): void => {
  if (!ending || closedBy === "deadline") return;
  const { stage, reply } = ending;
  for (const recipient of plan.recipients.slice(results.length))
    results.push(
      isFault(reply)
        ? { recipient, stage, reply: null, fault: reply }
        : { recipient, stage, reply, fault: null },
    );
};

import { createReplyReader } from "@mailproof/core/mail/smtp/reply-reader";
import {
  createDialogue,
  type SessionPlan,
  type SessionResult,
} from "@mailproof/core/mail/smtp/session";
import type { ReplyOrFault, WireFault } from "@mailproof/core/mail/smtp/wire";

export const plan: SessionPlan = {
  helo: "probe.example",
  from: "probe@probe.example",
  mxHost: "mx.a.example",
  recipients: ["ann@a.example"],
  randomRecipients: new Map(),
  limits: {
    recipientsPerTransaction: 4,
    oneDomainPerTransaction: false,
    recipientsPerConnection: 6,
    rejectionsPerConnection: 4,
    connections: 1,
  },
  tls: true,
};

/** One reply, written as the server writes it; its lines are parted by a stroke. */
export const reply = (written: string): ReplyOrFault => {
  const [parsedReply] = createReplyReader()(
    Buffer.from(`${written.replaceAll(" | ", "\r\n")}\r\n`),
  );
  if (!parsedReply) throw new Error(`this is no whole reply: ${written}`);
  return parsedReply;
};

/**
 * Plays a session along a transcript: "C:" is what we must say, "S:" what the server answers, "!" a fault that
 * comes instead. Anything else that is said, or left unsaid, is an error.
 */
export const play = (overrides: Partial<SessionPlan>, transcript: string): SessionResult => {
  const dialogue = createDialogue({ ...plan, ...overrides });
  let step = dialogue.next();
  for (const line of transcript.trim().split(/\n\s*/)) {
    const [, who, words = ""] = /^(C:|S:|!) ?(.*)$/.exec(line) ?? [];
    if (step.done) throw new Error(`the session ended before: ${line}`);
    if (who === "C:") {
      if (step.value.command !== words) throw new Error(`said ${step.value.command}, not ${words}`);
      continue;
    }
    step = dialogue.next(who === "!" ? (words as WireFault) : reply(words));
  }
  if (!step.done) throw new Error(`the session still wants to say: ${step.value.command}`);
  return step.value;
};

/** The ways through a session that most tests have in common. */
export const HELLO = `
  S: 220 mx.a.example
  C: EHLO probe.example
  S: 250 mx.a.example`;
export const OPENED = `${HELLO}
  C: MAIL FROM:<probe@probe.example>
  S: 250 2.1.0 OK`;

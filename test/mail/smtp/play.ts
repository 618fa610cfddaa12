import { createDialogue } from "@mailproof/mail/smtp/dialogue";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import type { SessionPlan, SessionResult } from "@mailproof/mail/smtp/session";
import {
  isFault,
  type ReplyOrFault,
  type SmtpConnect,
  type SmtpTarget,
  type WireFault,
} from "@mailproof/mail/smtp/wire";
import type { Reply } from "../../../packages/mail/src/smtp/reply.ts";

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
 * comes instead. Lines that go out together stand together, before all their replies. Anything else that is sent, or
 * left out, is an error, but for a QUIT at the end.
 */
export const play = (overrides: Partial<SessionPlan>, transcript: string): SessionResult => {
  const dialogue = createDialogue({ ...plan, ...overrides });
  let step = dialogue.next();
  let sent = 0;
  let replies: ReplyOrFault[] = [];
  for (const written of transcript.trim().split(/\n\s*/)) {
    const [, who, words = ""] = /^(C:|S:|!) ?(.*)$/.exec(written) ?? [];
    if (step.done) throw new Error(`the session ended before: ${written}`);
    const lines = step.value.flatMap(({ line }) => line ?? []);
    if (who === "C:") {
      if (lines[sent] !== words) throw new Error(`sent ${lines[sent]}, not ${words}`);
      sent += 1;
      continue;
    }
    if (who === "S:" && sent < lines.length)
      throw new Error(`sent ${lines[sent]} before: ${written}`);
    const answer = who === "!" ? (words as WireFault) : reply(words);
    replies.push(answer);
    const isOver = isFault(answer) || answer.code === 421;
    if (!isOver && replies.length < step.value.length) continue;
    step = dialogue.next(replies);
    [sent, replies] = [0, []];
  }
  if (!step.done && step.value[0]?.line === "QUIT") step = dialogue.next([reply("221 bye")]);
  if (!step.done) throw new Error(`the session still wants to say: ${step.value[0]?.line}`);
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

/** What a simulated mail host does: cannot be connected to, or answers each line; "!" is a fault of the wire. */
export type Behaviour = WireFault | ((command: string | null) => string);

/** A network of such hosts by address, and everything that happened on it. */
export const createNetwork = (behaviours: Readonly<Record<string, Behaviour>>) => {
  const log: string[] = [];
  const open = new Set<number>();
  let connections = 0;

  const connect: SmtpConnect = async (
    { ip, port, host }: SmtpTarget,
    { timeoutMs, affinityKey },
  ) => {
    log.push(`connect ${ip}:${port} ${host} ${timeoutMs} ${affinityKey}`);
    const behaviour = behaviours[ip] ?? "connect_refused";
    if (typeof behaviour === "string") return behaviour;

    const id = connections++;
    let command: string | null = null;
    open.add(id);
    return {
      send: (line) => {
        command = line;
        log.push(line);
      },
      receive: async (): Promise<ReplyOrFault> => {
        const answer = behaviour(command);
        return answer.startsWith("!") ? (answer.slice(1) as WireFault) : reply(answer);
      },
      startTls: async () => (behaviour("(TLS)") === "!tls_failed" ? "tls_failed" : null),
      close: async () => void open.delete(id),
    };
  };
  return { connect, log, open };
};

/** A server that takes everybody in and knows ann. */
export const friendly = (command: string | null): string => {
  if (command === null) return "220 mx";
  if (command.startsWith("RCPT") && !command.includes("<ann@")) return "550 5.1.1 no";
  return command === "QUIT" ? "221 bye" : "250 OK";
};

/** A reply as the parser gives it, from its lines as a server sends them or as one line. */
export const parseReply = (lines: string): Reply => ({
  code: Number(lines.slice(0, 3)),
  enhanced: /(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?![\d.]*\d)/.exec(lines)?.[0] ?? null,
  text: lines
    .split("\n")
    .map((line) => line.replace(/^\d{3}[ -]?(?:[245]\.\d{1,3}\.\d{1,3} ?)?/, ""))
    .join("\n"),
});

import type { Reply } from "./reply.ts";
import {
  assertOneLine,
  isFault,
  type ReplyOrFault,
  type SmtpWire,
  type WireFault,
} from "./wire.ts";

/** In milliseconds, by what is waited for. */
export type ReplyWaits = Readonly<
  Record<"greeting" | "ehlo" | "starttls" | "tls" | "mail" | "rcpt" | "rset" | "quit", number>
>;

/**
 * How long a server may take, by what it is asked. A caller waits for us, so these are far below the five
 * minutes of RFC 5321 §4.5.3.2. The greeting has room for servers that let early talkers betray themselves.
 */
const WAIT_MS: ReplyWaits = {
  greeting: 10_000,
  ehlo: 10_000,
  starttls: 10_000,
  tls: 10_000,
  mail: 10_000,
  rcpt: 10_000,
  rset: 5000,
  quit: 1000,
};

/** What to say next (null: only listen), which wait that is, and whose name to ask for when TLS follows a 220. */
export type DialogueStep = {
  readonly command: string | null;
  readonly wait: keyof ReplyWaits;
  readonly tlsTo?: string;
};

/** A dialogue yields lines and receives replies. A fault ends the connection; the dialogue still returns its result. */
export type Dialogue<Result> = Generator<DialogueStep, Result, ReplyOrFault>;

export type TranscriptLine = {
  /** Since the connection stood. */
  readonly ms: number;
  readonly who: "client" | "server" | "wire";
  readonly text: string;
};
export type Transcript = readonly TranscriptLine[];

export type TimeLimit = { readonly now: () => Date; readonly deadline: Date };

export const getRemainingMs = ({ now, deadline }: TimeLimit): number =>
  deadline.getTime() - now().getTime();

/** Plays a dialogue over a wire until either has enough, and hangs up whatever happens. */
export const converse = async <Result>(
  wire: SmtpWire,
  dialogue: Dialogue<Result>,
  timeLimit: TimeLimit,
  /** Where they differ from those of most servers. */
  waits: Partial<ReplyWaits> = {},
): Promise<{ readonly result: Result; readonly transcript: Transcript }> => {
  const { transcript, note: addLine } = createTranscript(timeLimit.now);
  const line: Line = { wire, timeLimit, waits: { ...WAIT_MS, ...waits }, addLine };
  let reply: ReplyOrFault | null = null;
  try {
    let step = dialogue.next();
    while (!step.done) {
      reply = await exchange(line, step.value);
      step = dialogue.next(reply);
    }
    if (reply !== null && isListening(reply)) await exchange(line, QUIT);
    return { result: step.value, transcript };
  } finally {
    await wire.close();
  }
};

const QUIT: DialogueStep = { command: "QUIT", wait: "quit" };

/** RFC 5321 §4.1.1.10 wants QUIT sent and answered; a server that replied 421 or fell silent has already left. */
const isListening = (reply: ReplyOrFault): boolean => !isFault(reply) && reply.code !== 421;

type AddLine = (who: TranscriptLine["who"], text: string) => void;

/** A wire, and what one exchange over it needs to know. */
type Line = {
  readonly wire: SmtpWire;
  readonly timeLimit: TimeLimit;
  readonly waits: ReplyWaits;
  readonly addLine: AddLine;
};

const exchange = async (
  { wire, timeLimit, waits, addLine }: Line,
  step: DialogueStep,
): Promise<ReplyOrFault> => {
  const waitMs = Math.min(waits[step.wait], getRemainingMs(timeLimit));
  if (waitMs <= 0) return "deadline";
  if (step.command !== null) {
    assertOneLine(step.command);
    addLine("client", step.command);
    wire.send(step.command);
  }
  const reply = await wire.receive(waitMs);
  if (isFault(reply)) return noteFault(reply, step, addLine);
  addLine("server", formatReply(reply));
  if (step.tlsTo === undefined || reply.code !== 220) return reply;

  const fault = await wire.startTls(
    step.tlsTo,
    Math.max(0, Math.min(waits.tls, getRemainingMs(timeLimit))),
  );
  if (fault) return noteFault(fault, { ...step, wait: "tls" }, addLine);
  addLine("wire", "TLS");
  return reply;
};

const noteFault = (fault: WireFault, step: DialogueStep, addLine: AddLine): WireFault => {
  addLine("wire", `${fault} (${step.wait})`);
  return fault;
};

const formatReply = ({ code, enhanced, text }: Reply): string =>
  [code, enhanced, text].filter(Boolean).join(" ");

const TEXT_CHARS_MAX = 1000;
const LINES_MAX = 300;

/** Evidence, not an archive: the end of a long text and of a long session is left out. */
const createTranscript = (now: () => Date): { transcript: Transcript; note: AddLine } => {
  const startedAt = now().getTime();
  const transcript: TranscriptLine[] = [];
  const addLine: AddLine = (who, text) => {
    if (transcript.length === LINES_MAX) return;
    const short = text.length > TEXT_CHARS_MAX ? `${text.slice(0, TEXT_CHARS_MAX)}…` : text;
    transcript.push({ ms: now().getTime() - startedAt, who, text: short });
  };
  return { transcript, note: addLine };
};

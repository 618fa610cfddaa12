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

/** For a tarpit, and for a host that was silent before: spamd's and Exchange's replies take up to half a minute. */
const PATIENT_MS = 60_000;
const PATIENT_WAIT_MS: ReplyWaits = {
  greeting: PATIENT_MS,
  ehlo: PATIENT_MS,
  starttls: PATIENT_MS,
  tls: PATIENT_MS,
  mail: PATIENT_MS,
  rcpt: PATIENT_MS,
  rset: PATIENT_MS,
  quit: WAIT_MS.quit,
};

/** A server whose last replies each took this long is a tarpit: slow on purpose, and not silent. */
const TARPIT_MS = 4_000;
const TARPIT_REPLIES = 2;

/** `line`: null where the server speaks first. `tlsTo`: whose name to ask for when TLS follows a 220. */
export type SmtpCommand = {
  readonly line: string | null;
  readonly wait: keyof ReplyWaits;
  readonly tlsTo?: string;
};

/**
 * A dialogue yields the commands that go out together, and receives their replies in order. These are fewer where a
 * fault or a 421, which is then the last, ended the connection; the dialogue still returns its result.
 */
export type Dialogue<Result> = Generator<readonly SmtpCommand[], Result, readonly ReplyOrFault[]>;

export type TranscriptLine = {
  /** Since the connection stood. */
  readonly ms: number;
  readonly who: "client" | "server" | "wire";
  readonly text: string;
};
export type Transcript = readonly TranscriptLine[];

/** `patientDeadline`: for a tarpit. Absent: the same. */
export type TimeLimit = {
  readonly now: () => Date;
  readonly deadline: Date;
  readonly patientDeadline?: Date;
};

export const getRemainingMs = ({ now, deadline }: TimeLimit): number =>
  deadline.getTime() - now().getTime();

/** Plays a dialogue over a wire until either has enough, and hangs up whatever happens. */
export const converse = async <Result>(
  wire: SmtpWire,
  dialogue: Dialogue<Result>,
  timeLimit: TimeLimit,
  { waits = {}, isPatient = false }: ConverseOptions = {},
): Promise<{ readonly result: Result; readonly transcript: Transcript }> => {
  const { transcript, note: addLine } = createTranscript(timeLimit.now);
  const usual = { ...WAIT_MS, ...waits };
  const line: Line = {
    wire,
    timeLimit,
    waits: isPatient ? PATIENT_WAIT_MS : usual,
    addLine,
    slow: 0,
  };
  try {
    let step = dialogue.next();
    while (!step.done) step = dialogue.next(await exchange(line, step.value));
    return { result: step.value, transcript };
  } finally {
    await wire.close();
  }
};

type ConverseOptions = {
  /** Where they differ from those of most servers. */
  readonly waits?: Partial<ReplyWaits>;
  /** The host was silent before. */
  readonly isPatient?: boolean | undefined;
};

type AddLine = (who: TranscriptLine["who"], text: string) => void;

/** A wire, and what one exchange over it needs to know. */
type Line = {
  readonly wire: SmtpWire;
  timeLimit: TimeLimit;
  waits: ReplyWaits;
  readonly addLine: AddLine;
  /** How many replies in a row were slow. */
  slow: number;
};

const exchange = async (
  line: Line,
  commands: readonly SmtpCommand[],
): Promise<readonly ReplyOrFault[]> => {
  if (getRemainingMs(line.timeLimit) <= 0) return ["deadline"];
  const lines = commands.flatMap((command) => command.line ?? []);
  lines.forEach(assertOneLine);
  for (const text of lines) line.addLine("client", text);
  if (lines.length > 0) line.wire.send(...lines);

  const replies: ReplyOrFault[] = [];
  for (const command of commands) {
    const reply = await receive(line, command);
    replies.push(reply);
    if (isFault(reply) || reply.code === 421) break;
  }
  return replies;
};

/** The next reply. Each has its whole wait, from the reply before it on. */
const receive = async (line: Line, command: SmtpCommand): Promise<ReplyOrFault> => {
  const { wire, timeLimit, waits, addLine } = line;
  const waitMs = Math.min(waits[command.wait], getRemainingMs(timeLimit));
  if (waitMs <= 0) return "deadline";
  const askedAtMs = timeLimit.now().getTime();
  const reply = await wire.receive(waitMs);
  if (isFault(reply)) return noteFault(reply, command, addLine);
  notePace(line, timeLimit.now().getTime() - askedAtMs);
  addLine("server", formatReply(reply));
  if (command.tlsTo === undefined || reply.code !== 220) return reply;

  const fault = await wire.startTls(
    command.tlsTo,
    Math.max(0, Math.min(waits.tls, getRemainingMs(timeLimit))),
  );
  if (fault) return noteFault(fault, { ...command, wait: "tls" }, addLine);
  addLine("wire", "TLS");
  return reply;
};

/** With a tarpit, the session continues at its pace. */
const notePace = (line: Line, ms: number): void => {
  line.slow = ms < TARPIT_MS ? 0 : line.slow + 1;
  if (line.slow !== TARPIT_REPLIES) return;
  const { patientDeadline } = line.timeLimit;
  line.waits = PATIENT_WAIT_MS;
  if (patientDeadline) line.timeLimit = { ...line.timeLimit, deadline: patientDeadline };
};

const noteFault = (fault: WireFault, { wait }: SmtpCommand, addLine: AddLine): WireFault => {
  addLine("wire", `${fault} (${wait})`);
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

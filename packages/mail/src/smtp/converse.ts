import type { Reply } from "./reply.ts";
import {
  assertOneLine,
  isFault,
  type ReplyOrFault,
  type SmtpWire,
  type WireFault,
} from "./wire.ts";

export type ReplyWaits = Readonly<
  Record<"greeting" | "ehlo" | "starttls" | "tls" | "mail" | "rcpt" | "rset" | "quit", number>
>;

/**
 * The longest wait for each kind of reply. A caller waits for us, so the times are far below the five minutes of RFC 5321 §4.5.3.2. The
 * greeting gets enough for servers that delay it to detect clients that talk too early.
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

/** The waits at a tarpit, and at a host that was silent before: spamd and Exchange may take half a minute for a reply. */
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

/** A server that needs this time for each of its last replies is a tarpit: slow on purpose, but not silent. */
const TARPIT_MS = 4_000;
const TARPIT_REPLIES = 2;

/** `line` is null when the server speaks first. `tlsTo` is the server name for TLS, which starts after a 220. */
export type SmtpCommand = {
  readonly line: string | null;
  readonly wait: keyof ReplyWaits;
  readonly tlsTo?: string;
};

/**
 * A dialogue yields the commands that go out together, and receives their replies in order. A fault or a 421 ends the connection, so it is
 * the last of fewer replies; the dialogue still returns its result.
 */
export type Dialogue<Result> = Generator<readonly SmtpCommand[], Result, readonly ReplyOrFault[]>;

export type TranscriptLine = {
  readonly ms: number;
  readonly who: "client" | "server" | "wire";
  readonly text: string;
};
export type Transcript = readonly TranscriptLine[];

/** `patientDeadline` replaces `deadline` at a tarpit. Absent when a tarpit gets no more time. */
export type TimeLimit = {
  readonly now: () => Date;
  readonly deadline: Date;
  readonly patientDeadline?: Date;
};

export const getRemainingMs = ({ now, deadline }: TimeLimit): number =>
  deadline.getTime() - now().getTime();

/** Runs a dialogue over a wire until the dialogue ends or the connection fails, and always hangs up. */
export const converse = async <Result>(
  wire: SmtpWire,
  dialogue: Dialogue<Result>,
  timeLimit: TimeLimit,
  { waits = {}, isPatient = false }: ConverseOptions = {},
): Promise<{ readonly result: Result; readonly transcript: Transcript }> => {
  const startedAtMs = timeLimit.now().getTime();
  const transcript: TranscriptLine[] = [];
  const line: Line = {
    wire,
    timeLimit,
    waits: isPatient ? PATIENT_WAIT_MS : { ...WAIT_MS, ...waits },
    transcript,
    startedAtMs,
    atMs: startedAtMs,
    slow: 0,
  };
  try {
    let step = dialogue.next();
    while (!step.done) {
      sendLines(line, step.value);
      const replies: ReplyOrFault[] = [];
      for (const command of step.value) {
        // Each reply gets its whole wait, counted from the reply before it.
        const waitMs = Math.min(line.waits[command.wait], getLeftMs(line));
        let reply = waitMs > 0 ? await wire.receive(waitMs) : "deadline";
        if (waitMs > 0) noteReply(line, command, reply);
        if (command.tlsTo !== undefined && !isFault(reply) && reply.code === 220)
          reply = (await startTls(line, command.tlsTo)) ?? reply;
        replies.push(reply);
        if (isFault(reply) || reply.code === 421) break;
      }
      step = dialogue.next(replies);
    }
    return { result: step.value, transcript };
  } finally {
    await wire.close();
  }
};

type ConverseOptions = {
  readonly waits?: Partial<ReplyWaits>;
  readonly isPatient?: boolean | undefined;
};

type Line = {
  readonly wire: SmtpWire;
  timeLimit: TimeLimit;
  waits: ReplyWaits;
  readonly transcript: TranscriptLine[];
  readonly startedAtMs: number;
  atMs: number;
  slow: number;
};

const lookAtClock = (line: Line): number => {
  const beforeMs = line.atMs;
  line.atMs = line.timeLimit.now().getTime();
  return line.atMs - beforeMs;
};

const getLeftMs = ({ timeLimit, atMs }: Line): number => timeLimit.deadline.getTime() - atMs;

const sendLines = (line: Line, commands: readonly SmtpCommand[]): void => {
  lookAtClock(line);
  const lines = commands.flatMap((command) => command.line ?? []);
  if (getLeftMs(line) <= 0 || lines.length === 0) return;
  lines.forEach(assertOneLine);
  for (const text of lines) addLine(line, "client", text);
  line.wire.send(...lines);
};

const noteReply = (line: Line, { wait }: SmtpCommand, reply: ReplyOrFault): void => {
  const tookMs = lookAtClock(line);
  if (isFault(reply)) return addLine(line, "wire", `${reply} (${wait})`);
  notePace(line, tookMs);
  addLine(line, "server", formatReply(reply));
};

const startTls = async (line: Line, host: string): Promise<WireFault | null> => {
  const waitMs = Math.max(0, Math.min(line.waits.tls, getLeftMs(line)));
  const fault = await line.wire.startTls(host, waitMs);
  lookAtClock(line);
  addLine(line, "wire", fault ? `${fault} (tls)` : "TLS");
  return fault;
};

const notePace = (line: Line, ms: number): void => {
  line.slow = ms < TARPIT_MS ? 0 : line.slow + 1;
  if (line.slow !== TARPIT_REPLIES) return;
  const { patientDeadline } = line.timeLimit;
  line.waits = PATIENT_WAIT_MS;
  if (patientDeadline) line.timeLimit = { ...line.timeLimit, deadline: patientDeadline };
};

const formatReply = ({ code, enhanced, text }: Reply): string =>
  `${code}${enhanced ? ` ${enhanced}` : ""}${text ? ` ${text}` : ""}`;

const TEXT_CHARS_MAX = 1000;
const LINES_MAX = 300;

/** The transcript is evidence and not an archive: it omits the end of a long text and of a long session. */
const addLine = (
  { transcript, atMs, startedAtMs }: Line,
  who: TranscriptLine["who"],
  text: string,
): void => {
  if (transcript.length === LINES_MAX) return;
  const short = text.length > TEXT_CHARS_MAX ? `${text.slice(0, TEXT_CHARS_MAX)}…` : text;
  transcript.push({ ms: atMs - startedAtMs, who, text: short });
};

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const CHARACTERS = `${LETTERS}0123456789`;
const LENGTH = 20;

/** Returns an address that should not exist: a server that accepts it accepts every recipient. */
export const createRandomRecipient = (domain: string, random: () => number): string => {
  const pickAt = (_: unknown, index: number) =>
    pickCharacter(index === 0 ? LETTERS : CHARACTERS, random);
  return `${Array.from({ length: LENGTH }, pickAt).join("")}@${domain}`;
};

const pickCharacter = (characters: string, random: () => number): string =>
  characters.charAt(Math.floor(random() * characters.length));

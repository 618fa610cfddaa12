import type { Reply } from "./reply.ts";
import { assertOneLine, type Heard, isFault, type Wire, type WireFault } from "./wire.ts";

/**
 * How long a server may take, by what it is asked. A caller waits for us, so these are far below the five
 * minutes of RFC 5321 §4.5.3.2. The greeting has room for servers that let early talkers betray themselves.
 */
const WAIT_MS = {
  greeting: 10_000,
  ehlo: 10_000,
  starttls: 10_000,
  tls: 10_000,
  mail: 10_000,
  rcpt: 10_000,
  rset: 5000,
  quit: 1000,
} as const;

/** What to say next (null: only listen), which wait that is, and whose name to ask for when TLS follows a 220. */
export type Turn = {
  readonly say: string | null;
  readonly wait: keyof typeof WAIT_MS;
  readonly tlsTo?: string;
};

/** A dialogue says lines and is handed what was heard. A fault ends the line, but not the dialogue: it sums up. */
export type Dialogue<Result> = Generator<Turn, Result, Heard>;

export type Utterance = {
  /** Since the connection stood. */
  readonly ms: number;
  readonly who: "client" | "server" | "wire";
  readonly text: string;
};
export type Transcript = readonly Utterance[];

export type Time = { readonly now: () => Date; readonly deadline: Date };

export const leftMs = ({ now, deadline }: Time): number => deadline.getTime() - now().getTime();

/** Plays a dialogue over a wire until either has enough, and hangs up whatever happens. */
export const converse = async <Result>(
  wire: Wire,
  dialogue: Dialogue<Result>,
  time: Time,
): Promise<{ readonly result: Result; readonly transcript: Transcript }> => {
  const { transcript, note } = record(time.now);
  let heard: Heard | null = null;
  try {
    let step = dialogue.next();
    while (!step.done) {
      heard = await take(wire, step.value, time, note);
      step = dialogue.next(heard);
    }
    if (heard !== null && isListening(heard)) await take(wire, QUIT, time, note);
    return { result: step.value, transcript };
  } finally {
    await wire.close();
  }
};

const QUIT: Turn = { say: "QUIT", wait: "quit" };

/** RFC 5321 §4.1.1.10 wants QUIT said and answered; who has said 421 or fallen silent has already left. */
const isListening = (heard: Heard): boolean => !isFault(heard) && heard.code !== 421;

type Note = (who: Utterance["who"], text: string) => void;

const take = async (wire: Wire, turn: Turn, time: Time, note: Note): Promise<Heard> => {
  const waitMs = Math.min(WAIT_MS[turn.wait], leftMs(time));
  if (waitMs <= 0) return "deadline";
  if (turn.say !== null) {
    assertOneLine(turn.say);
    note("client", turn.say);
    wire.send(turn.say);
  }
  const heard = await wire.receive(waitMs);
  if (isFault(heard)) return noted(heard, turn, note);
  note("server", spoken(heard));
  if (turn.tlsTo === undefined || heard.code !== 220) return heard;

  const fault = await wire.startTls(turn.tlsTo, Math.max(0, Math.min(WAIT_MS.tls, leftMs(time))));
  if (fault) return noted(fault, { ...turn, wait: "tls" }, note);
  note("wire", "TLS");
  return heard;
};

const noted = (fault: WireFault, turn: Turn, note: Note): WireFault => {
  note("wire", `${fault} (${turn.wait})`);
  return fault;
};

const spoken = ({ code, enhanced, text }: Reply): string =>
  [code, enhanced, text].filter(Boolean).join(" ");

const TEXT_CHARS_MAX = 1000;
const UTTERANCES_MAX = 300;

/** Evidence, not an archive: the end of a long text and of a long session is left out. */
const record = (now: () => Date): { transcript: Transcript; note: Note } => {
  const startedAt = now().getTime();
  const transcript: Utterance[] = [];
  const note: Note = (who, text) => {
    if (transcript.length === UTTERANCES_MAX) return;
    const short = text.length > TEXT_CHARS_MAX ? `${text.slice(0, TEXT_CHARS_MAX)}…` : text;
    transcript.push({ ms: now().getTime() - startedAt, who, text: short });
  };
  return { transcript, note };
};

import type { Socket } from "node:net";
import { type SecureContext, TLSSocket } from "node:tls";
import {
  createSessionState,
  type GreylistMemory,
  handleCommand,
  type LabSessionState,
  type LabStep,
  type MailHost,
} from "./dialogue.ts";
import type { ReplyText } from "./host-behavior.ts";

export type StartTimer = (act: () => void, ms: number) => () => void;

const startRealTimer: StartTimer = (act, ms) => {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
};

export type SessionContext = {
  readonly replyMs: number;
  readonly slowMs: number;
  readonly startTimer?: StartTimer | undefined;
  readonly secureContext: SecureContext;
  readonly memory: GreylistMemory;
  readonly onCommand: (verb: string) => void;
  readonly onHangUp: () => void;
};

type Session = {
  readonly socket: Socket;
  readonly host: MailHost;
  readonly context: SessionContext;
  wire: Socket;
  state: LabSessionState;
  unread: string;
  lines: Line[];
  isGreeted: boolean;
  /** While a reply is being sent, further commands wait, as pipelining requires (RFC 2920). */
  isBusy: boolean;
  isOver: boolean;
  cancel: () => void;
  readonly onData: (chunk: Buffer) => void;
};

type Line = { readonly text: string; readonly atMs: number };

/** The longest line of a client: RFC 5321 §4.5.3.1.4 requires 512, and paths in UTF-8 are longer. */
const LINE_CHARACTERS_MAX = 4_096;
const PIECE_BYTES = 7;
const ENDLESS_EVERY_MS = 10;

export const serveSession = (
  socket: Socket,
  host: MailHost,
  context: SessionContext,
  isTooMany: boolean,
): void => {
  const visit = host.visit?.(socket.remoteAddress ?? "");
  const session: Session = {
    socket,
    host: visit ? { ...host, behavior: { ...host.behavior, ...visit.behavior } } : host,
    context,
    wire: socket,
    state: createSessionState(false),
    unread: "",
    lines: [],
    isGreeted: false,
    isBusy: true,
    isOver: false,
    cancel: () => {},
    onData: (chunk) => handleData(session, chunk),
  };
  socket.on("data", session.onData);
  socket.on("finish", context.onHangUp);
  socket.on("error", () => socket.destroy());
  socket.on("close", () => {
    session.isOver = true;
    session.cancel();
    visit?.onClose();
  });
  startSession(session, isTooMany);
};

const startSession = (session: Session, isTooMany: boolean): void => {
  const { behavior } = session.host;
  const { replyMs, slowMs } = session.context;
  if (behavior.opening === "silence") return;
  if (behavior.opening === "hang up") return finish(session);
  if (behavior.opening === "endless") return greetForever(session);
  const waitMs = replyMs + slowMs * (behavior.slowGreeting ?? behavior.slow ?? 0);
  schedule(session, waitMs, () => greet(session, isTooMany));
};

const greet = (session: Session, isTooMany: boolean): void => {
  const { name, behavior } = session.host;
  if (session.isOver) return;
  session.isGreeted = true;
  const greeting = isTooMany
    ? "421 4.7.0 HOST Too many connections, come back later"
    : (behavior.greeting ?? "220 HOST ESMTP ready");
  const line = greeting.replace("HOST", name);
  if (behavior.opening === "half close") return finish(session, `${line}\r\n`);
  send(session, line, () => (/^[45]/.test(line) ? finish(session) : listen(session)));
};

const greetForever = (session: Session): void => {
  session.wire.write(`220-${session.host.name} has more to say\r\n`.repeat(100));
  schedule(session, ENDLESS_EVERY_MS, () => greetForever(session));
};

const handleData = (session: Session, chunk: Buffer): void => {
  const { opening } = session.host.behavior;
  if (session.isOver || opening === "silence" || opening === "endless") return;
  // Decodes bytes as Latin-1, so that a character cut in two by packets is whole again in its line.
  const texts = `${session.unread}${chunk.toString("latin1")}`.split("\n");
  session.unread = texts.pop() ?? "";
  const atMs = performance.now();
  for (const text of texts)
    session.lines.push({ text: Buffer.from(text, "latin1").toString(), atMs });
  if (opening === "patience" && !session.isGreeted)
    return finish(session, "554 5.5.1 You spoke too early\r\n");
  readLine(session);
};

const listen = (session: Session): void => {
  session.isBusy = false;
  readLine(session);
};

const readLine = (session: Session): void => {
  const { host, context } = session;
  if (session.isBusy || session.isOver) return;
  const line = session.lines.shift();
  if (!line) {
    if (session.unread.length > LINE_CHARACTERS_MAX) finish(session, "500 5.5.2 Line too long\r\n");
    return;
  }
  session.isBusy = true;
  context.onCommand(line.text);
  const step = handleCommand(session.state, line.text, host, context.memory);
  const slow = (host.behavior.slow ?? 0) + (step.slow ?? 0);
  // `replyMs` is the round trip: commands that arrive together get their replies together (RFC 2920).
  const travelMs = Math.max(0, Math.ceil(line.atMs + context.replyMs - performance.now()));
  schedule(session, travelMs + context.slowMs * slow, () => applyStep(session, step));
};

const applyStep = (session: Session, { reply, next }: LabStep): void => {
  if (next === "drop" || reply === undefined) return void session.socket.destroy();
  send(session, reply, () => {
    if (next === "hang up") finish(session);
    else if (next === "start TLS") startTls(session);
    else if (next === "break TLS") breakTls(session);
    else listen(session);
  });
};

/** Discards unencrypted data from before the handshake (RFC 3207 §4.2). */
const startTls = (session: Session): void => {
  const { socket, context } = session;
  session.unread = "";
  session.lines = [];
  session.state = createSessionState(true);
  socket.removeListener("data", session.onData);
  session.wire = new TLSSocket(socket, { isServer: true, secureContext: context.secureContext });
  session.wire.on("finish", context.onHangUp);
  session.wire.on("error", () => socket.destroy());
  session.wire.on("data", session.onData);
  listen(session);
};

const breakTls = (session: Session): void => {
  const { socket } = session;
  session.isOver = true;
  socket.removeListener("data", session.onData);
  socket.once("data", () => socket.end("This is no handshake.\r\n"));
};

const finish = (session: Session, last = ""): void => {
  session.isOver = true;
  session.wire.end(last);
};

const send = (session: Session, reply: ReplyText, then: () => void): void => {
  const { wire: wireMode } = session.host.behavior;
  const eol = wireMode === "bare line feeds" ? "\n" : "\r\n";
  const text = reply.replaceAll("\n", eol) + eol;
  if (wireMode === "pieces") return sendInPieces(session, Buffer.from(text), 0, then);
  if (wireMode === "drip")
    return sendInPieces(session, Buffer.from(text), session.context.slowMs / 10, then);
  session.wire.write(text);
  then();
};

const sendInPieces = (session: Session, bytes: Buffer, everyMs: number, then: () => void): void => {
  if (session.isOver) return;
  if (bytes.length === 0) return then();
  session.wire.write(bytes.subarray(0, PIECE_BYTES));
  schedule(session, everyMs, () =>
    sendInPieces(session, bytes.subarray(PIECE_BYTES), everyMs, then),
  );
};

const schedule = (session: Session, ms: number, act: () => void): void => {
  // Node would turn an infinite timer into 1 ms.
  if (ms === Number.POSITIVE_INFINITY) return;
  if (ms > 0) session.cancel = (session.context.startTimer ?? startRealTimer)(act, ms);
  else {
    const immediate = setImmediate(act);
    session.cancel = () => clearImmediate(immediate);
  }
};

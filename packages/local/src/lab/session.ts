import type { Socket } from "node:net";
import { type SecureContext, TLSSocket } from "node:tls";
import { answer, type MailHost, type Memory, newState, type State, type Step } from "./dialogue.ts";
import type { Said } from "./manner.ts";

/** What all sessions of a lab share, but for `leave`. */
export type House = {
  readonly replyMs: number;
  readonly slowMs: number;
  readonly secureContext: SecureContext;
  readonly memory: Memory;
  readonly heard: (verb: string) => void;
  /** The host has hung up. */
  readonly leave: () => void;
};

type Session = {
  readonly socket: Socket;
  readonly host: MailHost;
  readonly house: House;
  /** The socket, or TLS over it. */
  wire: Socket;
  state: State;
  unread: string;
  isGreeted: boolean;
  /** A reply is under way; what the client says meanwhile waits, as pipelining wants it (RFC 2920). */
  isBusy: boolean;
  isOver: boolean;
  /** Forgets what is waited for. It is only ever one thing. */
  cancel: () => void;
  readonly hear: (chunk: Buffer) => void;
};

/** A client's line is at most this long: RFC 5321 §4.5.3.1.4 asks for 512, and paths in UTF-8 are longer. */
const LINE_CHARACTERS_MAX = 4_096;
const PIECE_BYTES = 7;
const ENDLESS_EVERY_MS = 10;

/** One client at one host, from the greeting until somebody hangs up. */
export const converse = (
  socket: Socket,
  host: MailHost,
  house: House,
  isTooMany: boolean,
): void => {
  const session: Session = {
    socket,
    host,
    house,
    wire: socket,
    state: newState(false),
    unread: "",
    isGreeted: false,
    isBusy: true,
    isOver: false,
    cancel: () => {},
    hear: (chunk) => hear(session, chunk),
  };
  socket.on("data", session.hear);
  socket.on("finish", house.leave);
  socket.on("error", () => socket.destroy());
  socket.on("close", () => {
    session.isOver = true;
    session.cancel();
  });
  open(session, isTooMany);
};

const open = (session: Session, isTooMany: boolean): void => {
  const { manner } = session.host;
  const { replyMs, slowMs } = session.house;
  if (manner.opening === "silence") return;
  if (manner.opening === "hang up") return finish(session);
  if (manner.opening === "endless") return goOnForever(session);
  const waitMs = replyMs + slowMs * (manner.slowGreeting ?? manner.slow ?? 0);
  after(session, waitMs, () => greet(session, isTooMany));
};

const greet = (session: Session, isTooMany: boolean): void => {
  const { name, manner } = session.host;
  if (session.isOver) return;
  session.isGreeted = true;
  const greeting = isTooMany
    ? "421 4.7.0 HOST Too many connections, come back later"
    : (manner.greeting ?? "220 HOST ESMTP ready");
  const said = greeting.replace("HOST", name);
  if (manner.opening === "half close") return finish(session, `${said}\r\n`);
  send(session, said, () => (/^[45]/.test(said) ? finish(session) : listen(session)));
};

const goOnForever = (session: Session): void => {
  session.wire.write(`220-${session.host.name} has more to say\r\n`.repeat(100));
  after(session, ENDLESS_EVERY_MS, () => goOnForever(session));
};

const hear = (session: Session, chunk: Buffer): void => {
  const { opening } = session.host.manner;
  if (session.isOver || opening === "silence" || opening === "endless") return;
  // Bytes are kept as latin-1, so that a character cut in two by packets is whole again in its line.
  session.unread += chunk.toString("latin1");
  if (opening === "patience" && !session.isGreeted)
    return finish(session, "554 5.5.1 You spoke too early\r\n");
  read(session);
};

const listen = (session: Session): void => {
  session.isBusy = false;
  read(session);
};

const read = (session: Session): void => {
  const { unread, host, house } = session;
  if (session.isBusy || session.isOver) return;
  const end = unread.indexOf("\n");
  if (end === -1) {
    if (unread.length > LINE_CHARACTERS_MAX) finish(session, "500 5.5.2 Line too long\r\n");
    return;
  }
  const line = Buffer.from(unread.slice(0, end), "latin1").toString();
  session.unread = unread.slice(end + 1);
  session.isBusy = true;
  house.heard(line);
  const step = answer(session.state, line, host, house.memory);
  const slow = (host.manner.slow ?? 0) + (step.slow ?? 0);
  after(session, house.replyMs + house.slowMs * slow, () => take(session, step));
};

const take = (session: Session, { say, next }: Step): void => {
  if (next === "drop" || say === undefined) return void session.socket.destroy();
  send(session, say, () => {
    if (next === "hang up") finish(session);
    else if (next === "start TLS") startTls(session);
    else if (next === "break TLS") breakTls(session);
    else listen(session);
  });
};

/** What was sent in the clear before the handshake is thrown away (RFC 3207 §4.2). */
const startTls = (session: Session): void => {
  const { socket, house } = session;
  session.unread = "";
  session.state = newState(true);
  socket.removeListener("data", session.hear);
  session.wire = new TLSSocket(socket, { isServer: true, secureContext: house.secureContext });
  session.wire.on("finish", house.leave);
  session.wire.on("error", () => socket.destroy());
  session.wire.on("data", session.hear);
  listen(session);
};

const breakTls = (session: Session): void => {
  const { socket } = session;
  session.isOver = true;
  socket.removeListener("data", session.hear);
  socket.once("data", () => socket.end("This is no handshake.\r\n"));
};

const finish = (session: Session, last = ""): void => {
  session.isOver = true;
  session.wire.end(last);
};

const send = (session: Session, said: Said, then: () => void): void => {
  const { wire: how } = session.host.manner;
  const eol = how === "bare line feeds" ? "\n" : "\r\n";
  const text = said.replaceAll("\n", eol) + eol;
  if (how === "pieces") return sendInPieces(session, Buffer.from(text), 0, then);
  if (how === "drip")
    return sendInPieces(session, Buffer.from(text), session.house.slowMs / 10, then);
  session.wire.write(text);
  then();
};

const sendInPieces = (session: Session, bytes: Buffer, everyMs: number, then: () => void): void => {
  if (session.isOver) return;
  if (bytes.length === 0) return then();
  session.wire.write(bytes.subarray(0, PIECE_BYTES));
  after(session, everyMs, () => sendInPieces(session, bytes.subarray(PIECE_BYTES), everyMs, then));
};

const after = (session: Session, ms: number, act: () => void): void => {
  // A timer that never ends would end at once: Node takes what is too long for 1 ms.
  if (ms === Number.POSITIVE_INFINITY) return;
  if (ms > 0) {
    const timer = setTimeout(act, ms);
    session.cancel = () => clearTimeout(timer);
  } else {
    const turn = setImmediate(act);
    session.cancel = () => clearImmediate(turn);
  }
};

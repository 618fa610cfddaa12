import type { Socket } from "node:net";
import { type SecureContext, TLSSocket } from "node:tls";

// The bytes of one connection. The session takes a line or a message when it is there; while it does not, the client has
// to wait.

const CR = 0x0d;
const LF = 0x0a;
const END_OF_DATA = Buffer.from("\r\n.\r\n");
/** Without the line end in front of it, which belongs to the message. */
const LAST_LINE_BYTES = 3;

/** While so much is unread, no more is read from the socket. */
const UNREAD_MAX = 64 * 1024;

/** interrupted: the client was silent for too long, the session has had its time, or the server stops. */
type Ended = "closed" | "interrupted";

/** too_long: a line over the limit. bare: one that ends with a LF alone, or has a CR in it (SMTP smuggling). */
export type LineOrFault =
  | { readonly line: string }
  | { readonly fault: Ended | "too_long" | "bare" };

/** `release` returns the bytes to the budget. too_large, no_room: the whole message was read and dropped. */
export type DataOrFault =
  | { readonly data: Buffer; readonly release: () => void }
  | { readonly fault: Ended | "too_large" | "no_room" };

/** The bytes of all messages under way. */
export type Budget = {
  readonly take: (bytes: number) => boolean;
  readonly giveBack: (bytes: number) => void;
};

export type Tls = { readonly version: string; readonly cipher: string };

export type MailWire = {
  readonly readLine: (bytesMax: number) => Promise<LineOrFault>;
  /** Up to the line with a single dot, which is not part of it; otherwise as it was sent. */
  readonly readData: (bytesMax: number, budget: Budget) => Promise<DataOrFault>;
  /** Whether the client has sent more than what was read. */
  readonly hasUnread: () => boolean;
  /** Resolves when the client may send more: one that reads no reply gets no further ones. */
  readonly write: (text: string) => Promise<void>;
  /** Undefined: the handshake failed. */
  readonly startTls: (context: SecureContext) => Promise<Tls | undefined>;
  /** Ends every read, now and later. What does not read goes on. */
  readonly interrupt: () => void;
  /** Sends the last words, and closes the connection when the client has read them, or a moment later. */
  readonly hangUp: (lastWords?: string) => void;
  readonly destroy: () => void;
};

type Times = { readonly idleMs: number; readonly sessionMs: number; readonly hangUpMs: number };

export const createMailWire = (plain: Socket, times: Times): MailWire => {
  const inbox = createInbox(plain, times);
  return {
    readLine: (bytesMax) => readLine(inbox, bytesMax),
    readData: (bytesMax, budget) => readData(inbox, createPieces(bytesMax, budget)),
    hasUnread: () => inbox.getUnread().length > 0,
    write: (text) => write(inbox, text),
    startTls: (context) => startTls(inbox, plain, context),
    interrupt: () => inbox.end("interrupted"),
    hangUp: (lastWords = "") => {
      const timer = setTimeout(() => plain.destroy(), times.hangUpMs);
      plain.once("close", () => clearTimeout(timer));
      inbox.getSocket().end(lastWords);
      inbox.getSocket().resume();
    },
    destroy: () => {
      inbox.getSocket().destroy();
      plain.destroy();
    },
  };
};

/** What has arrived and was not read, and how the connection is. */
const createInbox = (plain: Socket, { idleMs, sessionMs }: Times) => {
  let socket: Socket = plain;
  let unread: Buffer = Buffer.alloc(0);
  let ended: Ended | undefined;
  let wake = (): void => {};
  const onEnd = new Set<() => void>();

  const end = (how: Ended): void => {
    ended ??= how;
    wake();
    for (const listener of onEnd) listener();
  };
  const sessionTimer = setTimeout(() => end("interrupted"), sessionMs);
  plain.once("close", () => clearTimeout(sessionTimer));

  const handleBytes = (bytes: Buffer): void => {
    unread = unread.length === 0 ? bytes : Buffer.concat([unread, bytes]);
    if (unread.length >= UNREAD_MAX) socket.pause();
    wake();
  };
  const handleClose = (): void => end("closed");
  const attach = (next: Socket): void => {
    socket = next
      .on("data", handleBytes)
      .on("end", handleClose)
      .on("close", handleClose)
      .on("error", handleClose);
  };
  attach(plain);

  return {
    attach,
    detach: (): void => {
      socket.off("data", handleBytes).off("end", handleClose).off("close", handleClose);
      // In clear text, perhaps of an attacker between client and server (CVE-2011-0411).
      unread = Buffer.alloc(0);
    },
    end,
    getEnded: () => ended,
    getSocket: () => socket,
    getUnread: () => unread,
    take: (count: number): Buffer => {
      const taken = unread.subarray(0, count);
      unread = unread.subarray(count);
      if (unread.length < UNREAD_MAX && socket.isPaused()) socket.resume();
      return taken;
    },
    /** Undefined: more bytes are there. */
    waitForBytes: async (): Promise<Ended | undefined> => {
      if (ended) return ended;
      const idleTimer = setTimeout(() => end("interrupted"), idleMs);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      clearTimeout(idleTimer);
      return ended;
    },
    /** Whatever comes first: the promise, or the end of the connection or of its time. */
    untilEnd: async <T>(promise: Promise<T>): Promise<T | undefined> => {
      if (ended) return undefined;
      const { promise: over, resolve } = Promise.withResolvers<undefined>();
      const listener = (): void => resolve(undefined);
      onEnd.add(listener);
      const idleTimer = setTimeout(() => end("interrupted"), idleMs);
      const first = await Promise.race([promise, over]);
      clearTimeout(idleTimer);
      onEnd.delete(listener);
      return first;
    },
  };
};

type Inbox = ReturnType<typeof createInbox>;

const readLine = async (inbox: Inbox, bytesMax: number): Promise<LineOrFault> => {
  for (;;) {
    const unread = inbox.getUnread();
    const at = unread.indexOf(LF);
    if (at > bytesMax || (at === -1 && unread.length > bytesMax)) return { fault: "too_long" };
    if (at !== -1 && inbox.getEnded() !== "interrupted") {
      const line = inbox.take(at + 1);
      if (line.indexOf(CR) !== at - 1) return { fault: "bare" };
      return { line: line.toString("utf8", 0, at - 1) };
    }
    const fault = await inbox.waitForBytes();
    if (fault) return { fault };
  }
};

/** The pieces of a message, until they are too many. */
const createPieces = (bytesMax: number, budget: Budget) => {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let fault: "too_large" | "no_room" | undefined;
  const release = (): void => {
    budget.giveBack(bytes);
    bytes = 0;
    pieces = [];
  };
  const drop = (why: typeof fault): void => {
    fault = why;
    release();
  };
  return {
    release,
    add: (piece: Buffer): void => {
      if (fault) return;
      if (!budget.take(piece.length)) return drop("no_room");
      bytes += piece.length;
      pieces.push(piece);
      if (bytes - LAST_LINE_BYTES > bytesMax) drop("too_large");
    },
    finish: (): DataOrFault => {
      if (fault) return { fault };
      const whole = Buffer.concat(pieces);
      return { data: whole.subarray(0, whole.length - LAST_LINE_BYTES), release };
    },
  };
};

const readData = async (
  inbox: Inbox,
  { add, finish, release }: ReturnType<typeof createPieces>,
): Promise<DataOrFault> => {
  // The end of the line with DATA may be that in front of the dot: then the message is empty.
  let tail: Buffer = END_OF_DATA.subarray(0, 2);
  for (;;) {
    const unread = inbox.getUnread();
    const seen = Buffer.concat([tail, unread]);
    const at = seen.indexOf(END_OF_DATA);
    if (at !== -1) {
      add(inbox.take(at + END_OF_DATA.length - tail.length));
      return finish();
    }
    tail = Buffer.from(seen.subarray(-(END_OF_DATA.length - 1)));
    add(inbox.take(unread.length));
    const fault = await inbox.waitForBytes();
    if (!fault || (fault === "closed" && inbox.getUnread().length > 0)) continue;
    release();
    return { fault };
  }
};

const write = async (inbox: Inbox, text: string): Promise<void> => {
  const socket = inbox.getSocket();
  if (text === "" || inbox.getEnded() === "closed" || socket.write(text)) return;
  await inbox.untilEnd(new Promise<void>((resolve) => void socket.once("drain", resolve)));
};

const startTls = async (
  inbox: Inbox,
  plain: Socket,
  context: SecureContext,
): Promise<Tls | undefined> => {
  inbox.detach();
  const secured = new TLSSocket(plain, { isServer: true, secureContext: context });
  const handshake = new Promise<boolean>((resolve) => {
    secured.once("secure", () => resolve(true));
    for (const event of ["error", "close"] as const) secured.once(event, () => resolve(false));
  });
  inbox.attach(secured);
  const isSecured = await inbox.untilEnd(handshake);
  return isSecured
    ? { version: secured.getProtocol() ?? "", cipher: secured.getCipher().name }
    : undefined;
};

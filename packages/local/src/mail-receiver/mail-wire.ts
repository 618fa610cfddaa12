import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type SecureContext, TLSSocket, type TLSSocketOptions } from "node:tls";
import type { MailLimits } from "./limits.ts";
import { REPLIES } from "./replies.ts";

// The bytes of one connection. The session reads bytes when it needs a line or more of a message; otherwise the client has to wait.

const CR = 0x0d;
const LF = 0x0a;
const NOTHING = Buffer.alloc(0);

/** The socket's read-ahead. Each TLS record is a Buffer, with hundreds of bytes in addition to its content, which may be one byte. */
export const READ_AHEAD = { highWaterMark: 1_024 };

export type Tls = { readonly version: string; readonly cipher: string };
export type MailWire = ReturnType<typeof createMailWire>;

/** A header, a type and a tag: the least that a TLS record has besides its content (RFC 8446 §5.2). */
const FRAME_BYTES = 22;
/** An unfinished record does not count as a frame. */
const RECORD_BYTES_MAX = 16_640;
/** Many pieces are paid for in parts, so that they do not wait forever while other sessions take few. */
const PIECES_AT_ONCE = 50;
const PAUSE_MS = 50;

/** Tells whether the client may send `count` more pieces now. A piece costs the same, however small it is. */
type TakePieces = (count: number) => boolean;

export const createMailWire = (plain: Socket, times: MailLimits, takePieces: TakePieces) => {
  let socket: Socket = plain;
  let unread: Buffer = NOTHING;
  /** The last words to the client, or "" when the client closed the connection. */
  let ended: string | undefined;
  const { wakeUp, isWaiting, wait } = createWaiter();
  const pay = createPayment(() => plain.bytesRead - socket.bytesRead, takePieces);
  /** Ends every read, now and later. Other work continues, and the last words follow it. */
  const end = (lastWords: string): void => {
    ended ??= lastWords;
    wakeUp();
  };
  const handleClose = (): void => end("");
  const attach = (next: Socket): void => {
    socket = next.on("readable", wakeUp).on("drain", wakeUp).on("end", handleClose);
    socket.on("close", handleClose).on("error", handleClose);
  };
  const waitForChange = (): Promise<void> => wait(times.idleMs, () => end(REPLIES.timedOut));
  attach(plain);
  const timer = setTimeout(() => end(REPLIES.timedOut), times.sessionMs);
  plain.once("close", () => clearTimeout(timer));

  return {
    end,
    isWaiting,
    hasUnread: () => unread.length + socket.readableLength > 0,
    /** Returns the unused rest of the last read to the next read. */
    putBack: (bytes: Buffer): void => {
      unread = bytes;
    },
    /** Undefined when the connection has ended. */
    readBytes: async (): Promise<Buffer | undefined> => {
      for (;;) {
        if (ended) return undefined;
        const early = unread;
        unread = NOTHING;
        if (early.length > 0) return early;
        const bytes = socket.read() as Buffer | null;
        if (bytes) {
          await pay();
          return bytes;
        }
        if (ended === "") return undefined;
        await waitForChange();
      }
    },
    /** Resolves when the client may send more: a client that reads no reply gets no further replies. */
    write: async (text: string): Promise<void> => {
      if (text !== "" && socket.writable) socket.write(text);
      while (socket.writableNeedDrain && ended === undefined) await waitForChange();
    },
    startTls: async (secureContext: SecureContext): Promise<Tls | undefined> => {
      plain.off("readable", wakeUp).off("end", handleClose).off("close", handleClose);
      // These bytes came in clear text, perhaps from an attacker between client and server (CVE-2011-0411).
      unread = NOTHING;
      while (plain.read() !== null);
      const options: TLSSocketOptions = { isServer: true, secureContext, ...READ_AHEAD };
      const secured = new TLSSocket(plain, options);
      attach(secured);
      let isSecured = false;
      secured.once("secure", () => {
        isSecured = true;
        wakeUp();
      });
      while (!isSecured && ended === undefined) await waitForChange();
      if (!isSecured) return undefined;
      return { version: secured.getProtocol() ?? "", cipher: secured.getCipher().name };
    },
    /** Sends the last reply, and closes the connection when the client has read the reply, or a moment later. */
    hangUp: (): void => {
      const hangUpTimer = setTimeout(() => plain.destroy(), times.hangUpMs);
      plain.once("close", () => clearTimeout(hangUpTimer));
      if (socket.writable) socket.end(ended ?? "");
      socket.off("readable", wakeUp).resume();
    },
  };
};

/**
 * Pays for every read and every TLS record. Meanwhile the client has to wait, and later reads get fewer and larger pieces.
 * `countFrameBytes` returns the connection's bytes besides the content of TLS records.
 */
const createPayment = (countFrameBytes: () => number, takePieces: TakePieces) => {
  let paid = 0;
  return async (): Promise<void> => {
    const records = Math.floor((countFrameBytes() - RECORD_BYTES_MAX) / FRAME_BYTES);
    const due = Math.max(0, records - paid);
    paid += due;
    for (let left = 1 + due; left > 0; left -= PIECES_AT_ONCE)
      while (!takePieces(Math.min(left, PIECES_AT_ONCE))) await sleep(PAUSE_MS);
  };
};

const createWaiter = () => {
  let wake: (() => void) | undefined;
  const wakeUp = (): void => {
    wake?.();
    wake = undefined;
  };
  const wait = async (idleMs: number, onIdle: () => void): Promise<void> => {
    const timer = setTimeout(onIdle, idleMs);
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
    clearTimeout(timer);
  };
  return { wakeUp, wait, isWaiting: () => wake !== undefined };
};

/** Undefined when the connection has ended. */
export const readLine = async (wire: MailWire, bytesMax: number): Promise<string | undefined> => {
  let line: Buffer = NOTHING;
  for (;;) {
    const bytes = await wire.readBytes();
    if (!bytes) return undefined;
    line = line.length === 0 ? bytes : Buffer.concat([line, bytes]);
    const at = line.indexOf(LF);
    if (at > bytesMax || (at === -1 && line.length > bytesMax)) wire.end(REPLIES.lineTooLong);
    // After a bare line feed the next line may be an attacker's, inside of a message.
    else if (at !== -1 && line.indexOf(CR) !== at - 1) wire.end(REPLIES.bareLineEnd);
    else if (at !== -1) {
      wire.putBack(line.subarray(at + 1));
      return line.toString("utf8", 0, at - 1);
    }
  }
};

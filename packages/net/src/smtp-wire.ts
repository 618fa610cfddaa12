import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { Reply } from "@mailproof/mail/smtp/reply";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import {
  assertOneLine,
  type ReplyOrFault,
  type SmtpConnect,
  type SmtpWire,
  type WireFault,
} from "@mailproof/mail/smtp/wire";
import { isOwnError } from "./local-resource-errors.ts";

export const connectDirectly: SmtpConnect = async ({ ip, port }, { timeoutMs }) => {
  // The socket would look up a name again, past the address guard; an empty string would mean this machine.
  if (isIP(ip) === 0) return "no_address";
  const socket = await dial(ip, port, timeoutMs);
  return typeof socket === "string" ? socket : createSmtpWire(socket);
};

/** All sockets share this receive buffer: a new buffer for each piece would cost more than reading it. */
const RECEIVED = Buffer.allocUnsafeSlow(65_536);

/**
 * Opens a socket, or returns the fault. A later error of the socket only closes it. A listener to its data must copy the bytes that it
 * wants to keep.
 */
export const dial = (
  host: string,
  port: number,
  timeoutMs: number,
): Promise<Socket | WireFault> => {
  const callback = (bytes: number): boolean => socket.emit("data", RECEIVED.subarray(0, bytes));
  const onread = { buffer: RECEIVED, callback };
  const socket: Socket = connectTcp({ host, port, noDelay: true, onread });
  return new Promise((resolve) => {
    const settle = (outcome: Socket | WireFault): void => {
      clearTimeout(timer);
      if (outcome !== socket) socket.destroy();
      resolve(outcome);
    };
    const timer = setTimeout(() => settle("connect_timeout"), timeoutMs);
    socket.once("connect", () => settle(socket));
    socket.on("error", (error) => settle(toConnectFault(error)));
  });
};

const FAULT_BY_CODE: Readonly<Record<string, WireFault>> = {
  ECONNREFUSED: "connect_refused",
  ECONNRESET: "connect_refused",
  ETIMEDOUT: "connect_timeout",
};

const toConnectFault = (error: NodeJS.ErrnoException): WireFault =>
  isOwnError(error) ? "internal" : (FAULT_BY_CODE[error.code ?? ""] ?? "unreachable");

/** A mail server that waits for commands has no reason to send more than ten extra replies. */
const SURPLUS_MAX = 10;

/** The time for the server to close its side. Most servers close it after they have replied to QUIT. */
const HANG_UP_MS = 1_000;

const waitForClose = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once("close", () => resolve());
  });

const createUnreadReplies = () => {
  let replies: Reply[] = [];
  /** The number of replies that the server still owes: the greeting, then one for each line. */
  let due = 1;
  let pipelines = false;
  return {
    expect: (lines: number): void => {
      replies = replies.filter(({ code }) => code === 421);
      due = lines;
      pipelines ||= lines > 1;
    },
    /** Returns false for a reply too many: the session cannot tell the extra reply from the others, or match the later replies. */
    push: (reply: Reply): boolean => {
      const surplus = reply.code === 421 ? 0 : replies.length + 1 - due;
      if (surplus > (pipelines ? 0 : SURPLUS_MAX)) replies = [];
      else replies.push(reply);
      return replies.length > 0;
    },
    shift: (): Reply | undefined => {
      const next = replies.shift();
      if (next) due = Math.max(0, due - 1);
      return next;
    },
    clear: (): void => {
      replies = [];
    },
  };
};

/** The stream below a wire, which TLS replaces. It has one timer, because most waits are as long as the wait before. */
const createStream = (
  socket: Socket,
  onBytes: (bytes: Uint8Array) => void,
  onClose: () => void,
) => {
  let stream: Socket | TLSSocket = socket;
  let timer: NodeJS.Timeout | undefined;

  const setTimer = (handle: () => void, ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(handle, ms);
  };
  const destroy = (): void => {
    clearTimeout(timer);
    stream.destroy();
    socket.destroy();
  };
  return {
    setTimer,
    destroy,
    leavePolitely: (): void => {
      setTimer(destroy, HANG_UP_MS);
      stream.end();
    },
    write: (text: string): void => void stream.write(text),
    attach: (next: Socket | TLSSocket): void => {
      stream = next
        .on("data", onBytes)
        .on("end", onClose)
        .on("close", onClose)
        .on("error", onClose);
    },
    detach: (): void => {
      stream.off("data", onBytes).off("end", onClose).off("close", onClose);
    },
  };
};

/** Creates a wire over an open socket. Memory and time stay bounded, whatever the server does. */
export const createSmtpWire = (socket: Socket): SmtpWire => {
  let read = createReplyReader();
  const unread = createUnreadReplies();
  let broken: WireFault | null = null;
  let listener: ((reply: ReplyOrFault) => void) | null = null;

  const settle = (reply: ReplyOrFault): void => {
    const resolve = listener;
    listener = null;
    resolve?.(reply);
  };

  const breakOff = (fault: WireFault, leave = stream.destroy): void => {
    if (broken) return;
    broken = fault;
    leave();
    settle(fault);
  };

  const handleReply = (reply: ReplyOrFault): void => {
    if (typeof reply === "string") return breakOff(reply);
    if (!unread.push(reply)) return breakOff("not_smtp");
    const next = listener && unread.shift();
    if (next) settle(next);
  };
  const handleBytes = (bytes: Uint8Array): void => {
    if (!broken) read(bytes).forEach(handleReply);
  };
  const handleClose = (): void => (broken ? stream.destroy() : breakOff("closed"));
  /** The timer may outlast the reply that it was set for. */
  const handleTimeout = (): void => {
    if (listener) breakOff("timeout", stream.leavePolitely);
  };

  const stream = createStream(socket, handleBytes, handleClose);
  stream.attach(socket);
  return {
    send: (...lines) => {
      lines.forEach(assertOneLine);
      unread.expect(lines.length);
      if (!broken) stream.write(lines.map((line) => `${line}\r\n`).join(""));
    },
    receive: (waitMs) => {
      const next = unread.shift() ?? broken;
      if (next) return Promise.resolve(next);
      stream.setTimer(handleTimeout, waitMs);
      return new Promise((resolve) => {
        listener = resolve;
      });
    },
    startTls: async (host, waitMs) => {
      if (broken) return broken;
      // The server, or an attacker, sent bytes before the handshake in clear text (CVE-2011-0411): the wire drops them.
      stream.detach();
      read = createReplyReader();
      unread.clear();
      const secured = await upgrade(socket, host, waitMs);
      if (typeof secured === "string") breakOff(secured);
      else stream.attach(secured);
      return broken;
    },
    close: () => {
      breakOff("closed", stream.leavePolitely);
      return waitForClose(socket);
    },
  };
};

/**
 * Starts opportunistic TLS (RFC 7435): we would send mail to any server that answers, so a certificate proves nothing, and weak ciphers are
 * better than none. When the handshake fails, the caller tries again in clear text.
 */
const upgrade = (socket: Socket, host: string, waitMs: number): Promise<TLSSocket | WireFault> =>
  new Promise((resolve) => {
    const secured = connectTls({
      socket,
      rejectUnauthorized: false,
      minVersion: "TLSv1",
      ciphers: "DEFAULT@SECLEVEL=0",
      // RFC 6066 §3: an IP address is not a server name.
      ...(isIP(host) === 0 && { servername: host.replace(/\.$/, "") }),
    });
    const settle = (outcome: TLSSocket | WireFault): void => {
      clearTimeout(timer);
      secured.off("close", fail);
      if (outcome !== secured) secured.destroy();
      resolve(outcome);
    };
    const fail = (): void => settle("tls_failed");
    const timer = setTimeout(fail, waitMs);
    secured.once("secureConnect", () => settle(secured));
    secured.once("close", fail);
    secured.on("error", fail);
  });

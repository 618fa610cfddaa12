import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { createReplyReader } from "@mailproof/core/mail/smtp/reply-reader";
import {
  assertOneLine,
  type ReplyOrFault,
  type SmtpConnect,
  type SmtpWire,
  type WireFault,
} from "@mailproof/core/mail/smtp/wire";
import { isOwnError } from "./local-resource-errors.ts";

/** Connects without a proxy. */
export const connectDirectly: SmtpConnect = async ({ ip, port }, { timeoutMs }) => {
  // A name would be looked up again, past the address guard; an empty string would mean this machine.
  if (isIP(ip) === 0) return "no_address";
  const socket = await dial(ip, port, timeoutMs);
  return typeof socket === "string" ? socket : createSmtpWire(socket);
};

/** Opens a socket, or returns the fault. Later errors of the socket appear as its close. */
export const dial = (
  host: string,
  port: number,
  timeoutMs: number,
): Promise<Socket | WireFault> => {
  const socket = connectTcp({ host, port, noDelay: true });
  return new Promise((resolve) => {
    const settle = (outcome: Socket | WireFault): void => {
      clearTimeout(timer);
      if (outcome !== socket) socket.destroy();
      resolve(outcome);
    };
    const timer = setTimeout(() => settle("connect_timeout"), timeoutMs);
    socket.once("connect", () => settle(socket));
    // Stays for the socket's life: an error without a listener would end the process.
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

/** A server that waits for commands has no reason to send more replies than this. */
const UNREAD_MAX = 10;

/** How long a server has to hang up, too. Most have by then: they do when they have replied to QUIT. */
const HANG_UP_MS = 1_000;

const destroy = (socket: Socket, stream: Socket): void => {
  stream.destroy();
  socket.destroy();
};

const leavePolitely = (socket: Socket, stream: Socket): void => {
  const over = () => destroy(socket, stream);
  const timer = setTimeout(over, HANG_UP_MS);
  socket.once("close", () => clearTimeout(timer));
  stream.once("end", over).once("close", over).end();
};

const waitForClose = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once("close", () => resolve());
  });

/** A wire over an open socket. Whatever the server does, memory and time stay bounded. */
export const createSmtpWire = (socket: Socket): SmtpWire => {
  let stream: Socket | TLSSocket = socket;
  let read = createReplyReader();
  let unread: ReplyOrFault[] = [];
  let broken: WireFault | null = null;
  let listener: ((reply: ReplyOrFault) => void) | null = null;

  const breakOff = (fault: WireFault, leave = destroy): void => {
    if (broken) return;
    broken = fault;
    leave(socket, stream);
    listener?.(fault);
  };

  const handleReply = (reply: ReplyOrFault): void => {
    if (typeof reply === "string") breakOff(reply);
    else if (listener) listener(reply);
    else if (unread.length < UNREAD_MAX) unread.push(reply);
    else breakOff("not_smtp");
  };

  const handleBytes = (bytes: Uint8Array): void => {
    if (!broken) read(bytes).forEach(handleReply);
  };
  const handleClose = (): void => breakOff("closed");

  const attach = (next: Socket | TLSSocket): void => {
    stream = next
      .on("data", handleBytes)
      .on("end", handleClose)
      .on("close", handleClose)
      .on("error", handleClose);
  };

  /** Bytes before the handshake were sent in clear text, perhaps by an attacker (CVE-2011-0411): they are dropped. */
  const detach = (): void => {
    stream.off("data", handleBytes).off("end", handleClose).off("close", handleClose);
    read = createReplyReader();
    unread = [];
  };

  attach(socket);
  return {
    send: (line) => {
      assertOneLine(line);
      unread = unread.filter((reply) => typeof reply === "object" && reply.code === 421);
      if (!broken) stream.write(`${line}\r\n`);
    },
    receive: (waitMs) => {
      const next = unread.shift() ?? broken;
      if (next) return Promise.resolve(next);
      return new Promise((resolve) => {
        const timer = setTimeout(() => breakOff("timeout", leavePolitely), waitMs);
        listener = (reply) => {
          clearTimeout(timer);
          listener = null;
          resolve(reply);
        };
      });
    },
    startTls: async (host, waitMs) => {
      if (broken) return broken;
      detach();
      const secured = await upgrade(socket, host, waitMs);
      if (typeof secured === "string") breakOff(secured);
      else attach(secured);
      return broken;
    },
    close: () => {
      breakOff("closed", leavePolitely);
      return waitForClose(socket);
    },
  };
};

/**
 * Opportunistic (RFC 7435): mail would be sent to any server that answers, so a certificate proves nothing here, and
 * weak ciphers are better than none. When it fails even so, the caller tries again in clear text.
 */
const upgrade = (socket: Socket, host: string, waitMs: number): Promise<TLSSocket | WireFault> =>
  new Promise((resolve) => {
    const secured = connectTls({
      socket,
      rejectUnauthorized: false,
      minVersion: "TLSv1",
      ciphers: "DEFAULT@SECLEVEL=0",
      // RFC 6066 §3: an address is no server name.
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

import type { Reply } from "./reply.ts";
import type { ReplyFault } from "./reply-reader.ts";

/**
 * The reason for a missing reply. No fault proves anything about a mailbox. `no_address`: the mail host has no address that we may connect
 * to. `unreachable`: no route leads there. `internal`: this machine lacked descriptors, memory or ports. `timeout`: connected, but no reply
 * arrived in time. `deadline`: the caller's time was up before we connected.
 */
export type WireFault =
  | "no_address"
  | "connect_refused"
  | "connect_timeout"
  | "unreachable"
  | "proxy_failed"
  | "timeout"
  | "deadline"
  | "closed"
  | "tls_failed"
  | "internal"
  | ReplyFault;

export type ReplyOrFault = Reply | WireFault;

export const isFault = (reply: ReplyOrFault): reply is WireFault => typeof reply === "string";

/**
 * One connection to a mail server. No method throws because of the network. After a fault every call returns that fault again: a late reply
 * must not pass for the reply to the next command.
 */
export type SmtpWire = {
  /**
   * Sends lines in one packet. Unread replies cannot answer these lines, so `send` discards them, except a 421. Once several lines have
   * gone out together, more replies than lines are a fault, because the session cannot match them.
   */
  send(...lines: readonly string[]): void;
  /** Returns the next whole reply. `waitMs` bounds the whole reply, not the pause between two bytes. */
  receive(waitMs: number): Promise<ReplyOrFault>;
  /** Returns null when the session is encrypted from here on. `host` is the server name for TLS. */
  startTls(host: string, waitMs: number): Promise<WireFault | null>;
  /** Hangs up, and waits a moment until the server has hung up, too: until then the server counts our connection. May be called twice. */
  close(): Promise<void>;
};

/** `ip` has passed the address guard, and the wire connects to exactly this address. `host` is the mail host's name. */
export type SmtpTarget = { readonly ip: string; readonly port: number; readonly host: string };

export type ConnectOptions = {
  readonly timeoutMs: number;
  /** Without `exit`, calls with the same key use the same exit while it works. */
  readonly affinityKey: string;
  readonly exit?: string;
};

export const DIRECT_EXIT = "direct";

/** The port to mail servers. It never rejects. */
export type SmtpConnect = (
  target: SmtpTarget,
  options: ConnectOptions,
) => Promise<SmtpWire | WireFault>;

// A line break in an address would start a second command.
const CONTROL = /\p{Cc}/u;

/** Throws for a line with a line break, which only a bug of ours can produce. */
export const assertOneLine = (line: string): void => {
  if (CONTROL.test(line)) throw new RangeError("an SMTP line holds a control character");
};

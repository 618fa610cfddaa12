import type { Reply } from "./reply.ts";
import type { ReplyFault } from "./reply-reader.ts";

/**
 * What kept us from an answer. None of these says anything about a mailbox.
 * `no_address`: the mail host has no address that we may connect to. `unreachable`: no way leads there.
 * `internal`: this machine lacked descriptors, memory or ports. `timeout`: connected, but no reply arrived in time.
 * `deadline`: the caller's time was up before we connected.
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

/** A reply, or why there is none. */
export type ReplyOrFault = Reply | WireFault;

export const isFault = (reply: ReplyOrFault): reply is WireFault => typeof reply === "string";

/**
 * One connection to a mail server. Nothing here throws for the network's sake, and after a fault every call
 * comes to that fault again: a late answer must not pass for the next one's.
 */
export type SmtpWire = {
  /**
   * Sends lines, as one packet. Unread input is not an answer to them and is discarded, except a 421. Once several
   * have gone out together, more replies than lines are a fault: none can be matched.
   */
  send(...lines: readonly string[]): void;
  /** The next whole reply. `waitMs` bounds all of it, not the pause between two bytes. */
  receive(waitMs: number): Promise<ReplyOrFault>;
  /** Null: from here on the session is encrypted. `host` is the server name for TLS. */
  startTls(host: string, waitMs: number): Promise<WireFault | null>;
  /**
   * Hangs up, and is done when the other end has, too: until then it counts us among its guests. Who does not is
   * waited for a moment. May be called twice.
   */
  close(): Promise<void>;
};

/** `ip` has passed the address guard: it is connected to as it stands. `host` is the mail host's name. */
export type SmtpTarget = { readonly ip: string; readonly port: number; readonly host: string };

export type ConnectOptions = {
  readonly timeoutMs: number;
  /** Without `exit`: calls with one key leave by one exit while it works. */
  readonly affinityKey: string;
  /** The exit to leave by. Absent: any of them. */
  readonly exit?: string;
};

/** The exit of a process that uses no proxy. */
export const DIRECT_EXIT = "direct";

/** The port to mail servers. Never rejects. */
export type SmtpConnect = (
  target: SmtpTarget,
  options: ConnectOptions,
) => Promise<SmtpWire | WireFault>;

// A line break in an address would start a command of its own.
const CONTROL = /\p{Cc}/u;

/** A line of two lines is our own mistake, and never leaves. */
export const assertOneLine = (line: string): void => {
  if (CONTROL.test(line)) throw new RangeError("an SMTP line holds a control character");
};

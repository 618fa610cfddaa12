import { randomInt } from "node:crypto";
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { connect, isIPv6 } from "node:net";
import type { DnsRecordType } from "@mailproof/mail/dns/dns";
import {
  type DnsQuery,
  type DnsReply,
  decodeReply,
  encodeQuestion,
  isTooLong,
  readId,
} from "./dns-message.ts";
import { isOwnError } from "./local-resource-errors.ts";

// A DNS client for one name server, over UDP and TCP. Many questions share a UDP socket, and their ids tell their answers apart; the client
// fetches an answer that does not fit over a separate TCP connection.

export type NameServer = { readonly host: string; readonly port: number };
export type DnsQuestion<T extends DnsRecordType> = { readonly type: T; readonly name: string };

/** Undefined when no answer arrived in time, or when nothing listens at the name server's address. */
export type DnsExchangeResult<T extends DnsRecordType> = DnsReply<T> | typeof INTERNAL | undefined;

const INTERNAL = { kind: "internal" } as const;

const DNS_PORT = 53;

/** Reads a server in the notation of node:dns: "192.0.2.1", "192.0.2.1:5353", "2001:db8::1" or "[2001:db8::1]:53". */
export const parseServer = (server: string): NameServer => {
  if (isIPv6(server)) return { host: server, port: DNS_PORT };
  const [, v6, v4 = "", port = DNS_PORT] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(server) ?? [];
  return { host: v6 ?? v4, port: Number(port) };
};

/** With more than about 500 questions in flight a default receive buffer overflows; the system may allow a smaller buffer. */
const RECEIVE_BYTES = 1024 * 1024;
/** After this number of questions the client changes the UDP port, so a forger has to guess the port as well as the id. */
const QUESTIONS_PER_SOCKET = 1_000;
const ID_COUNT = 0x1_00_00;

type UdpChannel = {
  readonly socket: UdpSocket;
  readonly failure: Promise<Error | null>;
  readonly waiting: Map<number, (bytes: Buffer | undefined) => void>;
  questions: number;
};

export type UdpClient = {
  readonly sendQuery: <T extends DnsRecordType>(
    question: DnsQuestion<T>,
    options: { readonly edns: boolean; readonly waitMs: number },
  ) => Promise<DnsExchangeResult<T>>;
  readonly close: () => void;
};

export const createUdpClient = (server: NameServer): UdpClient => {
  const open = new Set<UdpChannel>();
  let current: UdpChannel | undefined;

  const closeIfDone = (channel: UdpChannel): void => {
    if (channel === current || channel.waiting.size > 0 || !open.delete(channel)) return;
    channel.socket.close();
  };

  const getChannel = (): UdpChannel => {
    if (current && current.questions < QUESTIONS_PER_SOCKET) return current;
    const old = current;
    current = openChannel(server);
    open.add(current);
    if (old) closeIfDone(old);
    return current;
  };

  const sendQuery: UdpClient["sendQuery"] = async (question, { edns, waitMs }) => {
    const channel = getChannel();
    channel.questions += 1;
    const query = { id: chooseFreeId(channel), ...question };
    const { promise, resolve } = Promise.withResolvers<DnsExchangeResult<typeof question.type>>();
    channel.waiting.set(query.id, (bytes) => {
      const reply = bytes && decodeReply(bytes, query);
      if (reply?.kind !== "unrelated") resolve(reply as DnsExchangeResult<typeof question.type>);
    });
    const timer = setTimeout(resolve, waitMs, undefined);
    try {
      const failure = await channel.failure;
      // The next question opens a new socket: the process may have been short of descriptors when it opened this one.
      if (failure && current === channel) current = undefined;
      if (failure) return isOwnError(failure) ? INTERNAL : undefined;
      // Any other packet that the socket cannot send counts as lost; the next attempt reports the fault.
      channel.socket.send(encodeQuestion(query, edns), (error) => {
        if (isOwnError(error)) resolve(INTERNAL);
      });
      return await promise;
    } finally {
      clearTimeout(timer);
      channel.waiting.delete(query.id);
      closeIfDone(channel);
    }
  };

  const close = (): void => {
    current = undefined;
    for (const channel of open) {
      for (const settle of channel.waiting.values()) settle(undefined);
      closeIfDone(channel);
    }
  };
  return { sendQuery, close };
};

/** A connected socket receives only from the server, and gets an error when nothing listens at its address. */
const openChannel = ({ host, port }: NameServer): UdpChannel => {
  const waiting: UdpChannel["waiting"] = new Map();
  const socket = createSocket({
    type: isIPv6(host) ? "udp6" : "udp4",
    recvBufferSize: RECEIVE_BYTES,
  });
  const settleAll = (): void => {
    for (const settle of waiting.values()) settle(undefined);
  };
  socket.on("error", settleAll);
  socket.on("message", (bytes) => waiting.get(readId(bytes) ?? -1)?.(bytes));
  const failure = new Promise<Error | null>((resolve) => {
    socket.once("error", resolve);
    socket.connect(port, host, (error?: Error) => resolve(error ?? null));
  });
  // The timers of the questions keep the process alive; the socket must not.
  socket.unref();
  return { socket, failure, waiting, questions: 0 };
};

const chooseFreeId = ({ waiting }: UdpChannel): number => {
  let id = randomInt(ID_COUNT);
  while (waiting.has(id)) id = randomInt(ID_COUNT);
  return id;
};

const LENGTH_BYTES = 2;

/**
 * Asks over TCP, where a length of two bytes precedes each message (RFC 1035 §4.2.2). The client refuses a message that is too long when it
 * has read the length, and keeps none of its bytes.
 */
export const queryOverTcp = async <T extends DnsRecordType>(
  server: NameServer,
  question: DnsQuestion<T>,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
): Promise<DnsExchangeResult<T>> => {
  const query: DnsQuery & { readonly type: T } = { id: randomInt(ID_COUNT), ...question };
  const socket = connect({ ...server, signal });
  const timer = setTimeout(() => socket.destroy(), waitMs);
  try {
    const bytes = encodeQuestion(query, false);
    socket.write(Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]));
    const reply = await readMessage(socket, question.type);
    if (reply === "too_large") return { kind: "too_large" };
    const decoded = reply && decodeReply(reply, query);
    // Only the server can send on this connection: a message that does not match, or is truncated even over TCP, counts as SERVFAIL.
    return decoded && (decoded.kind === "unrelated" || decoded.kind === "truncated")
      ? { kind: "servfail" }
      : decoded;
  } catch (error) {
    return isOwnError(error) ? INTERNAL : undefined;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
};

const readMessage = async (
  socket: AsyncIterable<Buffer>,
  type: DnsRecordType,
): Promise<Buffer | "too_large" | undefined> => {
  const chunks: Buffer[] = [];
  let received = 0;
  let end = Number.POSITIVE_INFINITY;
  for await (const chunk of socket) {
    chunks.push(chunk);
    received += chunk.length;
    if (end === Number.POSITIVE_INFINITY && received >= LENGTH_BYTES) {
      const length = Buffer.concat(chunks).readUInt16BE();
      if (isTooLong(type, length)) return "too_large";
      end = LENGTH_BYTES + length;
    }
    if (received >= end) return Buffer.concat(chunks).subarray(LENGTH_BYTES, end);
  }
  return undefined;
};

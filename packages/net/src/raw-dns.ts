import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { on, once } from "node:events";
import { connect, isIPv6 } from "node:net";
import type { DnsOutcome, RecordOf, RecordType } from "@mailproof/core/mail/dns/dns";
import packet, { type Packet } from "dns-packet";

type Options = {
  /** As node:dns has them: "192.0.2.1", "192.0.2.1:5353" or "[2001:db8::1]:53". */
  readonly servers: readonly string[];
  readonly tries: number;
  /** For each of them. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
};

const TIMEOUT = { kind: "timeout" } as const;
const SERVFAIL = { kind: "servfail" } as const;

/**
 * A question that node:dns refuses to put, because there are signs in the name that no host has. SPF needs it: what
 * a policy's macros make of a mail may hold any of them (RFC 7208 §7). One socket each, as there are few.
 */
export const askRaw = async <T extends RecordType>(
  type: T,
  name: string,
  { servers, tries, waitMs, signal }: Options,
): Promise<DnsOutcome<RecordOf[T]>> => {
  for (let attempt = 0; attempt < tries && !signal.aborted; attempt += 1) {
    const place = placeOf(servers[attempt % servers.length] ?? "");
    const patience = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
    const question: Question = { id: randomInt(0x1_0000), type, name };
    const reply = await overUdp(place, question, patience);
    const whole = reply && isTruncated(reply) ? await overTcp(place, question, patience) : reply;
    if (whole) return outcomeOf(type, whole);
  }
  return TIMEOUT;
};

type Place = { readonly host: string; readonly port: number };
type Question = { readonly id: number; readonly type: RecordType; readonly name: string };
/** Bytes that are ours and no DNS. */
type Reply = Packet | "garbled";

const DNS_PORT = 53;

const placeOf = (server: string): Place => {
  if (isIPv6(server)) return { host: server, port: DNS_PORT };
  const [, v6, v4 = "", port = DNS_PORT] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(server) ?? [];
  return { host: v6 ?? v4, port: Number(port) };
};

const encoded = ({ id, type, name }: Question): Buffer =>
  packet.encode({
    id,
    type: "query",
    flags: packet.RECURSION_DESIRED,
    questions: [{ type, name }],
  });

/** A connected socket hears nobody but the server; undefined is silence, or nobody there. */
const overUdp = async (
  { host, port }: Place,
  question: Question,
  signal: AbortSignal,
): Promise<Reply | undefined> => {
  const socket = createSocket(isIPv6(host) ? "udp6" : "udp4");
  try {
    socket.connect(port, host);
    await once(socket, "connect", { signal });
    socket.send(encoded(question));
    for await (const [bytes] of on(socket, "message", { signal })) {
      const reply = replyTo(question, bytes as Buffer);
      if (reply) return reply;
    }
  } catch {
    // The time is over, or the system told that nobody listens: the next try finds out.
  } finally {
    socket.close();
  }
  return undefined;
};

/** Over TCP every message comes after its length in two bytes (RFC 1035 §4.2.2). */
const overTcp = async (
  place: Place,
  question: Question,
  signal: AbortSignal,
): Promise<Reply | undefined> => {
  const socket = connect({ ...place, signal });
  try {
    const bytes = encoded(question);
    socket.write(Buffer.from([bytes.length >> 8, bytes.length & 0xff]));
    socket.write(bytes);
    let heard = Buffer.alloc(0);
    for await (const chunk of socket) {
      heard = Buffer.concat([heard, chunk as Buffer]);
      const end = heard.length < 2 ? Number.POSITIVE_INFINITY : 2 + heard.readUInt16BE();
      if (heard.length >= end) return replyTo(question, heard.subarray(2, end)) ?? "garbled";
    }
  } catch {
    // As above.
  } finally {
    socket.destroy();
  }
  return undefined;
};

/** Undefined: an answer to another question, or a forged one, and ours may still come. */
const replyTo = ({ id, type, name }: Question, bytes: Buffer): Reply | undefined => {
  if (bytes.length < 2 || bytes.readUInt16BE() !== id) return undefined;
  const reply = decoded(bytes);
  if (reply === "garbled") return reply;
  const [asked] = reply.questions ?? [];
  const isOurs = asked?.type === type && asked.name.toLowerCase() === name.toLowerCase();
  return reply.type === "response" && isOurs ? reply : undefined;
};

const decoded = (bytes: Buffer): Reply => {
  try {
    return packet.decode(bytes);
  } catch {
    return "garbled";
  }
};

const isTruncated = (reply: Reply): boolean =>
  reply !== "garbled" && ((reply.flags ?? 0) & packet.TRUNCATED_RESPONSE) !== 0;

const RCODE = 0xf;
const OUTCOME_OF: Readonly<Record<number, DnsOutcome<never>>> = {
  3: { kind: "nxdomain" },
  5: { kind: "refused" },
};

const outcomeOf = <T extends RecordType>(type: T, reply: Reply): DnsOutcome<RecordOf[T]> => {
  if (reply === "garbled") return SERVFAIL;
  const code = (reply.flags ?? 0) & RCODE;
  if (code !== 0) return OUTCOME_OF[code] ?? SERVFAIL;
  const answers = (reply.answers ?? []).filter((answer) => answer.type === type);
  if (answers.length === 0) return { kind: "nodata" };
  return { kind: "ok", records: answers.map(({ data }) => READ[type](data)) };
};

const text = (data: unknown): string => data as string;

/** From what dns-packet makes of a record to what one is to us. */
const READ: { readonly [T in RecordType]: (data: unknown) => RecordOf[T] } = {
  A: text,
  AAAA: text,
  MX: (data) => {
    const { preference, exchange } = data as { preference: number; exchange: string };
    return { priority: preference, exchange: exchange === "." ? "" : exchange };
  },
  TXT: (data) => Buffer.concat(data as readonly Buffer[]).toString("latin1"),
  PTR: text,
  CNAME: text,
  NS: text,
};

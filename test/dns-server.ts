import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { RecordType } from "@mailproof/core/mail/dns/dns";
import * as packets from "dns-packet";
import { type Answer, authorityOf, mxOf, type Zone } from "./zone.ts";

export type DnsServer = {
  /** As settings name it: "127.0.0.1:5353". */
  readonly address: string;
  /** Every question that came in, with its transport: "udp MX example.com". */
  readonly questions: readonly string[];
  readonly close: () => Promise<void>;
};

const RCODE = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 };
/** RFC 1035 §4.2.1. A longer answer over UDP is cut off, and the client repeats the question over TCP. */
const UDP_BYTES_MAX = 512;
const STRING_BYTES_MAX = 255;

/** A real name server on loopback that knows one zone: UDP and TCP on one port. TIMEOUT is silence. */
export const serveZone = async (zone: Zone): Promise<DnsServer> => {
  const questions: string[] = [];
  const open = new Set<Socket>();
  const authority = authorityOf(zone);

  const reply = (question: Buffer, transport: "udp" | "tcp"): Buffer | undefined => {
    const { questions: asked } = packets.decode(question);
    questions.push(...asked.map(({ type, name }) => `${transport} ${type} ${name}`));
    return replyTo(authority, question, transport === "udp" ? UDP_BYTES_MAX : Infinity);
  };

  const { udp, tcp } = await onOnePort();
  udp.on("message", (question, { port, address }) => {
    const bytes = reply(question, "udp");
    if (bytes) udp.send(bytes, port, address);
  });
  tcp.on("connection", (socket) => {
    open.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => open.delete(socket));
    onMessage(socket, (question) => {
      const bytes = reply(question, "tcp");
      if (bytes) socket.write(Buffer.concat([lengthOf(bytes), bytes]));
    });
  });

  const close = async (): Promise<void> => {
    for (const socket of open) socket.destroy();
    await Promise.all([once(udp.close(), "close"), once(tcp.close(), "close")]);
  };
  return { address: `127.0.0.1:${udp.address().port}`, questions, close };
};

const replyTo = (
  authority: (type: RecordType, name: string) => Answer,
  bytes: Buffer,
  bytesMax: number,
): Buffer | undefined => {
  const { id, questions } = packets.decode(bytes);
  const [question] = questions;
  if (!question) return undefined;
  const type = question.type as RecordType;
  const { code, aliases, owner, records } = authority(type, question.name);
  if (code === "TIMEOUT") return undefined;

  const flags =
    packets.AUTHORITATIVE_ANSWER |
    packets.RECURSION_DESIRED |
    packets.RECURSION_AVAILABLE |
    RCODE[code];
  const head = { type: "response", id, questions, flags } as const;
  const full = packets.encode({
    ...head,
    answers: [
      ...aliases.map(({ from, to }) => ({ name: from, type: "CNAME", ttl: 60, data: to })),
      ...records.map((text) => ({ name: owner, type, ttl: 60, data: dataOf(type, text) })),
    ],
  });
  if (full.length <= bytesMax) return full;
  return packets.encode({ ...head, flags: flags | packets.TRUNCATED_RESPONSE, answers: [] });
};

const dataOf = (type: RecordType, text: string): unknown => {
  if (type === "MX") {
    const { priority, exchange } = mxOf(text);
    return { preference: priority, exchange: exchange || "." };
  }
  if (type !== "TXT") return text;
  const bytes = Buffer.from(text, "latin1");
  const strings = Array.from({ length: Math.ceil(bytes.length / STRING_BYTES_MAX) || 1 }, (_, n) =>
    bytes.subarray(n * STRING_BYTES_MAX, (n + 1) * STRING_BYTES_MAX),
  );
  return strings;
};

/** RFC 1035 §4.2.2: over TCP each message follows its length in two bytes. */
const onMessage = (socket: Socket, take: (message: Buffer) => void): void => {
  let waiting = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    waiting = Buffer.concat([waiting, chunk]);
    while (waiting.length >= 2 && waiting.length >= 2 + waiting.readUInt16BE(0)) {
      const end = 2 + waiting.readUInt16BE(0);
      take(waiting.subarray(2, end));
      waiting = waiting.subarray(end);
    }
  });
};

const lengthOf = (bytes: Buffer): Buffer => {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return length;
};

/** The system picks a port that is free for TCP; the same one may be taken for UDP, then it picks another. */
const onOnePort = async (): Promise<{ udp: UdpSocket; tcp: Server }> => {
  for (let attempt = 0; attempt < 20; attempt++) {
    const tcp = createServer().listen(0, "127.0.0.1");
    await once(tcp, "listening");
    const udp = createSocket("udp4").bind((tcp.address() as AddressInfo).port, "127.0.0.1");
    try {
      await once(udp, "listening");
      return { udp, tcp };
    } catch {
      tcp.close();
    }
  }
  throw new Error("No port was free for both UDP and TCP");
};

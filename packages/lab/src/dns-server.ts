import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { Answer, Packet, Question } from "dns-packet";
import * as packet from "dns-packet";
import { createZoneLookup, type ZoneLookup, type Zones } from "./zone.ts";

const HOST = "127.0.0.1";
const TTL_SECONDS = 60;
/** A client without EDNS0 accepts at least 512 bytes over UDP (RFC 1035 §4.2.1). */
const UDP_BYTES = 512;
const TCP_BYTES = 65_535;
const CHAIN_MAX = 8;
/** A burst of questions waits instead of being lost; the system may allow less. */
const RECEIVE_BYTES = 4 * 1024 * 1024;
const PORT_TRIES = 20;
/** A question with EDNS0 gets a response with EDNS0 (RFC 6891 §6.1.1). */
const OPT: Answer = { type: "OPT", name: ".", udpPayloadSize: 4096, flags: 0, options: [] };

/**
 * Serves DNS over UDP and TCP on one port. It answers for its zones and refuses all other names. `onQuestion` gets every question with its
 * transport: "udp MX example.com".
 */
export const startDnsServer = async (
  zones: Zones,
  port: number,
  onQuestion: (question: string) => void = () => {},
) => {
  const lookup = createZoneLookup(zones);
  const open = new Set<Socket>();
  let queries = 0;
  const handleQuery = (bytes: Buffer, transport: "udp" | "tcp") => {
    queries += 1;
    const query = decode(bytes);
    for (const { type, name } of query?.questions ?? []) onQuestion(`${transport} ${type} ${name}`);
    return buildResponse(lookup, query, transport === "udp" ? UDP_BYTES : TCP_BYTES);
  };
  const { udp, tcp } = await bindBoth(port);
  udp.on("message", (bytes, { address, port: to }) => {
    const reply = handleQuery(bytes, "udp");
    if (reply) udp.send(reply, to, address);
  });
  tcp.on("connection", (socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    socket.on("error", () => socket.destroy());
    serveTcp(socket, (bytes) => handleQuery(bytes, "tcp"));
  });
  const close = async () => {
    for (const socket of open) socket.destroy();
    await Promise.all([
      new Promise<void>((resolve) => udp.close(resolve)),
      new Promise<void>((resolve) => tcp.close(() => resolve())),
    ]);
  };
  return { address: `${HOST}:${udp.address().port}`, queries: () => queries, close };
};

/** A free UDP port may be in use for TCP: then the next free port is tried. */
const bindBoth = async (port: number): Promise<{ udp: UdpSocket; tcp: Server }> => {
  for (let tries = 1; ; tries += 1) {
    const tcp = createServer().listen(port, HOST);
    await once(tcp, "listening");
    const udp = createSocket({ type: "udp4", recvBufferSize: RECEIVE_BYTES }).bind(
      (tcp.address() as AddressInfo).port,
      HOST,
    );
    try {
      await once(udp, "listening");
      return { udp, tcp };
    } catch (error) {
      tcp.close();
      if (port !== 0 || tries === PORT_TRIES) throw error;
    }
  }
};

/** Over TCP a length of two bytes precedes every message (RFC 1035 §4.2.2). */
const serveTcp = (socket: Socket, respond: (bytes: Buffer) => Buffer | undefined): void => {
  let buffered = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    buffered = Buffer.concat([buffered, chunk]);
    while (buffered.length >= 2 && buffered.length >= 2 + buffered.readUInt16BE()) {
      const end = 2 + buffered.readUInt16BE();
      const reply = respond(buffered.subarray(2, end));
      buffered = buffered.subarray(end);
      if (!reply) continue;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(reply.length);
      socket.write(Buffer.concat([length, reply]));
    }
  });
};

/** Undefined means silence: the name never answers, or the bytes were no question. */
const buildResponse = (
  lookup: ZoneLookup,
  query: Packet | undefined,
  bytesMax: number,
): Buffer | undefined => {
  const question = query?.questions?.[0];
  if (!query || !question || query.type !== "query") return undefined;
  const resolved = resolve(lookup, question);
  if (resolved === "TIMEOUT") return undefined;
  const { rcode, isSigned, ...sections } = resolved;
  const edns = query.additionals?.find(({ type }) => type === "OPT");
  const response: Packet = {
    id: query.id ?? 0,
    type: "response",
    flags:
      rcode |
      packet.AUTHORITATIVE_ANSWER |
      packet.RECURSION_AVAILABLE |
      // RFC 6840 §5.8: only a question that requests the bit gets it.
      (isSigned ? (query.flags ?? 0) & packet.AUTHENTIC_DATA : 0) |
      ((query.flags ?? 0) & packet.RECURSION_DESIRED),
    questions: [question],
    ...sections,
    additionals: edns ? [OPT] : [],
  };
  const encoded = packet.encode(response);
  if (encoded.length <= Math.max(bytesMax, edns?.udpPayloadSize ?? 0)) return encoded;
  const flags = (response.flags ?? 0) | packet.TRUNCATED_RESPONSE;
  return packet.encode({ ...response, flags, answers: [], authorities: [] });
};

const decode = (bytes: Buffer): Packet | undefined => {
  try {
    return packet.decode(bytes);
  } catch {
    return undefined;
  }
};

type Resolution = {
  readonly rcode: number;
  readonly answers: readonly Answer[];
  readonly authorities?: readonly Answer[];
  readonly isSigned?: boolean;
};

const RCODE = { SERVFAIL: 2, NXDOMAIN: 3, DENIED: 3, REFUSED: 5 };

const resolve = (lookup: ZoneLookup, { type, name }: Question): Resolution | "TIMEOUT" => {
  const answers: Answer[] = [];
  let isSigned = true;
  let owner = name;
  for (let hop = 0; hop < CHAIN_MAX; hop += 1) {
    const found = lookup(type, owner);
    if (found.kind === "fails") {
      if (found.how === "TIMEOUT") return "TIMEOUT";
      const leavesOurZones = found.how === "REFUSED" && answers.length > 0;
      return leavesOurZones ? { rcode: 0, answers } : { rcode: RCODE[found.how], answers };
    }
    if (found.kind !== "records") {
      const rcode = found.kind === "nxdomain" ? RCODE.NXDOMAIN : 0;
      return { rcode, answers, authorities: [createSoa(found.apex)] };
    }
    isSigned &&= found.isSigned;
    for (const data of found.data)
      answers.push({
        type: found.type,
        name: owner,
        ttl: TTL_SECONDS,
        data: toPacketData(found.type, data),
      });
    if (found.type === type) return { rcode: 0, answers, isSigned };
    owner = String(found.data[0]);
  }
  return { rcode: RCODE.SERVFAIL, answers: [] };
};

const toPacketData = (type: string, data: unknown): unknown => {
  if (type === "MX") {
    const [preference, exchange] = data as readonly [number, string];
    return { preference, exchange };
  }
  if (type === "TLSA") {
    const [usage, selector, matchingType, hex = ""] = String(data).split(" ");
    const certificate = Buffer.from(hex, "hex");
    return {
      usage: Number(usage),
      selector: Number(selector),
      matchingType: Number(matchingType),
      certificate,
    };
  }
  if (type !== "TXT") return data;
  return [data].flat().map((text) => Buffer.from(String(text), "latin1"));
};

/** A negative answer contains its own lifetime (RFC 2308 §3). */
const createSoa = (apex: string): Answer => {
  const times = { serial: 1, refresh: 3600, retry: 600, expire: 86_400, minimum: TTL_SECONDS };
  const data = { mname: `ns.${apex}`, rname: `hostmaster.${apex}`, ...times };
  return { type: "SOA", name: apex, ttl: TTL_SECONDS, data };
};

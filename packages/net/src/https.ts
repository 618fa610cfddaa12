import { request as httpRequest, type IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import {
  findAddressFault,
  type GuardSettings,
  type Https,
  type HttpsFault,
  type HttpsOutcome,
  type HttpsRequest,
  type HttpsTarget,
  parseTarget,
} from "@mailproof/core/ports/https";
import { type Dns, type DnsOutcome, getRecords, isAbsent } from "@mailproof/mail/dns/dns";
import { isPublicIp } from "@mailproof/mail/ip";
import { dial } from "./smtp-wire.ts";

type HttpsPorts = GuardSettings & { readonly dns: Dns };

/** The first limit covers TCP and TLS together; the second covers a whole call, from the look-up of the name to the last byte. */
const CONNECT_TIMEOUT_MS = 5_000;
const RESPONSE_TIMEOUT_MS = 10_000;
const BODY_BYTES_MAX = 65_536;
/** The client reads interim responses (RFC 9110 §15.2) as they arrive: a stream of them would use up all its time. */
const INTERIM_MAX = 20;
const ADDRESSES_TRIED_MAX = 3;

/**
 * An HTTPS client for addresses that the guard allows. It looks up a name once, checks every address, and connects to one of them: a second
 * look-up between the check and the connection could return another address.
 */
export const createHttpsClient = (ports: HttpsPorts): Https => ({
  check: async (url) => {
    const located = await locate(ports, url);
    return typeof located === "string" ? located : undefined;
  },
  call: (request) => callWithTimeout(ports, request),
});

type LocatedTarget = HttpsTarget & { readonly ips: readonly string[] };

const locate = async (ports: HttpsPorts, text: string): Promise<LocatedTarget | HttpsFault> => {
  const target = parseTarget(text);
  if (typeof target === "string") return target;
  const ips = LOCALHOST.test(target.host)
    ? listOwnAddresses(ports)
    : await lookUpAddresses(ports.dns, target.host);
  // A forbidden port fails before the look-up: no address of the name could make the port allowed.
  if (typeof ips === "string")
    return target.port === ports.port || ports.allowed.length > 0 ? ips : "port_not_allowed";
  return findAddressFault(target, ips, ports) ?? { ...target, ips };
};

// RFC 6761 §6.3: localhost names this machine, and no name server is asked. The guard decides whether a call may go there.
const LOCALHOST = /(?:^|\.)localhost$/;
const LOOPBACK = ["127.0.0.1", "::1"];

/** Returns the loopback addresses that the operator allowed, or both addresses when the operator allowed neither. */
const listOwnAddresses = ({ allowed }: GuardSettings): readonly string[] => {
  const open = LOOPBACK.filter((ip) => isPublicIp(ip, allowed));
  return open.length > 0 ? open : LOOPBACK;
};

const lookUpAddresses = async (dns: Dns, host: string): Promise<readonly string[] | HttpsFault> => {
  if (isIP(host) !== 0) return [host];
  const outcomes: readonly DnsOutcome<string>[] = await Promise.all([
    dns("A", host),
    dns("AAAA", host),
  ]);
  const ips = outcomes.flatMap(getRecords);
  if (ips.length > 0) return ips;
  if (outcomes.some(({ kind }) => kind === "internal")) return "internal";
  return outcomes.every(isAbsent) ? "name_not_found" : "dns_failed";
};

const createFailure = (why: HttpsFault): HttpsOutcome => ({ kind: "failed", why });

const callWithTimeout = async (ports: HttpsPorts, request: HttpsRequest): Promise<HttpsOutcome> => {
  const timeout = new AbortController();
  const { promise: timedOut, resolve } = Promise.withResolvers<HttpsOutcome>();
  const timer = setTimeout(() => {
    timeout.abort();
    // The timeout waits one tick, so a status that has arrived by now wins.
    setImmediate(resolve, createFailure("timeout"));
  }, RESPONSE_TIMEOUT_MS);
  try {
    return await Promise.race([call(ports, request, timeout.signal), timedOut]);
  } finally {
    clearTimeout(timer);
  }
};

const call = async (
  ports: HttpsPorts,
  request: HttpsRequest,
  timeout: AbortSignal,
): Promise<HttpsOutcome> => {
  const located = await locate(ports, request.url);
  if (typeof located === "string") return createFailure(located);
  const socket = await connect(located, timeout);
  if (typeof socket === "string") return createFailure(socket);
  if (!timeout.aborted) return exchange(socket, located, request, timeout);
  socket.destroy();
  return createFailure("timeout");
};

/** Connects to the first address that accepts; each address gets an equal share of the remaining time. */
const connect = async (
  located: LocatedTarget,
  timeout: AbortSignal,
): Promise<TLSSocket | HttpsFault> => {
  const until = performance.now() + CONNECT_TIMEOUT_MS;
  const ips = located.ips.slice(0, ADDRESSES_TRIED_MAX);
  let fault: HttpsFault = "unreachable";
  for (const [tried, ip] of ips.entries()) {
    const shareMs = (until - performance.now()) / (ips.length - tried);
    if (timeout.aborted || shareMs <= 0) break;
    const result = await connectTo(ip, located, shareMs);
    if (typeof result !== "string") return result;
    fault = result;
  }
  return fault;
};

const connectTo = async (
  ip: string,
  { host, port }: HttpsTarget,
  timeoutMs: number,
): Promise<TLSSocket | HttpsFault> => {
  const until = performance.now() + timeoutMs;
  const socket = await dial(ip, port, timeoutMs);
  if (typeof socket === "string") return FAULT_BY_CODE[socket] ?? "unreachable";
  const secured = connectTls({
    socket,
    host,
    // RFC 6066 §3: an IP address is not a server name.
    ...(isIP(host) === 0 && { servername: host }),
    ALPNProtocols: ["http/1.1"],
    // Explicit, because an environment variable can turn the check off for the whole process.
    rejectUnauthorized: true,
  });
  return new Promise((resolve) => {
    const settle = (outcome: TLSSocket | HttpsFault): void => {
      clearTimeout(timer);
      if (outcome !== secured) secured.destroy();
      resolve(outcome);
    };
    const timer = setTimeout(
      () => settle("connect_timeout"),
      Math.max(1, until - performance.now()),
    );
    secured.once("secureConnect", () => settle(secured));
    secured.once("close", () => {
      socket.destroy();
      settle("tls_failed");
    });
    // This listener stays for the socket's life: an error without a listener would end the process.
    secured.on("error", () => settle("tls_failed"));
  });
};

const FAULT_BY_CODE: Readonly<Record<string, HttpsFault>> = {
  connect_refused: "connect_refused",
  connect_timeout: "connect_timeout",
  internal: "internal",
};

const exchange = (
  socket: TLSSocket,
  target: HttpsTarget,
  request: HttpsRequest,
  timeout: AbortSignal,
): Promise<HttpsOutcome> =>
  new Promise((resolve, reject) => {
    const settle = (outcome: HttpsOutcome): void => {
      socket.destroy();
      resolve(outcome);
    };
    // Once the status has arrived, the call returns a response, whatever goes wrong afterwards.
    let breakOff = (why: HttpsFault): void => settle(createFailure(why));
    timeout.addEventListener("abort", () => breakOff("timeout"));
    try {
      const clientRequest = createRequest(socket, target, request);
      clientRequest.on("error", (error: NodeJS.ErrnoException) =>
        breakOff(error.code?.startsWith("HPE_") ? "not_http" : "closed"),
      );
      clientRequest.on("upgrade", () => settle(createFailure("not_http")));
      let interim = 0;
      clientRequest.on("information", () => {
        interim++;
        if (interim > INTERIM_MAX) settle(createFailure("not_http"));
      });
      clientRequest.on("response", (response) => {
        breakOff = readResponse(response, settle);
      });
      clientRequest.end(request.body);
    } catch (cause) {
      // Node refuses a header that no request can have: a bug of ours.
      socket.destroy();
      reject(cause);
    }
  });

const createRequest = (
  socket: TLSSocket,
  { url }: HttpsTarget,
  { method, headers, body }: HttpsRequest,
) =>
  httpRequest({
    // With this socket neither an agent nor a proxy from the environment decides where the request goes.
    createConnection: () => socket,
    method,
    path: `${url.pathname}${url.search}`,
    setHost: false,
    headers: {
      ...headers,
      host: url.host,
      connection: "close",
      // The client does not unpack a response that is compressed all the same, so a decompression bomb does no harm.
      "accept-encoding": "identity",
      ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
    },
  });

/** Reads up to the limit and cuts off the rest; the status still counts. Calling the returned function stops reading. */
const readResponse = (
  response: IncomingMessage,
  settle: (outcome: HttpsOutcome) => void,
): (() => void) => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const { statusCode = 0, headers } = response;
  const isPacked = !/^(?:identity)?$/i.test(headers["content-encoding"] ?? "");
  const finish = (isWhole: boolean): void =>
    settle({
      kind: "answer",
      status: statusCode,
      contentType: headers["content-type"] ?? "",
      retryAfter: headers["retry-after"] ?? null,
      cacheControl: headers["cache-control"],
      body: Buffer.concat(pieces).subarray(0, BODY_BYTES_MAX).toString(),
      isComplete: isWhole,
    });
  const cut = (): void => finish(false);
  if (isPacked) cut();
  response.on("data", (piece: Buffer) => {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > BODY_BYTES_MAX) cut();
  });
  response.on("end", () => finish(true));
  response.on("error", cut);
  response.on("close", cut);
  return cut;
};

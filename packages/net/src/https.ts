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
import type { Dns, DnsOutcome } from "@mailproof/mail/dns/dns";
import { getRecords, isAbsent } from "@mailproof/mail/dns/outcome";
import { isPublicIp } from "@mailproof/mail/ip";
import { dial } from "./smtp-wire.ts";

type HttpsPorts = GuardSettings & { readonly dns: Dns };

/** For TCP and TLS together; and for all, from the look-up of the name to the last byte that is read. */
const CONNECT_TIMEOUT_MS = 5_000;
const RESPONSE_TIMEOUT_MS = 10_000;
const BODY_BYTES_MAX = 65_536;
/** Interim responses (RFC 9110 §15.2) are read as they arrive: a stream of them would use up all our time. */
const INTERIM_MAX = 20;
/** The most addresses of a name that are tried, one after another. */
const ADDRESSES_TRIED_MAX = 3;

/**
 * An HTTPS client for addresses that the guard allows. It looks up a name once, checks every address, and connects to
 * one of those: no second look-up between check and connection could return another address.
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
  // A forbidden port fails at once: no address that the name may get changes that.
  if (typeof ips === "string")
    return target.port === ports.port || ports.allowed.length > 0 ? ips : "port_not_allowed";
  return findAddressFault(target, ips, ports) ?? { ...target, ips };
};

// RFC 6761 §6.3: this machine, and no question to a name server. The guard decides whether it may be called.
const LOCALHOST = /(?:^|\.)localhost$/;
const LOOPBACK = ["127.0.0.1", "::1"];

/** The loopback addresses: where the operator allowed one of the two, the name means that one. */
const listOwnAddresses = ({ allowed }: GuardSettings): readonly string[] => {
  const open = LOOPBACK.filter((ip) => isPublicIp(ip, allowed));
  return open.length > 0 ? open : LOOPBACK;
};

/** IPv4 first: a machine without IPv6 loses no time then. */
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
    // Deferred by one tick: a status that has arrived by now wins.
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

/** Connects to the first address that accepts; each has its share of the time that is left. */
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
    // RFC 6066 §3: an address is not a server name.
    ...(isIP(host) === 0 && { servername: host }),
    ALPNProtocols: ["http/1.1"],
    // Explicit, because the environment can turn it off for a whole process.
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
    // Stays for the socket's life: an error without a listener would end the process.
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
    // From its status on a response is one, whatever goes wrong after it.
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
      // A header that no request can have: a bug of ours.
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
    // A socket of our own: no agent, and so no proxy of the environment, decides where it leads.
    createConnection: () => socket,
    method,
    path: `${url.pathname}${url.search}`,
    setHost: false,
    headers: {
      ...headers,
      host: url.host,
      connection: "close",
      // A response that is compressed all the same is not unpacked, so it cannot be a decompression bomb.
      "accept-encoding": "identity",
      ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
    },
  });

/** Reads up to the limit; a longer response is cut short, and its status stands. Calling the result ends it sooner. */
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

import { createHash } from "node:crypto";
import { isIP, type Socket } from "node:net";
import type { Connect, WireFault } from "@mailproof/core/mail/smtp/wire";
import { SocksClient } from "socks";
import { dial, smtpWire } from "./smtp-wire.ts";

/** A proxy that failed is asked last for this long. */
const REST_MS = 60_000;
const PROXIES_TRIED_MAX = 3;
/** A proxy of ours is near, or down: waiting longer would eat the time of the mail host behind it. */
const DIAL_MS_MAX = 2000;

/**
 * The way out through a pool of SOCKS5 proxies (RFC 1928), and never past it. Lanes are spread over the proxies,
 * and each keeps to its own while that one is well: greylisting remembers the address that came first.
 */
export const connectThrough = (urls: readonly string[], now: () => Date): Connect => {
  const proxies = urls.map(parseProxy);
  const restsUntil = new Map<Proxy, number>();
  const restOf = (proxy: Proxy): number => {
    const until = restsUntil.get(proxy) ?? 0;
    return until > now().getTime() ? until : 0;
  };

  return async ({ ip, port }, { timeoutMs, lane }) => {
    if (isIP(ip) === 0) return "no_address";
    const endsAt = now().getTime() + timeoutMs;
    const inOrder = forLane(proxies, lane).toSorted((a, b) => restOf(a) - restOf(b));
    for (const proxy of inOrder.slice(0, PROXIES_TRIED_MAX)) {
      const leftMs = endsAt - now().getTime();
      if (leftMs <= 0) break;
      const socket = await tunnel(proxy, { host: ip, port }, leftMs);
      if (socket === "proxy_failed") restsUntil.set(proxy, now().getTime() + REST_MS);
      else return typeof socket === "string" ? socket : smtpWire(socket);
    }
    return "proxy_failed";
  };
};

type Proxy = {
  readonly host: string;
  readonly port: number;
  readonly login: { readonly userId: string; readonly password: string } | null;
};

/** socks5://user:password@host:1080, where the user and the password may be missing. */
const parseProxy = (url: string): Proxy => {
  const parsed = URL.parse(url);
  // The address may hold a password, so the message does not repeat it.
  if (!parsed || !/^socks5h?:$/.test(parsed.protocol) || !parsed.hostname)
    throw new RangeError("a proxy is written as socks5://user:password@host:port");
  const { hostname, port, username, password } = parsed;
  return {
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: port === "" ? 1080 : Number(port),
    login: username
      ? { userId: decodeURIComponent(username), password: decodeURIComponent(password) }
      : null,
  };
};

/** Rendezvous hashing: when one proxy rests, only its own lanes move, and each to another one. */
const forLane = (proxies: readonly Proxy[], lane: string): readonly Proxy[] => {
  const scoreOf = ({ host, port }: Proxy) =>
    createHash("sha256").update(`${lane} ${host}:${port}`).digest("hex");
  return proxies
    .map((proxy) => ({ proxy, score: scoreOf(proxy) }))
    .toSorted((a, b) => (a.score < b.score ? -1 : 1))
    .map(({ proxy }) => proxy);
};

type Destination = { readonly host: string; readonly port: number };

const tunnel = async (
  { host, port, login }: Proxy,
  destination: Destination,
  timeoutMs: number,
): Promise<Socket | WireFault> => {
  const startedAt = performance.now();
  const socket = await dial(host, port, Math.min(DIAL_MS_MAX, timeoutMs));
  if (typeof socket === "string") return socket === "internal" ? socket : "proxy_failed";

  const timeout = Math.max(1, timeoutMs - (performance.now() - startedAt));
  try {
    await SocksClient.createConnection({
      proxy: { host, port, type: 5, ...login },
      command: "connect",
      destination,
      existing_socket: socket,
      timeout,
    });
    return socket;
  } catch (error) {
    return socksFault(error instanceof Error ? error.message : "", socket.bytesRead > 0);
  }
};

/** The library tells what happened in words: the name of RFC 1928's reply code stands at the end. */
const FAULTS: readonly (readonly [RegExp, WireFault])[] = [
  [/ConnectionRefused$/, "connect_refused"],
  [/TTLExpired$/, "connect_timeout"],
  // A proxy's "general failure" is most often the mail host's, which must not put the whole pool to rest.
  [/(?:NetworkUnreachable|HostUnreachable|AddressNotSupported| Failure)$/, "unreachable"],
];

const socksFault = (message: string, hasSpoken: boolean): WireFault => {
  // A proxy that spoke and then took too long was waiting for the mail host, as we would have.
  if (/timed out/.test(message) && hasSpoken) return "connect_timeout";
  return FAULTS.find(([pattern]) => pattern.test(message))?.[1] ?? "proxy_failed";
};

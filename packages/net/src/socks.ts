import { createHash } from "node:crypto";
import { isIP, type Socket } from "node:net";
import type { SmtpConnect, WireFault } from "@mailproof/mail/smtp/wire";
import { createSmtpWire, dial } from "./smtp-wire.ts";

/** The time for which a failed proxy is tried last. */
const BACKOFF_MS = 60_000;
const PROXIES_TRIED_MAX = 3;
/** The operator's proxy is near, or down: a longer wait would use up the time for the mail host behind it. */
const DIAL_MS_MAX = 2000;

/**
 * Connects through a pool of SOCKS5 proxies (RFC 1928), never without one. The caller may name an exit; otherwise each affinity key keeps
 * its proxy while that proxy works.
 */
export const createProxyConnect = (urls: readonly string[], now: () => Date): SmtpConnect => {
  const proxies = parseProxies(urls);
  const backoffUntil = new Map<Proxy, number>();
  const getBackoffUntil = (proxy: Proxy): number => {
    const until = backoffUntil.get(proxy) ?? 0;
    return until > now().getTime() ? until : 0;
  };

  return async ({ ip, port }, { timeoutMs, affinityKey, exit: chosen }) => {
    if (isIP(ip) === 0) return "no_address";
    const endsAt = now().getTime() + timeoutMs;
    const ordered = orderByAffinity(proxies, affinityKey)
      .filter(({ exit }) => chosen === undefined || exit === chosen)
      .toSorted((a, b) => getBackoffUntil(a) - getBackoffUntil(b));
    for (const proxy of ordered.slice(0, PROXIES_TRIED_MAX)) {
      const leftMs = endsAt - now().getTime();
      if (leftMs <= 0) break;
      const socket = await openTunnel(proxy, { host: ip, port }, leftMs);
      if (socket === "proxy_failed") backoffUntil.set(proxy, now().getTime() + BACKOFF_MS);
      else if (typeof socket === "string") return socket;
      else return createSmtpWire(socket);
    }
    return "proxy_failed";
  };
};

type Proxy = {
  readonly exit: string;
  readonly isWarm: boolean;
  readonly host: string;
  readonly port: number;
  readonly login: { readonly userId: string; readonly password: string } | null;
};

/** Lists the exits, one for each proxy, by host and port, because the rest of a URL may be secret. */
export const listProxyExits = (urls: readonly string[]): readonly string[] =>
  parseProxies(urls).map(({ exit }) => exit);

export const listWarmExits = (urls: readonly string[]): readonly string[] =>
  parseProxies(urls).flatMap(({ exit, isWarm }) => (isWarm ? [exit] : []));

/** Services with many addresses give each proxy at one host and port a separate user: such exits get a number. */
const parseProxies = (urls: readonly string[]): readonly Proxy[] => {
  const counts = new Map<string, number>();
  return urls.map((url) => {
    const proxy = parseProxy(url);
    const name = `${proxy.host}:${proxy.port}`;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return { ...proxy, exit: count === 1 ? name : `${name}#${count}` };
  });
};

/** The URL has the form socks5://user:password@host:1080#warm, where the user, the password and #warm may be missing. */
const parseProxy = (url: string): Omit<Proxy, "exit"> => {
  const parsed = URL.parse(url);
  // The URL may hold a password, so the message does not repeat it.
  if (!parsed || !/^socks5h?:$/.test(parsed.protocol) || !parsed.hostname)
    throw new RangeError("a proxy is written as socks5://user:password@host:port");
  if (!["", "#warm"].includes(parsed.hash))
    throw new RangeError("a proxy's URL ends with its port or with #warm");
  const { hostname, port, username, password } = parsed;
  return {
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: port === "" ? 1080 : Number(port),
    isWarm: parsed.hash === "#warm",
    login: username
      ? { userId: decodeURIComponent(username), password: decodeURIComponent(password) }
      : null,
  };
};

/** Rendezvous hashing: when a proxy may not be used, only its own keys move, each to another proxy. */
const orderByAffinity = (proxies: readonly Proxy[], affinityKey: string): readonly Proxy[] => {
  const computeScore = ({ exit }: Proxy) =>
    createHash("sha256").update(`${affinityKey} ${exit}`).digest("hex");
  return proxies
    .map((proxy) => ({ proxy, score: computeScore(proxy) }))
    .toSorted((a, b) => (a.score < b.score ? -1 : 1))
    .map(({ proxy }) => proxy);
};

type Destination = { readonly host: string; readonly port: number };

const openTunnel = async (
  { host, port, login }: Proxy,
  destination: Destination,
  timeoutMs: number,
): Promise<Socket | WireFault> => {
  const startedAt = performance.now();
  const socket = await dial(host, port, Math.min(DIAL_MS_MAX, timeoutMs));
  if (typeof socket === "string") return socket === "internal" ? socket : "proxy_failed";

  const timeout = Math.max(1, timeoutMs - (performance.now() - startedAt));
  try {
    const { SocksClient } = await import("socks");
    await SocksClient.createConnection({
      proxy: { host, port, type: 5, ...login },
      command: "connect",
      destination,
      existing_socket: socket,
      timeout,
    });
    return socket;
  } catch (error) {
    return toWireFault(error instanceof Error ? error.message : "", socket.bytesRead > 0);
  }
};

/** The library reports a fault as text that ends with the name of RFC 1928's reply code. */
const FAULTS: readonly (readonly [RegExp, WireFault])[] = [
  [/ConnectionRefused$/, "connect_refused"],
  [/TTLExpired$/, "connect_timeout"],
  // A proxy's "general failure" is most often the mail host's fault, and must not put the whole pool into backoff.
  [/(?:NetworkUnreachable|HostUnreachable|AddressNotSupported| Failure)$/, "unreachable"],
];

const toWireFault = (message: string, hasSpoken: boolean): WireFault => {
  // A proxy that replied and then timed out was waiting for the mail host, as a direct connection would.
  if (/timed out/.test(message) && hasSpoken) return "connect_timeout";
  return FAULTS.find(([pattern]) => pattern.test(message))?.[1] ?? "proxy_failed";
};

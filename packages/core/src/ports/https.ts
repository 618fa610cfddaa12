import { type Cidr, isInBlock, isPublicIp, parseIp } from "@mailproof/mail/ip";

// The port to customers' HTTPS servers, and the guard that decides which addresses it may call. The customer who sets a
// URL chooses where this service connects, so every URL passes this guard.

export type HttpsRequest = {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** The reason that a call got no response. The first five persist until the URL or its address changes. */
export type HttpsFault =
  | "bad_url"
  | "not_https"
  | "credentials_in_url"
  | "port_not_allowed"
  | "private_address"
  | "name_not_found"
  | "dns_failed"
  | "connect_refused"
  | "connect_timeout"
  | "unreachable"
  | "tls_failed"
  | "closed"
  /** This machine lacked descriptors, memory or ports. */
  | "internal"
  | "not_http"
  | "timeout";

export type HttpsOutcome =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly contentType: string;
      readonly retryAfter: string | null;
      readonly cacheControl?: string | undefined;
      /** The response body, up to 64 KB. Empty when the server compressed it, although the request never accepts compression. */
      readonly body: string;
      readonly isComplete: boolean;
    }
  | { readonly kind: "failed"; readonly why: HttpsFault };

/**
 * A network failure is an outcome, never a rejection. The adapter follows no redirect, uses no proxy, and connects to the
 * address that it checked.
 */
export type Https = {
  /** Returns the fault that would stop a call to this URL before it is sent; undefined when the call would be sent. */
  check(url: string): Promise<HttpsFault | undefined>;
  call(request: HttpsRequest): Promise<HttpsOutcome>;
};

/** Registration refuses a URL for these faults. The other faults may be temporary. */
export const REGISTRATION_FAULTS: Readonly<Partial<Record<HttpsFault, string>>> = {
  bad_url: "must be an https address",
  not_https: "must be an https address",
  credentials_in_url: "must be an https address without credentials",
  port_not_allowed: "must use port 443",
  private_address:
    "must not resolve to a private address, unless OUTBOUND_ALLOW_PRIVATE permits it",
};

/** `host` is a name in A-labels without a final dot, or an IP address without brackets. */
export type HttpsTarget = { readonly url: URL; readonly host: string; readonly port: number };

export const parseTarget = (text: string): HttpsTarget | HttpsFault => {
  // A URL parser drops tabs and line ends anywhere, so the parsed URL would differ from the text.
  if (!URL.canParse(text) || /[\s\p{Cc}\\]/u.test(text)) return "bad_url";
  const url = new URL(text);
  if (url.protocol !== "https:") return "not_https";
  // "https://@host" contains empty credentials. Other parsers may read it differently, so the guard refuses it.
  if (url.username !== "" || url.password !== "" || /^[^/]*\/\/[^/?#]*@/.test(text))
    return "credentials_in_url";
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (!HOST.test(host)) return "bad_url";
  return { url, host, port: Number(url.port || HTTPS_PORT) };
};

export const HTTPS_PORT = 443;

/** RFC 1035 §2.3.4 limits a label to 63 octets and a name to 253 characters: DNS resolves no longer name. */
const HOST = /^(?=.{1,253}$)[^.]{1,63}(?:\.[^.]{1,63})*$/;

export type GuardSettings = {
  readonly port: number;
  /** Private blocks that the operator permits, at any port. */
  readonly allowed: readonly Cidr[];
};

/** Requires that every address of a name is permitted: with one good and one bad address, chance would decide which one the call uses. */
export const findAddressFault = (
  { port }: Pick<HttpsTarget, "port">,
  ips: readonly string[],
  { port: defaultPort, allowed }: GuardSettings,
): HttpsFault | undefined => {
  if (!ips.every((ip) => isPublicIp(ip, allowed))) return "private_address";
  return port === defaultPort || ips.every((ip) => isAllowed(ip, allowed))
    ? undefined
    : "port_not_allowed";
};

const isAllowed = (text: string, allowed: readonly Cidr[]): boolean => {
  const ip = parseIp(text);
  return ip !== undefined && allowed.some((block) => isInBlock(ip, block));
};

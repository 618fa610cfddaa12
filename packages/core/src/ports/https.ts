import { type Cidr, isInBlock, isPublicIp, parseIp } from "../mail/ip.ts";

// The door to other people's servers, and who may be called through it. Whoever gives us an address chooses where
// we connect to: each one is held against this guard, whatever it is for.

export type HttpsRequest = {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** Why there was no answer. The first five say that there will be none as long as the address is what it is. */
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
      /** What was said, up to 64 KB; nothing of what came compressed, which we never ask for. */
      readonly body: string;
      /** Whether the body is all there was. */
      readonly isComplete: boolean;
    }
  | { readonly kind: "failed"; readonly why: HttpsFault };

/** Never rejects for the network's sake: a failure is an outcome. Follows no redirect, asks no proxy, and connects to what it checked. */
export type Https = {
  /** Why nothing would be sent there, by what is known now; undefined where something would. */
  check(url: string): Promise<HttpsFault | undefined>;
  call(request: HttpsRequest): Promise<HttpsOutcome>;
};

/** What makes an address one that nobody may register. The others may pass by themselves. */
export const REGISTRATION_FAULTS: Readonly<Partial<Record<HttpsFault, string>>> = {
  bad_url: "must be an https address",
  not_https: "must be an https address",
  credentials_in_url: "must be an https address without credentials",
  port_not_allowed: "must use port 443",
  private_address:
    "must not lead to a private address, unless the operator's OUTBOUND_ALLOW_PRIVATE has it",
};

/** `host` is a name in A-labels without a final dot, or an IP address without brackets. */
export type HttpsTarget = { readonly url: URL; readonly host: string; readonly port: number };

/** What an address says before anybody is asked for the name in it. */
export const parseTarget = (text: string): HttpsTarget | HttpsFault => {
  // A URL parser drops tabs and line ends wherever they stand: what is read is then not what was written.
  if (!URL.canParse(text) || /[\s\p{Cc}\\]/u.test(text)) return "bad_url";
  const url = new URL(text);
  if (url.protocol !== "https:") return "not_https";
  // "https://@host" has none, and yet is written as if: what others read in it is not ours to guess.
  if (url.username !== "" || url.password !== "" || /^[^/]*\/\/[^/?#]*@/.test(text))
    return "credentials_in_url";
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (!HOST.test(host)) return "bad_url";
  return { url, host, port: Number(url.port || HTTPS_PORT) };
};

export const HTTPS_PORT = 443;

/** Labels of up to 63 letters, 253 in all (RFC 1035 §2.3.4): nothing else can be asked for. */
const HOST = /^(?=.{1,253}$)[^.]{1,63}(?:\.[^.]{1,63})*$/;

export type GuardSettings = {
  /** The one port that may be called. */
  readonly port: number;
  /** What an operator permits on top, at any port. */
  readonly allowed: readonly Cidr[];
};

/**
 * Every address a name leads to must be one that may be called: with one good and one bad it would be chance which
 * is connected to.
 */
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

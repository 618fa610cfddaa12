import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { unwrapIpv4 } from "@mailproof/core/accounts/key-networks";
import { type Cidr, isInBlock, parseCidr, parseIp } from "@mailproof/mail/ip";
import type { Environment } from "../environment.ts";

/** The URL of this server for callers, and the proxies whose headers count. */
export type Site = {
  /** The path in front of every route; empty, or such as /mailproof. */
  readonly basePath: string;
  /** The base URL that the operator set, with its base path. Null means the local address. */
  readonly publicUrl: string | null;
  /** Proxies whose X-Forwarded-For counts. */
  readonly trustedProxies: readonly Cidr[];
};

export const createSite = ({ BASE_PATH, PUBLIC_URL, TRUST_PROXY }: Environment): Site => ({
  basePath: BASE_PATH,
  publicUrl: PUBLIC_URL?.replace(/\/$/, "") ?? null,
  trustedProxies: TRUST_PROXY,
});

/** A server at the root of its own address, without a proxy. */
export const PLAIN_SITE: Site = { basePath: "", publicUrl: null, trustedProxies: [] };

const LOOPBACK = ["127.0.0.0/8", "::1"].map(parseCidr).filter((block) => block !== undefined);

export const isLoopback = (host: string): boolean => isInBlocks(host, LOOPBACK);

/** Lists warnings for an operator whose server listens beyond this machine. */
export const listWarnings = ({ publicUrl }: Site, host: string): readonly string[] =>
  isLoopback(host)
    ? []
    : [
        `WARNING: other machines can reach this server (HOST=${host}), and it has no TLS: keys and email`,
        "addresses can be read on the way. Let only a proxy with TLS reach it, such as Caddy.",
        ...(publicUrl === null
          ? ["Links and documents name this machine only: set PUBLIC_URL."]
          : []),
      ];

/** When the server listens at every address, programs of this machine use the loopback address. */
export const toLocalUrl = ({ address, port }: AddressInfo): string => {
  const host = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
};

/** The URLs of listening servers: asking the system at each request would cost as much as reading its key. */
const localUrls = new WeakMap<Server, string>();

/** The base URL in links and documents. No header of a request counts, since anyone can write it. */
export const getBaseUrl = ({ basePath, publicUrl }: Site, server: Server): string => {
  if (publicUrl !== null) return publicUrl;
  const localUrl = localUrls.get(server) ?? toLocalUrl(server.address() as AddressInfo);
  localUrls.set(server, localUrl);
  return localUrl + basePath;
};

/** The path and query below the base path; undefined when the request is outside the base path. */
export const stripBasePath = ({ basePath }: Site, target: string): string | undefined => {
  if (!target.startsWith(basePath)) return undefined;
  const path = target.slice(basePath.length);
  if (path.startsWith("/")) return path;
  return path === "" || path.startsWith("?") ? `/${path}` : undefined;
};

/**
 * The address of the client: the last one that no trusted proxy has. Each proxy appends the address that it was called
 * from, so whatever a client writes itself stands before that.
 */
export const getClientIp = (
  { trustedProxies }: Site,
  { headers, socket }: Pick<IncomingMessage, "headers" | "socket">,
): string | undefined => {
  const forwarded = String(headers["x-forwarded-for"] ?? "")
    .split(",")
    .map((one) => withoutPort(one.trim()))
    .filter((one) => one !== "");
  let client = socket.remoteAddress;
  while (client !== undefined && isInBlocks(client, trustedProxies) && forwarded.length > 0)
    client = forwarded.pop();
  return client;
};

/** Some proxies add the connection's port; with the port, each connection would count as another client. */
const withoutPort = (address: string): string =>
  address.replace(/^([\d.]+):\d+$/, "$1").replace(/^\[([\da-f:.]+)\](?::\d+)?$/i, "$1");

const isInBlocks = (address: string, blocks: readonly Cidr[]): boolean => {
  const ip = parseIp(unwrapIpv4(address));
  return ip !== undefined && blocks.some((block) => isInBlock(ip, block));
};

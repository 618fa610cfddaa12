import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { unwrapIpv4 } from "@mailproof/core/accounts/key-networks";
import { type Cidr, isInBlock, parseCidr, parseIp } from "@mailproof/mail/ip";
import type { Environment } from "../environment.ts";

/** Where callers find this server, and whose word about their addresses counts. */
export type Site = {
  /** The path in front of every route; empty, or such as /mailproof. */
  readonly basePath: string;
  /** The operator's word for the base URL, the base path included. Null: the local address. */
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

/** What the operator should know about listening beyond this machine. */
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

/** Every address of the machine is listened at: programs of this machine use its loopback address. */
export const toLocalUrl = ({ address, port }: AddressInfo): string => {
  const host = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
};

/** Of servers that listen: to ask the system each time would cost a request as much as reading its key. */
const localUrls = new WeakMap<Server, string>();

/** The base URL in links and documents. No header of a request counts: it is anyone's to write. */
export const getBaseUrl = ({ basePath, publicUrl }: Site, server: Server): string => {
  if (publicUrl !== null) return publicUrl;
  const localUrl = localUrls.get(server) ?? toLocalUrl(server.address() as AddressInfo);
  localUrls.set(server, localUrl);
  return localUrl + basePath;
};

/** Path and query below the base path; undefined where the request is for something outside of it. */
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

/** Some proxies write the port of the connection, too: each would be another client. */
const withoutPort = (address: string): string =>
  address.replace(/^([\d.]+):\d+$/, "$1").replace(/^\[([\da-f:.]+)\](?::\d+)?$/i, "$1");

const isInBlocks = (address: string, blocks: readonly Cidr[]): boolean => {
  const ip = parseIp(unwrapIpv4(address));
  return ip !== undefined && blocks.some((block) => isInBlock(ip, block));
};

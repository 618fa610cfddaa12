import { HTTPS_PORT } from "@mailproof/core/https";
import { cachedDns } from "@mailproof/core/mail/dns/cached";
import { httpsDoor } from "@mailproof/net/https";
import type { Reach } from "../world.ts";
import { resolversIn } from "./resolvers.ts";

const CACHED_BYTES_MAX = 1024 * 1024;

/** For what calls those who want to be told: an endpoint that needs "https", and the worker that delivers. */
export const toSubscribers: Reach = (ground) => {
  const dns = cachedDns(resolversIn(ground, "DNS_SERVERS"), {
    now: ground.now,
    bytesMax: CACHED_BYTES_MAX,
  });
  return { https: httpsDoor({ dns, port: HTTPS_PORT, allowed: [] }) };
};

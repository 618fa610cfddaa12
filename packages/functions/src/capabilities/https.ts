import { HTTPS_PORT } from "@mailproof/core/ports/https";
import { cacheDns } from "@mailproof/mail/dns/cache";
import { createHttpsClient } from "@mailproof/net/https";
import type { Capability } from "../lambda-world.ts";
import { countWebhookCalls } from "../measure/webhooks.ts";
import { createResolvers } from "./resolvers.ts";

const CACHED_BYTES_MAX = 1024 * 1024;

/** For an endpoint that needs "https", and the worker that delivers events. */
export const withHttps: Capability = (base) => {
  const dns = cacheDns(createResolvers(base, "DNS_SERVERS"), {
    now: base.now,
    bytesMax: CACHED_BYTES_MAX,
  });
  return { https: countWebhookCalls(createHttpsClient({ dns, port: HTTPS_PORT, allowed: [] })) };
};

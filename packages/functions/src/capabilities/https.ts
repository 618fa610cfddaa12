import { createIssuers } from "@mailproof/core/control/issuers";
import { createDocumentFetcher } from "@mailproof/core/deliverability/document-fetcher";
import { HTTPS_PORT } from "@mailproof/core/ports/https";
import { cacheDns } from "@mailproof/mail/dns/cache";
import { createHttpsClient } from "@mailproof/net/https";
import type { Capability } from "../lambda-world.ts";
import { countWebhookCalls } from "../measure/webhooks.ts";
import { createResolvers } from "./resolvers.ts";

const CACHED_BYTES_MAX = 1024 * 1024;

/** For an endpoint that needs "https", for customers' addresses or issuers' documents, and the worker that delivers events. */
export const withHttps: Capability = (base) => {
  const dns = cacheDns(createResolvers(base, "DNS_SERVERS"), {
    now: base.now,
    bytesMax: CACHED_BYTES_MAX,
  });
  const https = createHttpsClient({ dns, port: HTTPS_PORT, allowed: [] });
  const fetchDocument = createDocumentFetcher(https);
  return {
    https: countWebhookCalls(https),
    issuers: createIssuers({ dns, fetchDocument, now: base.now }),
  };
};

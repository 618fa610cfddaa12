import { createDocumentFetcher } from "@mailproof/core/deliverability/document-fetcher";
import { createReading } from "@mailproof/core/deliverability/reading";
import { HTTPS_PORT } from "@mailproof/core/ports/https";
import type { BlocklistKeys } from "@mailproof/mail/blocklists/analyse";
import { createListHealth } from "@mailproof/mail/blocklists/health";
import {
  BARRACUDA_KEY,
  BLOCKLISTS,
  findLists,
  SPAMHAUS_KEY,
} from "@mailproof/mail/blocklists/lists";
import { createHttpsClient } from "@mailproof/net/https";
import type { Capability } from "../lambda-world.ts";
import { type LambdaEnvironment, readList } from "../settings.ts";
import { createResolvers } from "./resolvers.ts";

/** For an endpoint that needs "dns", and the workers that check domains. The workers that read mail and reports ask the DNS, too. */
export const withDns: Capability = (base) => {
  const { environment, now } = base;
  const dns = createResolvers(base, "DNS_SERVERS");
  const https = createHttpsClient({ dns, port: HTTPS_PORT, allowed: [] });
  const configuredLists = findLists(readList(environment, "BLOCKLISTS"));
  return {
    reading: createReading(now),
    names: {
      dns,
      fetchDocument: createDocumentFetcher(https),
      dkimSelectors: readList(environment, "DKIM_SELECTORS"),
      listDns: environment["BLOCKLIST_DNS_SERVERS"]
        ? createResolvers(base, "BLOCKLIST_DNS_SERVERS")
        : dns,
      allowed: [],
      blocklists: {
        listsFor: () => (configuredLists.length > 0 ? configuredLists : BLOCKLISTS),
        keys: readBlocklistKeys(environment),
        isHealthy: createListHealth(now),
      },
    },
  };
};

const readBlocklistKeys = ({
  SPAMHAUS_KEY: spamhaus,
  BARRACUDA_REGISTERED,
}: LambdaEnvironment): BlocklistKeys => ({
  ...(spamhaus && { [SPAMHAUS_KEY.key]: spamhaus }),
  ...(BARRACUDA_REGISTERED === "yes" && { [BARRACUDA_KEY.key]: "registered" }),
});

import { HTTPS_PORT } from "@mailproof/core/https";
import type { Keys } from "@mailproof/core/mail/blocklists/analyse";
import { listHealth } from "@mailproof/core/mail/blocklists/health";
import {
  BARRACUDA_KEY,
  BLOCKLISTS,
  listsNamed,
  SPAMHAUS_KEY,
} from "@mailproof/core/mail/blocklists/lists";
import { policyFetcher } from "@mailproof/core/mail/hints/policy-fetcher";
import { httpsDoor } from "@mailproof/net/https";
import { type Environment, listIn } from "../settings.ts";
import type { Reach } from "../world.ts";
import { resolversIn } from "./resolvers.ts";

/** For what looks at the records of domains: an endpoint that needs "dns", and the workers that check. */
export const toDns: Reach = (ground) => {
  const { environment, now } = ground;
  const dns = resolversIn(ground, "DNS_SERVERS");
  const https = httpsDoor({ dns, port: HTTPS_PORT, allowed: [] });
  const named = listsNamed(listIn(environment, "BLOCKLISTS"));
  return {
    names: {
      dns,
      fetchPolicy: policyFetcher(https),
      listDns: environment["BLOCKLIST_DNS_SERVERS"]
        ? resolversIn(ground, "BLOCKLIST_DNS_SERVERS")
        : dns,
      allowed: [],
      blocklists: {
        listsFor: () => (named.length > 0 ? named : BLOCKLISTS),
        keys: keysIn(environment),
        isHealthy: listHealth(now),
      },
    },
  };
};

const keysIn = ({ SPAMHAUS_KEY: spamhaus, BARRACUDA_REGISTERED }: Environment): Keys => ({
  ...(spamhaus && { [SPAMHAUS_KEY.key]: spamhaus }),
  ...(BARRACUDA_REGISTERED === "yes" && { [BARRACUDA_KEY.key]: "registered" }),
});

import { attributeDnsFaults } from "@mailproof/core/egress/own-faults";
import { watchDns } from "@mailproof/core/runtime/dns-health";
import type { Dns } from "@mailproof/mail/dns/dns";
import { createResolverPool } from "@mailproof/net/resolver-pool";
import type { BaseContext } from "../lambda-world.ts";
import { readList } from "../settings.ts";

/** AWS drops packets beyond 1,024 a second from one network interface to its resolver. */
const PACKETS_PER_SECOND = 900;

/** The resolvers of this setting; default: the Lambda's own. */
export const createResolvers = (
  base: Pick<BaseContext, "environment" | "table" | "now">,
  setting: string,
): Dns => {
  const servers = readList(base.environment, setting);
  const dns = createResolverPool({ servers, packetsPerSecond: PACKETS_PER_SECOND });
  return setting === "DNS_SERVERS"
    ? attributeDnsFaults(watchDns(dns, base), { ...base, trustsDenials: true })
    : dns;
};

import type { Dns } from "@mailproof/core/mail/dns/dns";
import { watchDns } from "@mailproof/core/mail/dns/watch";
import { resolverPool } from "@mailproof/net/dns";
import { listIn } from "../settings.ts";
import type { Ground } from "../world.ts";

/** AWS drops what goes beyond 1,024 packets a second from one network interface to its resolver. */
const PACKETS_PER_SECOND = 900;

/** The resolvers of this setting; where it names none, the Lambda's own. */
export const resolversIn = (
  ground: Pick<Ground, "environment" | "table" | "now">,
  setting: string,
): Dns => {
  const servers = listIn(ground.environment, setting);
  const dns = resolverPool({ servers, packetsPerSecond: PACKETS_PER_SECOND });
  return setting === "DNS_SERVERS" ? watchDns(dns, ground) : dns;
};

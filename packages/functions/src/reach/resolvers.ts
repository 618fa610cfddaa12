import type { Dns } from "@mailproof/core/mail/dns/dns";
import { resolverPool } from "@mailproof/net/dns";
import { type Environment, listIn } from "../settings.ts";

/** AWS drops what goes beyond 1,024 packets a second from one network interface to its resolver. */
const PACKETS_PER_SECOND = 900;

/** The resolvers of this setting; where it names none, the Lambda's own. */
export const resolversIn = (
  environment: Environment,
  setting: string,
  more: Pick<Parameters<typeof resolverPool>[0], "askOdd"> = {},
): Dns =>
  resolverPool({
    servers: listIn(environment, setting),
    packetsPerSecond: PACKETS_PER_SECOND,
    ...more,
  });

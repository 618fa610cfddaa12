import { cachedDns } from "@mailproof/core/mail/dns/cached";
import { lists } from "@mailproof/core/mail/lists/lists";
import type { Connect } from "@mailproof/core/mail/smtp/wire";
import { engineOver } from "@mailproof/core/verify/engine";
import { tablePlaces } from "@mailproof/core/verify/table-places";
import { connectDirectly } from "@mailproof/net/smtp-wire";
import { connectThrough } from "@mailproof/net/socks";
import { measure } from "../measure.ts";
import { listIn } from "../settings.ts";
import type { Ground } from "../world.ts";
import { resolversIn } from "./resolvers.ts";

/** Some 100,000 answers as they are as a rule. */
const CACHED_BYTES_MAX = 64 * 1024 * 1024;
const SMTP_PORT = 25;

/** For what runs in the VPC, behind the addresses that mail servers know us by. */
export const toMailServers = (ground: Ground) => {
  const { environment, table, now, random, sleep } = ground;
  const { SMTP_HELLO = "mailproof.invalid", SMTP_FROM = "probe@mailproof.invalid" } = environment;
  const proxies = listIn(environment, "SMTP_PROXIES");
  const dns = resolversIn(ground, "DNS_SERVERS");
  const out = proxies.length > 0 ? connectThrough(proxies, now) : connectDirectly;
  return {
    engine: engineOver({
      dns: cachedDns(dns, { now, bytesMax: CACHED_BYTES_MAX }),
      connect: counted(out, now),
      table,
      lists: lists(),
      allowed: [],
      smtp: { helo: SMTP_HELLO, from: SMTP_FROM, port: SMTP_PORT },
      // Hundreds of Lambdas are one sender to a mail server: they count together.
      places: tablePlaces({ table, now, random, sleep }),
      now,
      random,
      sleep,
    }),
  };
};

/** Whether mail servers can be reached at all is seen here first: an alarm goes by the share of those that were not. */
const counted =
  (connect: Connect, now: () => Date): Connect =>
  async (target, options) => {
    const came = await connect(target, options);
    measure("smtp_sessions", 1, now());
    if (typeof came === "string") measure("smtp_unreached", 1, now());
    return came;
  };

import { cacheDns } from "@mailproof/core/mail/dns/cache";
import { createLists } from "@mailproof/core/mail/lists/lists";
import type { SmtpConnect } from "@mailproof/core/mail/smtp/wire";
import { createSharedSlots } from "@mailproof/core/smtp-pool/shared-slots";
import { createEngine } from "@mailproof/core/verify/engine";
import { connectDirectly } from "@mailproof/net/smtp-wire";
import { createProxyConnect } from "@mailproof/net/socks";
import type { BaseContext } from "../lambda-world.ts";
import { putMetric } from "../put-metric.ts";
import { readList } from "../settings.ts";
import { createResolvers } from "./resolvers.ts";

/** Some 100,000 answers as they are as a rule. */
const CACHED_BYTES_MAX = 64 * 1024 * 1024;
const SMTP_PORT = 25;

/** For what runs in the VPC, behind the addresses that mail servers know us by. */
export const withMailServers = (base: BaseContext) => {
  const { environment, table, now, random, sleep } = base;
  const { SMTP_HELLO = "mailproof.invalid", SMTP_FROM = "probe@mailproof.invalid" } = environment;
  const proxies = readList(environment, "SMTP_PROXIES");
  const dns = createResolvers(base, "DNS_SERVERS");
  const connectOut = proxies.length > 0 ? createProxyConnect(proxies, now) : connectDirectly;
  return {
    engine: createEngine({
      dns: cacheDns(dns, { now, bytesMax: CACHED_BYTES_MAX }),
      connect: countSessions(connectOut, now),
      table,
      lists: createLists(),
      allowed: [],
      smtp: { helo: SMTP_HELLO, from: SMTP_FROM, port: SMTP_PORT },
      // Hundreds of Lambdas are one sender to a mail server: they count together.
      slots: createSharedSlots({ table, now, random, sleep }),
      now,
      random,
      sleep,
    }),
  };
};

/** Whether mail servers can be reached at all is seen here first: an alarm goes by the share of those that were not. */
const countSessions =
  (connect: SmtpConnect, now: () => Date): SmtpConnect =>
  async (target, options) => {
    const result = await connect(target, options);
    putMetric("smtp_sessions", 1, now());
    if (typeof result === "string") putMetric("smtp_unreached", 1, now());
    return result;
  };

import { createSharedSlots } from "@mailproof/core/smtp-pool/slots/slot-pool";
import { createEngine } from "@mailproof/core/verify/engine";
import { cacheDns } from "@mailproof/mail/dns/cache";
import { createLists } from "@mailproof/mail/lists/lists";
import { type ProbePolicy, parseProbePolicy } from "@mailproof/mail/probe-policy";
import { DIRECT_EXIT } from "@mailproof/mail/smtp/wire";
import { connectDirectly } from "@mailproof/net/smtp-wire";
import { createProxyConnect, listProxyExits, listWarmExits } from "@mailproof/net/socks";
import type { BaseContext } from "../lambda-world.ts";
import { LIST_CHANGES } from "../list-changes.ts";
import { createLambdaLog } from "../log.ts";
import { countSessions, countVerification, observeWaits } from "../measure/mail.ts";
import { type LambdaEnvironment, readList } from "../settings.ts";
import { createResolvers } from "./resolvers.ts";

/** About 100,000 answers of usual size. */
const CACHED_BYTES_MAX = 64 * 1024 * 1024;
const SMTP_PORT = 25;

/** For Lambdas in the VPC, behind the fixed IP addresses that mail servers see. */
export const withMailServers = (base: BaseContext) => {
  const { environment, table, now, random, sleep } = base;
  const { SMTP_HELLO = "mailproof.invalid", SMTP_FROM = "probe@mailproof.invalid" } = environment;
  const proxies = readList(environment, "SMTP_PROXIES");
  const dns = createResolvers(base, "DNS_SERVERS");
  const connectOut = proxies.length > 0 ? createProxyConnect(proxies, now) : connectDirectly;
  const exits = proxies.length > 0 ? listProxyExits(proxies) : [DIRECT_EXIT];
  const smtp = { helo: SMTP_HELLO, from: SMTP_FROM, port: SMTP_PORT };
  const engine = createEngine({
    dns: cacheDns(dns, { now, bytesMax: CACHED_BYTES_MAX }),
    connect: countSessions(connectOut),
    ...(proxies.length > 0 && { exits, warmExits: listWarmExits(proxies) }),
    log: createLambdaLog(),
    table,
    lists: createLists(LIST_CHANGES),
    allowed: [],
    probePolicy: readProbePolicy(environment),
    witnesses: readList(environment, "WITNESSES"),
    smtp,
    // A mail server sees hundreds of Lambdas as one sender, so they share one count.
    slots: createSharedSlots({ table, now, random, sleep }),
    now,
    random,
    onSession: observeWaits,
    sleep,
  });
  return {
    engine: { ...engine, onVerification: countVerification },
    wayOut: { connect: connectOut, exits, smtp },
  };
};

/** A policy that cannot be read excludes nothing that the operator meant to exclude, so the Lambda does not start. */
const readProbePolicy = (environment: LambdaEnvironment): ProbePolicy => {
  const policy = parseProbePolicy(environment["PROBE_POLICY"] ?? "");
  if (typeof policy === "string") throw new Error(`PROBE_POLICY ${policy}.`);
  return policy;
};

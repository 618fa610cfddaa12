import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Names } from "@mailproof/core/deliverability/names";
import type { Keys } from "@mailproof/core/mail/blocklists/analyse";
import { listHealth } from "@mailproof/core/mail/blocklists/health";
import {
  BARRACUDA_KEY,
  BLOCKLISTS,
  type Blocklist,
  listsNamed,
  SPAMHAUS_KEY,
} from "@mailproof/core/mail/blocklists/lists";
import { cachedDns } from "@mailproof/core/mail/dns/cached";
import type { Dns } from "@mailproof/core/mail/dns/dns";
import { ofTheInternet } from "@mailproof/core/mail/dns/internet";
import { watchDns } from "@mailproof/core/mail/dns/watch";
import { isWithin, parseCidr, parseIp } from "@mailproof/core/mail/ip";
import { parseListChanges } from "@mailproof/core/mail/lists/changes";
import { broad } from "@mailproof/core/mail/lists/data/broad";
import { lists } from "@mailproof/core/mail/lists/lists";
import type { Connect } from "@mailproof/core/mail/smtp/wire";
import type { Table } from "@mailproof/core/table";
import type { MailDoors } from "@mailproof/core/verify/engine";
import { ownPlaces } from "@mailproof/core/verify/places";
import { resolverPool } from "@mailproof/net/dns";
import { connectDirectly } from "@mailproof/net/smtp-wire";
import { connectThrough } from "@mailproof/net/socks";
import { countFreeDescriptors, shareDescriptors } from "./descriptors.ts";
import type { Environment } from "./environment.ts";
import { LAB_ZONE, type Lab } from "./lab/lab.ts";
import { labLists, SENDERS_BLOCK, SENDERS_REVERSE } from "./lab/senders.ts";

/** A machine of one's own has no limit per network interface; a resolver on it or near it takes this. */
const PACKETS_PER_SECOND = 5_000;
/** Some 100,000 answers as they are as a rule. */
const CACHED_BYTES_MAX = 64 * 1024 * 1024;

/**
 * The mail system as one machine sees it. With a lab, names below .test belong to it, and so do the addresses of
 * its hosts; all others are the real ones. Without, everything goes where the operator says.
 */
export const openMailDoors = (
  environment: Environment,
  table: Table,
  lab: Lab | null,
): MailDoors & { readonly names: Names; readonly close: () => void } => {
  const now = () => new Date();
  const steadyNow = () => new Date(performance.timeOrigin + performance.now());
  const pool = (servers: readonly string[], more: { readonly ceilings?: null } = {}) =>
    resolverPool({ servers, packetsPerSecond: PACKETS_PER_SECOND, ...more });
  const { DNS_SERVERS, BLOCKLIST_DNS_SERVERS, SMTP_ALLOW_PRIVATE } = environment;
  // An operator whose mail servers are private has a laboratory: its zones belong to the operator, and may be asked
  // about thousands of domains a second. Everywhere else a zone belongs to a stranger and has a ceiling.
  const isLaboratory = DNS_SERVERS.length > 0 && SMTP_ALLOW_PRIVATE.length > 0;
  const pooled = pool(DNS_SERVERS, isLaboratory ? { ceilings: null } : {});
  // The lab's names are left out: it answers whether or not the world's name servers do.
  const real = watchDns(pooled, { table, now });
  // Whoever names his servers may have a laboratory behind them, where no "com" is missed.
  const outside = DNS_SERVERS.length > 0 ? real : ofTheInternet(real, now);
  const forLists = BLOCKLIST_DNS_SERVERS.length > 0 ? pool(BLOCKLIST_DNS_SERVERS) : null;
  const pretend = lab && pool([lab.dns], { ceilings: null });
  const orLab =
    (others: Dns): Dns =>
    (type, name) =>
      (pretend && isNobodys(name) ? pretend : others)(type, name);
  const dns = orLab(outside);
  const labBlock = lab && parseCidr(lab.smtpAddresses);
  const allowed = [...SMTP_ALLOW_PRIVATE, ...(labBlock ? [labBlock] : [])];
  const sendersBlock = lab && parseCidr(SENDERS_BLOCK);
  return {
    dns: cachedDns(dns, { now: steadyNow, bytesMax: CACHED_BYTES_MAX }),
    names: {
      dns,
      listDns: orLab(forLists ?? outside),
      allowed: [...allowed, ...(sendersBlock ? [sendersBlock] : [])],
      blocklists: {
        listsFor: listsBy(environment, lab),
        keys: keysIn(environment),
        isHealthy: listHealth(steadyNow),
      },
    },
    connect: connectBy(environment, lab, steadyNow),
    table,
    lists: lists(changesIn(environment.MAILPROOF_DIR), broad),
    allowed,
    smtp: {
      helo: environment.SMTP_HELLO,
      from: environment.SMTP_FROM,
      port: environment.SMTP_PORT,
    },
    // The folder belongs to one server: nobody else is there to share with.
    places: ownPlaces,
    sessionsMax: shareDescriptors(countFreeDescriptors()).sessions,
    now,
    steadyNow,
    random: Math.random,
    sleep: (ms) => setTimeout(ms),
    close: () => {
      pooled.close();
      forLists?.close();
      pretend?.close();
    },
  };
};

/** Whether the pretend mail network is wanted: an operator who names DNS servers has a network of his own. */
export const wantsLab = ({ DNS_SERVERS }: Environment): boolean => DNS_SERVERS.length === 0;

/** Nobody's in the real world, and no question for the internet (RFC 6761, RFC 6303). */
const NOBODYS = ["test", "127.in-addr.arpa", SENDERS_REVERSE];

const isNobodys = (name: string): boolean =>
  NOBODYS.some((zone) => `.${name.toLowerCase()}`.endsWith(`.${zone}`));

const listsBy = (
  environment: Environment,
  lab: Lab | null,
): ((domain: string) => readonly Blocklist[]) => {
  const named = listsNamed(environment.BLOCKLISTS);
  if (named.length > 0) return () => named;
  return (domain) => (lab && isNobodys(domain) ? labLists(LAB_ZONE) : BLOCKLISTS);
};

const keysIn = ({ SPAMHAUS_KEY: spamhaus, BARRACUDA_REGISTERED }: Environment): Keys => ({
  ...(spamhaus !== undefined && { [SPAMHAUS_KEY.key]: spamhaus }),
  ...(BARRACUDA_REGISTERED && { [BARRACUDA_KEY.key]: "registered" }),
});

const connectBy = (
  { SMTP_PROXIES }: Environment,
  lab: Lab | null,
  steadyNow: () => Date,
): Connect => {
  const out = SMTP_PROXIES.length > 0 ? connectThrough(SMTP_PROXIES, steadyNow) : connectDirectly;
  const block = lab && parseCidr(lab.smtpAddresses);
  return (target, options) => {
    const ip = block && parseIp(target.ip);
    return lab && ip && isWithin(ip, block)
      ? connectDirectly({ ...target, port: lab.smtpPort }, options)
      : out(target, options);
  };
};

/** The operator's own entries, where there is a file of them. A line that is wrong stops the start, and is named. */
const changesIn = (directory: string) => {
  const file = join(directory, "lists.txt");
  if (!existsSync(file)) return [];
  try {
    return parseListChanges(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new Error(`${file}: ${cause instanceof Error ? cause.message : "unreadable"}`, { cause });
  }
};

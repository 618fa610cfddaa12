import { createIssuers, type Issuers } from "@mailproof/core/control/issuers";
import { createDocumentFetcher } from "@mailproof/core/deliverability/document-fetcher";
import { attributeDnsFaults } from "@mailproof/core/egress/own-faults";
import { HTTPS_PORT } from "@mailproof/core/ports/https";
import type { Table } from "@mailproof/core/ports/table";
import type { Log } from "@mailproof/core/ports/world";
import { watchDns } from "@mailproof/core/runtime/dns-health";
import { createLocalSlots } from "@mailproof/core/smtp-pool/slots/local-slots";
import type { MailPorts } from "@mailproof/core/verify/engine";
import { readIssuerDocument } from "@mailproof/lab/issuer";
import { LAB_ZONE, type Lab } from "@mailproof/lab/lab";
import { createLabBlocklists, SENDERS_BLOCK, SENDERS_REVERSE } from "@mailproof/lab/senders";
import type { BlocklistKeys } from "@mailproof/mail/blocklists/analyse";
import { createListHealth } from "@mailproof/mail/blocklists/health";
import {
  BARRACUDA_KEY,
  BLOCKLISTS,
  type Blocklist,
  findLists,
  SPAMHAUS_KEY,
} from "@mailproof/mail/blocklists/lists";
import { cacheDns } from "@mailproof/mail/dns/cache";
import type { Dns } from "@mailproof/mail/dns/dns";
import type { DnsLookups } from "@mailproof/mail/dns/lookups";
import type { FetchDocument } from "@mailproof/mail/hints/fetched-document";
import { type Cidr, isInBlock, parseCidr, parseIp } from "@mailproof/mail/ip";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import { createHttpsClient } from "@mailproof/net/https";
import { createResolverPool } from "@mailproof/net/resolver-pool";
import { sleep } from "@mailproof/net/sleep";
import { connectDirectly } from "@mailproof/net/smtp-wire";
import { createProxyConnect, listProxyExits, listWarmExits } from "@mailproof/net/socks";
import type { Environment } from "./environment.ts";
import { openLists, readListChanges } from "./lists/lists-folder.ts";
import { countFreeDescriptors, shareDescriptors } from "./server/descriptors.ts";

/** The operator's own machine has no limit per network interface; a resolver on it or near it can handle this rate. */
const PACKETS_PER_SECOND = 5_000;
/** The cache holds some 100,000 answers of usual size. */
const CACHED_BYTES_MAX = 64 * 1024 * 1024;

export type LabAddress = Pick<Lab, "dns" | "smtpPort" | "smtpAddresses">;

export type PortShare = { readonly packets: number; readonly sessions: number };

const WHOLE_SHARE: PortShare = { packets: 1, sessions: 1 };

type OpenMailPorts = MailPorts & {
  readonly dnsLookups: DnsLookups;
  readonly issuers: Issuers;
  readonly listsReady: Promise<void>;
  readonly close: () => void;
};

/**
 * The mail system of one machine. With a lab, names below .test and the addresses of its hosts belong to the lab; all others are real.
 * Without a lab, the operator's settings apply to everything.
 */
export const openMailPorts = (
  environment: Environment,
  table: Table,
  lab: LabAddress | null,
  share: PortShare = WHOLE_SHARE,
  log?: Log,
): OpenMailPorts => {
  const now = () => new Date();
  const steadyNow = () => new Date(performance.timeOrigin + performance.now());
  const createPool = (servers: readonly string[], more: { readonly zoneLimits?: null } = {}) =>
    createResolverPool({
      servers,
      packetsPerSecond: Math.ceil(PACKETS_PER_SECOND * share.packets),
      ...more,
    });
  const { DNS_SERVERS, BLOCKLIST_DNS_SERVERS, SMTP_ALLOW_PRIVATE } = environment;
  // An operator whose mail servers are private runs a laboratory: it owns its zones, and we may ask about thousands of its domains a
  // second. Every other zone belongs to a third party and has a limit.
  const isLaboratory = DNS_SERVERS.length > 0 && SMTP_ALLOW_PRIVATE.length > 0;
  const resolvers = createPool(DNS_SERVERS, isLaboratory ? { zoneLimits: null } : {});
  // Excludes the lab's names, which work even when the internet's name servers do not.
  const watchedDns = watchDns(resolvers, { table, now });
  // A laboratory plants faults in zones, and its "com" need not exist.
  const internetDns = isLaboratory ? watchedDns : attributeFaults(environment, watchedDns, table);
  const blocklistResolvers =
    BLOCKLIST_DNS_SERVERS.length > 0 ? createPool(BLOCKLIST_DNS_SERVERS) : null;
  const labResolver = lab && createPool([lab.dns], { zoneLimits: null });
  const withLab =
    (others: Dns): Dns =>
    (type, name) =>
      (labResolver && isReservedName(name) ? labResolver : others)(type, name);
  const dns = withLab(internetDns);
  const labBlock = lab && parseCidr(lab.smtpAddresses);
  const allowed = [...SMTP_ALLOW_PRIVATE, ...(labBlock ? [labBlock] : [])];
  const fetchDocument = createDocumentPort(environment.OUTBOUND_ALLOW_PRIVATE, lab, dns);
  const cachedDns = cacheDns(dns, { now: steadyNow, bytesMax: CACHED_BYTES_MAX });
  // Any visitor of a form may name an issuer, so the blocks that are open for webhooks stay closed for issuers.
  const toIssuers = createDocumentPort([], lab, dns);
  const issuers = createIssuers({ dns: cachedDns, fetchDocument: toIssuers, now: steadyNow });
  const opened = openLists(environment, readListChanges(environment), log);
  const sendersBlock = lab && parseCidr(SENDERS_BLOCK);
  return {
    dns: cachedDns,
    issuers,
    dnsLookups: {
      dns,
      listDns: withLab(blocklistResolvers ?? internetDns),
      fetchDocument,
      dkimSelectors: environment.DKIM_SELECTORS,
      allowed: [...allowed, ...(sendersBlock ? [sendersBlock] : [])],
      blocklists: {
        listsFor: createListSelector(environment, lab),
        keys: readBlocklistKeys(environment),
        isHealthy: createListHealth(steadyNow),
      },
    },
    connect: createConnect(environment, lab, steadyNow),
    ...listExits(environment),
    table,
    lists: opened.lists,
    listsReady: opened.ready,
    allowed,
    smtp: readSmtp(environment),
    probePolicy: environment.PROBE_POLICY,
    witnesses: environment.WITNESSES,
    // The folder belongs to one server, so no other process shares its slots.
    slots: createLocalSlots({ now: steadyNow }),
    sessionsMax: Math.ceil(shareDescriptors(countFreeDescriptors()).sessions * share.sessions),
    now,
    steadyNow,
    random: Math.random,
    sleep,
    close: () => {
      for (const one of [opened, resolvers, blocklistResolvers, labResolver]) one?.close();
    },
  };
};

const readSmtp = ({ SMTP_HELLO, SMTP_FROM, SMTP_PORT }: Environment) => ({
  helo: SMTP_HELLO,
  from: SMTP_FROM,
  port: SMTP_PORT,
});

const attributeFaults = ({ DNS_SERVERS }: Environment, dns: Dns, table: Table): Dns =>
  attributeDnsFaults(dns, {
    table,
    now: () => new Date(),
    trustsDenials: DNS_SERVERS.length > 0,
  });

/** The lab's issuer has no certificate that a client could trust, so its documents do not come over HTTPS. */
const createDocumentPort = (
  allowed: readonly Cidr[],
  lab: LabAddress | null,
  dns: Dns,
): FetchDocument => {
  const fetchDocument = createDocumentFetcher(
    createHttpsClient({ dns, port: HTTPS_PORT, allowed }),
  );
  return (url) => (lab && readIssuerDocument(LAB_ZONE, url)) ?? fetchDocument(url);
};

/** Tells whether to start the lab: an operator who sets DNS_SERVERS has another network. */
export const isLabEnabled = ({ DNS_SERVERS }: Environment): boolean => DNS_SERVERS.length === 0;

/** Reserved zones, never looked up on the internet (RFC 6761, RFC 6303). */
const RESERVED_ZONES = ["test", "127.in-addr.arpa", SENDERS_REVERSE];

const isReservedName = (name: string): boolean =>
  RESERVED_ZONES.some((zone) => `.${name.toLowerCase()}`.endsWith(`.${zone}`));

const createListSelector = (
  environment: Environment,
  lab: LabAddress | null,
): ((domain: string) => readonly Blocklist[]) => {
  const configuredLists = findLists(environment.BLOCKLISTS);
  if (configuredLists.length > 0) return () => configuredLists;
  return (domain) => (lab && isReservedName(domain) ? createLabBlocklists(LAB_ZONE) : BLOCKLISTS);
};

const readBlocklistKeys = ({
  SPAMHAUS_KEY: spamhaus,
  BARRACUDA_REGISTERED,
}: Environment): BlocklistKeys => ({
  ...(spamhaus !== undefined && { [SPAMHAUS_KEY.key]: spamhaus }),
  ...(BARRACUDA_REGISTERED && { [BARRACUDA_KEY.key]: "registered" }),
});

const listExits = ({ SMTP_PROXIES }: Environment) =>
  SMTP_PROXIES.length > 0 && {
    exits: listProxyExits(SMTP_PROXIES),
    warmExits: listWarmExits(SMTP_PROXIES),
  };

const createConnect = (
  { SMTP_PROXIES }: Environment,
  lab: LabAddress | null,
  steadyNow: () => Date,
): SmtpConnect => {
  const connectOut =
    SMTP_PROXIES.length > 0 ? createProxyConnect(SMTP_PROXIES, steadyNow) : connectDirectly;
  const block = lab && parseCidr(lab.smtpAddresses);
  return (target, options) => {
    const ip = block && parseIp(target.ip);
    return lab && ip && isInBlock(ip, block)
      ? connectDirectly({ ...target, port: lab.smtpPort }, options)
      : connectOut(target, options);
  };
};

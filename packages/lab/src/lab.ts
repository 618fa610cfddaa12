import { createServer } from "node:net";
import { createSecureContext } from "node:tls";
import type { GreylistMemory } from "./dialogue.ts";
import { startDnsServer } from "./dns-server.ts";
import { allDomains } from "./domains.ts";
import { buildIssuerZone } from "./issuer.ts";
import { type MailServerCounts, startMailServer } from "./mail-server.ts";
import { buildNetwork, buildReverseZone, HOSTS_BLOCK, ONLY_ADDRESS } from "./network.ts";
import type { ReceiverCounts } from "./receivers/receiver.ts";
import { buildReceiverNetwork } from "./receivers/receiver-host.ts";
import { RECEIVERS } from "./receivers/receivers.ts";
import { buildSendersReverseZone, buildSendersZone, SENDERS_REVERSE } from "./senders.ts";
import type { StartTimer } from "./session.ts";
import type { Zones } from "./zone.ts";

/**
 * The certificate of every mail host of the lab. Its key is public, so no client may trust it. It is fixed (valid to 2126), because Node
 * can read X.509 but not create it.
 */
export const PUBLIC_AND_WORTHLESS_KEY = `\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgH8MVGv8gx0smxIiy
UD/Mx+KlmWyMut2LYyDcRt8h1DyhRANCAASih1UirWcT87GzJEXZyrMHyCFXqH6R
2o0hItAdT82CD1fEqZU56X9iVRI/AN5GgZtx+EalgJE7H1NTHLYpi46u
-----END PRIVATE KEY-----
`;

export const PUBLIC_AND_WORTHLESS_CERTIFICATE = `\
-----BEGIN CERTIFICATE-----
MIICKDCCAc6gAwIBAgIUOzlLkTwagJw3NxEMmaKHTlPC6JMwCgYIKoZIzj0EAwIw
TTEbMBkGA1UEAwwSbGFiLm1haWxwcm9vZi50ZXN0MS4wLAYDVQQKDCVQdWJsaWMg
YW5kIHdvcnRobGVzcyB0ZXN0IGNlcnRpZmljYXRlMCAXDTI2MTEyMTA1MTE0OVoY
DzIxMjYxMDI4MDUxMTQ5WjBNMRswGQYDVQQDDBJsYWIubWFpbHByb29mLnRlc3Qx
LjAsBgNVBAoMJVB1YmxpYyBhbmQgd29ydGhsZXNzIHRlc3QgY2VydGlmaWNhdGUw
WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASih1UirWcT87GzJEXZyrMHyCFXqH6R
2o0hItAdT82CD1fEqZU56X9iVRI/AN5GgZtx+EalgJE7H1NTHLYpi46uo4GJMIGG
MB0GA1UdDgQWBBS76aHL5V6V+wJuolF0P6/jum8oZzAfBgNVHSMEGDAWgBS76aHL
5V6V+wJuolF0P6/jum8oZzAPBgNVHRMBAf8EBTADAQH/MDMGA1UdEQQsMCqCEmxh
Yi5tYWlscHJvb2YudGVzdIIUKi5sYWIubWFpbHByb29mLnRlc3QwCgYIKoZIzj0E
AwIDSAAwRQIhAOWxb6OKzCFt7JXZlFEE6nO+RxKkovXBN1QYE/nauuX/AiABWP+R
kvf8SbtPDHqy878T6tuEl+o9aGDaepbeP3jzGg==
-----END CERTIFICATE-----
`;

export const LAB_ZONE = "lab.mailproof.test";

const COMPANIES = 3_000;
const SLOW_MS = 1_000;
/** The lab remembers at most this number of waiting senders, because it may run for weeks. */
const WAITING_MAX = 100_000;

export type LabOptions = {
  /** The port of every mail host; 0 selects a free port. */
  readonly smtpPort?: number;
  readonly dnsPort?: number;
  /** The delay before every reply of a mail host: commands sent together get their replies together. */
  readonly replyMs?: number;
  /** The unit of delay of the slow domains. */
  readonly slowMs?: number;
  /** The zone of all names of the lab, for a client that refuses names under .test. */
  readonly zone?: string;
  /** More zones for the DNS server, by apex; "" is the root zone. */
  readonly zones?: Zones;
  readonly companies?: number;
  /** True to play real receivers too, under their real names (docs/receivers.md). Never set this where those names should be real. */
  readonly receivers?: boolean;
  /** The ids of receivers that have the client's address on their lists: "id", or "id:block". */
  readonly blockedBy?: readonly string[];
  /** The clock of greylisting. */
  readonly now?: () => Date;
  readonly startTimer?: StartTimer | undefined;
};

export type LabStats = MailServerCounts & {
  readonly dnsQueries: number;
  readonly receivers: Readonly<Record<string, ReceiverCounts>>;
};

export type Lab = {
  /** The DNS server as host:port, for UDP and TCP. */
  readonly dns: string;
  readonly smtpPort: number;
  /** The addresses of the mail hosts, as CIDR: a client's address guard must allow them. */
  readonly smtpAddresses: string;
  readonly notes: readonly string[];
  readonly stats: () => LabStats;
  readonly close: () => Promise<void>;
};

const NO_OWN_ADDRESSES =
  "This machine has no loopback addresses but 127.0.0.1, so all mail hosts of the lab share it. Domains that " +
  "differ by greeting, TLS, timing or a closed port behave like polite hosts here; replies to recipients are as " +
  "documented. (Linux has all of 127.0.0.0/8.)";

const NO_RECEIVERS =
  "The receivers of the lab need loopback addresses of their own, and this machine has only 127.0.0.1.";

/** A small internet on the loopback: DNS and mail hosts whose replies are the same in every run. */
export const startLab = async (options: LabOptions = {}): Promise<Lab> => {
  const { smtpPort = 0, dnsPort = 0, replyMs = 0, slowMs = SLOW_MS } = options;
  const { companies = COMPANIES, now = () => new Date() } = options;
  const zoneName = (options.zone ?? LAB_ZONE).toLowerCase();
  const ownAddresses = await canListenAt("127.77.0.1");
  const network = buildNetwork({ zoneName, domains: allDomains, companies, ownAddresses });
  const receivers = buildReceiverNetwork(
    options.receivers ? RECEIVERS : [],
    options.blockedBy ?? [],
    now,
  );
  if (receivers.hosts.length > 0 && !ownAddresses) throw new Error(NO_RECEIVERS);
  const hosts = [...network.hosts, ...receivers.hosts];
  const mail = await startMailServer(hosts, smtpPort, {
    replyMs,
    slowMs,
    startTimer: options.startTimer,
    secureContext: createSecureContext({
      key: PUBLIC_AND_WORTHLESS_KEY,
      cert: PUBLIC_AND_WORTHLESS_CERTIFICATE,
    }),
    memory: createGreylistMemory(now),
  });
  const zones = {
    ...(zoneName.endsWith(".test") && { test: { [zoneName]: {} } }),
    [zoneName]: { ...network.zone, ...buildSendersZone(zoneName), ...buildIssuerZone(zoneName) },
    "127.in-addr.arpa": buildReverseZone(hosts),
    [SENDERS_REVERSE]: buildSendersReverseZone(zoneName),
    ...receivers.zones,
    ...options.zones,
  };
  const dns = await startDnsServer(zones, dnsPort).catch(async (error: unknown) => {
    await mail.close();
    throw error;
  });
  return {
    dns: dns.address,
    smtpPort: mail.port,
    smtpAddresses: ownAddresses ? HOSTS_BLOCK : `${ONLY_ADDRESS}/32`,
    notes: ownAddresses ? [] : [NO_OWN_ADDRESSES],
    stats: () => ({ ...mail.counts(), dnsQueries: dns.queries(), receivers: receivers.counts() }),
    close: async () => {
      await Promise.all([mail.close(), dns.close()]);
    },
  };
};

const canListenAt = (host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host, port: 0 }, () => server.close(() => resolve(true)));
  });

const createGreylistMemory = (now: () => Date): GreylistMemory => {
  const since = new Map<string, number>();
  return {
    waitedMs: (host, sender, to) => {
      const key = `${host} ${sender} ${to}`;
      const at = now().getTime();
      const first = since.get(key);
      if (first !== undefined) return at - first;
      const [oldest] = since.keys();
      if (since.size >= WAITING_MAX && oldest !== undefined) since.delete(oldest);
      since.set(key, at);
      return 0;
    },
  };
};

import type { ReplyWaits } from "./smtp/converse.ts";

// The mail providers, and how to ask their hosts. A figure without its own source is a tenth of the provider's limit for senders of real
// mail, as the named publisher states it; [K] is KumoMTA's traffic shaping (policy-extras and community/shaping.toml, copies of 2026-03). A
// provider that publishes nothing gets the limits of a similar provider.

/** The limits for one mail host; `PROVIDER_CONNECTIONS` limits all hosts of a provider together. */
export type ProviderLimits = {
  /** The limit includes the random recipients. At the limit the session sends RSET and a new MAIL. */
  readonly recipientsPerTransaction: number;
  /** True when the hosts serve many domains, and a transaction accepts the recipients of one. */
  readonly oneDomainPerTransaction: boolean;
  /** The limit excludes a random recipient. At the limit the session sends QUIT; another session asks about the remaining recipients. */
  readonly recipientsPerConnection: number;
  /**
   * At this limit the session also sends QUIT, and the next one starts immediately. Postfix delays replies by a second from a session's
   * 10th error on and hangs up after the 20th: a new session is quicker, and costs Postfix less (docs/design/mail-sessions.md).
   */
  readonly rejectionsPerConnection: number;
  /** Our concurrent connections to one mail host, over all processes. */
  readonly connections: number;
};

/** Every domain of the hosts, or only the listed ones: the same hosts may serve customers with their own settings. */
export type ServedDomains = "every domain" | readonly string[];

export type MailProviderRow = {
  readonly name: string;
  readonly hosts: readonly string[];
  /** A gateway filters mail for the mail systems of others, and many gateways ask the system behind them for the recipient. */
  readonly isGateway?: boolean;
  /** A forwarder has no mailboxes: it sends mail on to addresses that the owner of a domain lists. */
  readonly isForwarder?: boolean;
  readonly limits: Partial<ProviderLimits>;
  readonly waits?: Partial<ReplyWaits>;
  readonly throttleMinutes?: readonly number[];
  /** The hosts refuse unknown recipients at RCPT, and no customer can change that: a random recipient would only cost reputation. */
  readonly rejectsUnknown?: ServedDomains;
  /** The hosts may accept any recipient at RCPT, and bounce the message to an unknown one. */
  readonly acceptsThenBounces?: ServedDomains;
};

/**
 * The limits for other servers. Each must accept a hundred recipients in a transaction (RFC 5321 §4.5.3.1.8), so we ask about half of that.
 * Smaller transactions cost a server more: each adds a RSET and a MAIL.
 */
export const DEFAULT_LIMITS: ProviderLimits = {
  recipientsPerTransaction: 50,
  oneDomainPerTransaction: false,
  recipientsPerConnection: 100,
  rejectionsPerConnection: 9,
  connections: 10,
};

/**
 * The waits after a throttle, in minutes: most servers count by the quarter of an hour or the hour, and the longest wait that large
 * providers publish is four hours.
 */
export const THROTTLE_MINUTES: readonly number[] = [15, 60, 240];

/** A second recipient gets 452 4.5.3 or 451 4.4.4, in another region even for one domain (AfterShip #72, Reacher #1334). */
const ONE_BY_ONE = { recipientsPerTransaction: 1, recipientsPerConnection: 5, connections: 1 };
const GATEWAY = { recipientsPerTransaction: 10, recipientsPerConnection: 10, connections: 1 };
/** Providers of personal mailboxes count a client's unknown recipients. */
const CONSUMER = { recipientsPerTransaction: 5, recipientsPerConnection: 10, connections: 1 };
/** The limits for a hoster of many customers: above those for personal mailboxes, and below those for a company's server. */
const HOSTER = { recipientsPerTransaction: 25, recipientsPerConnection: 50, connections: 5 };
/** These providers count questions per hour, and refuse further questions with a 550 that proves nothing about the mailbox. */
const COUNTING = { recipientsPerTransaction: 1, recipientsPerConnection: 2, connections: 1 };

/** The longest matching suffix wins. */
export const MAIL_PROVIDERS = [
  {
    name: "google",
    hosts: ["google.com", "googlemail.com"],
    // [K] 50 messages per connection, 5 connections. `aspmx.l.google.com` serves all Workspace domains and stands for many machines, so one
    // name gets the provider's whole limit. "451 4.3.0 Multiple destination domains per transaction is unsupported":
    // support.google.com/a/answer/3726730, copy of 2026-02.
    limits: {
      recipientsPerTransaction: 10,
      oneDomainPerTransaction: true,
      recipientsPerConnection: 50,
      connections: 5,
    },
    rejectsUnknown: ["gmail.com", "googlemail.com"],
  },
  {
    name: "microsoft_consumer",
    hosts: ["olc.protection.outlook.com"],
    // [K] 50 messages per connection, 5 connections. No customer has a domain here, so outlook.fr behaves like outlook.com.
    limits: ONE_BY_ONE,
    rejectsUnknown: "every domain",
  },
  // Formerly custom domains of Outlook.com, whose owners could receive mail to unknown recipients.
  { name: "microsoft_consumer", hosts: ["hotmail.com"], limits: ONE_BY_ONE },
  {
    name: "microsoft",
    hosts: [
      "mail.protection.outlook.com",
      "mail.protection.outlook.de",
      "mail.protection.office365.us",
      "mail.protection.partner.outlook.cn",
      "mx.microsoft",
    ],
    limits: ONE_BY_ONE,
  },
  {
    name: "yahoo",
    hosts: ["yahoodns.net", "mx.aol.com"],
    // Yahoo allows 20 messages per connection (help.yahoo.com/kb/SLN3433, read 2026-11), and this limit uses all 20, not a tenth.
    limits: { recipientsPerTransaction: 5, recipientsPerConnection: 20, connections: 1 },
    // 250 at RCPT and "554 delivery error: dd This user doesn't have a … account" after DATA (AfterShip #57).
    acceptsThenBounces: "every domain",
  },
  {
    name: "icloud",
    hosts: ["mail.icloud.com", "mail.me.com"],
    limits: ONE_BY_ONE,
    // The same hosts serve custom domains, whose owners may receive mail for any name.
    rejectsUnknown: ["icloud.com", "me.com", "mac.com"],
  },
  {
    name: "mimecast",
    hosts: ["mimecast.com", "mimecast.co.za", "mimecast-offshore.com"],
    isGateway: true,
    limits: GATEWAY, // [K] 100 per connection, 10 connections at each site, as Mimecast publishes.
  },
  { name: "proofpoint", hosts: ["pphosted.com"], isGateway: true, limits: GATEWAY },
  // Proofpoint Essentials asks the system behind it, and replies "421 4.1.1 Address verification in progress" meanwhile.
  { name: "proofpoint", hosts: ["ppe-hosted.com"], isGateway: true, limits: GATEWAY },
  // [K] 15 per connection, 10 connections.
  { name: "barracuda", hosts: ["barracudanetworks.com"], isGateway: true, limits: GATEWAY },
  { name: "cisco", hosts: ["iphmx.com"], isGateway: true, limits: GATEWAY },
  { name: "symantec", hosts: ["messagelabs.com"], isGateway: true, limits: GATEWAY },
  {
    name: "spamexperts",
    // N-able's "Hosted Cloud MX Records" (documentation.n-able.com, read 2026-11); the last name is SiteGround's.
    hosts: [
      "antispamcloud.com",
      "spamexperts.com",
      "spamexperts.eu",
      "spamexperts.net",
      "mailspamprotection.com",
    ],
    isGateway: true,
    // SpamExperts asks the system behind it, first for a random recipient, and takes up to 30 s for one RCPT: few connections would be as
    // slow as none, and no session lasts for more than three such recipients.
    limits: { recipientsPerTransaction: 10, recipientsPerConnection: 10, connections: 5 },
    waits: { rcpt: 45_000 },
  },
  {
    name: "hornetsecurity",
    hosts: ["hornetsecurity.com", "antispameurope.com"],
    isGateway: true,
    limits: GATEWAY,
  },
  {
    name: "trend_micro",
    hosts: ["trendmicro.com", "trendmicro.eu", "trendmicro.co.jp", "trendmicro.com.au"],
    isGateway: true,
    limits: GATEWAY,
  },
  { name: "sophos", hosts: ["sophos.com", "reflexion.net"], isGateway: true, limits: GATEWAY },
  { name: "forcepoint", hosts: ["mailcontrol.com"], isGateway: true, limits: GATEWAY },
  { name: "fortinet", hosts: ["fortimailcloud.com"], isGateway: true, limits: GATEWAY },
  { name: "cloudflare_area1", hosts: ["mxrecord.io"], isGateway: true, limits: GATEWAY },
  {
    name: "zoho",
    hosts: ["zoho.com", "zoho.eu", "zoho.in", "zoho.com.au", "zoho.com.cn", "zoho.jp"],
    limits: CONSUMER,
  },
  {
    name: "fastmail",
    hosts: ["messagingengine.com"],
    limits: { recipientsPerTransaction: 10, recipientsPerConnection: 20, connections: 2 },
  },
  { name: "proton", hosts: ["protonmail.ch"], limits: CONSUMER },
  { name: "godaddy", hosts: ["secureserver.net"], limits: HOSTER },
  { name: "rackspace", hosts: ["emailsrvr.com"], limits: HOSTER },
  { name: "ovh", hosts: ["mail.ovh.net", "mail.ovh.ca"], limits: HOSTER },
  {
    name: "ionos",
    hosts: [
      "kundenserver.de",
      "perfora.net",
      "ionos.com",
      "ionos.de",
      "ionos.co.uk",
      "ionos.fr",
      "ionos.es",
      "1and1.com",
      "1and1.co.uk",
      "1and1.fr",
    ],
    limits: HOSTER,
  },
  { name: "strato", hosts: ["rzone.de"], limits: HOSTER },
  { name: "one_com", hosts: ["one.com"], limits: HOSTER },
  { name: "gandi", hosts: ["mail.gandi.net"], limits: HOSTER },
  { name: "infomaniak", hosts: ["infomaniak.ch", "infomaniak.com"], limits: HOSTER },
  { name: "hostinger", hosts: ["hostinger.com", "hostinger.in"], limits: HOSTER },
  { name: "namecheap", hosts: ["privateemail.com"], limits: HOSTER },
  { name: "titan", hosts: ["titan.email", "flockmail.com"], limits: HOSTER },
  { name: "alibaba", hosts: ["mxhichina.com"], limits: HOSTER },
  { name: "cloudflare", hosts: ["mx.cloudflare.net"], isForwarder: true, limits: HOSTER },
  { name: "improvmx", hosts: ["improvmx.com"], isForwarder: true, limits: HOSTER },
  { name: "forward_email", hosts: ["forwardemail.net"], isForwarder: true, limits: HOSTER },
  { name: "forwardmx", hosts: ["forwardmx.io"], isForwarder: true, limits: HOSTER },
  { name: "simplelogin", hosts: ["simplelogin.co"], isForwarder: true, limits: HOSTER },
  { name: "addy", hosts: ["addy.io", "anonaddy.me"], isForwarder: true, limits: HOSTER },
  {
    name: "namecheap_forwarding",
    hosts: ["registrar-servers.com"],
    isForwarder: true,
    limits: HOSTER,
  },
  {
    name: "porkbun_forwarding",
    hosts: ["fwd1.porkbun.com", "fwd2.porkbun.com"],
    isForwarder: true,
    limits: HOSTER,
  },
  // [K] GMX and web.de: 20 per connection, 4 connections; mail.com: 100 per connection.
  { name: "gmx", hosts: ["gmx.net", "gmx.com", "web.de", "mail.com"], limits: CONSUMER },
  { name: "qq", hosts: ["qq.com"], limits: COUNTING }, // [K] 8 per connection, 4 connections.
  { name: "netease", hosts: ["netease.com", "163.com", "126.com"], limits: COUNTING }, // [K] 7 and 4.
  // [K] 3 connections; Orange publishes 2 and 100 messages in each.
  {
    name: "orange",
    hosts: ["orange.fr", "wanadoo.fr"],
    limits: { ...CONSUMER, recipientsPerTransaction: 10 },
  },
  // [K] 1000 per connection, 25 connections, as Comcast publishes.
  {
    name: "comcast",
    hosts: ["comcast.net"],
    limits: { ...CONSUMER, recipientsPerTransaction: 10, connections: 2 },
  },
  { name: "yandex", hosts: ["yandex.ru", "yandex.net"], limits: CONSUMER },
  {
    name: "mail_ru",
    hosts: ["mail.ru"],
    limits: CONSUMER,
    // "250 Go ahead" for random names (Reacher #1208); companies' domains are served by the same hosts.
    acceptsThenBounces: ["mail.ru", "list.ru", "inbox.ru", "bk.ru"],
  },
  { name: "rambler", hosts: ["rambler.ru"], limits: CONSUMER },
  { name: "att", hosts: ["prodigy.net"], limits: CONSUMER },
  { name: "t_online", hosts: ["t-online.de"], limits: CONSUMER },
  // 2 connections and 100 messages in each (bentonow.com/smtp-errors/laposte, read 2026-11).
  { name: "laposte", hosts: ["laposte.net"], limits: CONSUMER },
  { name: "free", hosts: ["free.fr", "proxad.net"], limits: CONSUMER },
  // 2 connections; unknown recipients block us for two hours, SFR_IN_x04 (bentonow.com/smtp-errors/sfr, read 2026-11).
  {
    name: "sfr",
    hosts: ["sfr.fr"],
    limits: { ...CONSUMER, rejectionsPerConnection: 5 },
    throttleMinutes: [120, 240],
  },
  { name: "libero", hosts: ["libero.it"], limits: CONSUMER },
  { name: "seznam", hosts: ["seznam.cz"], limits: CONSUMER },
  // [K] 10 per connection, 10 connections.
  { name: "kpn", hosts: ["kpnmail.nl"], limits: CONSUMER },
  { name: "naver", hosts: ["naver.com"], limits: CONSUMER },
  { name: "docomo", hosts: ["docomo.ne.jp"], limits: CONSUMER },
  // [K] 20 per connection, 2 connections.
  { name: "yahoo_japan", hosts: ["yahoo.co.jp"], limits: CONSUMER },
] as const satisfies readonly MailProviderRow[];

import type { ReplyWaits } from "./smtp/converse.ts";

// Who runs mail hosts, and how its hosts want to be asked. A figure without a source of its own is a tenth of what its
// provider allows senders of real mail, by the publisher named; [K] is KumoMTA's traffic shaping (policy-extras and
// community/shaping.toml, copies of 2026-03). Where nothing is published, a provider gets the limits of one like it.

/** The limits for one mail host; `PROVIDER_CONNECTIONS` limits all hosts of a provider together. */
export type ProviderLimits = {
  /** The random recipients included. Then RSET and a new MAIL. */
  readonly recipientsPerTransaction: number;
  /** The hosts serve many domains, and a transaction takes the recipients of one. */
  readonly oneDomainPerTransaction: boolean;
  /** A random recipient comes on top of these. Then QUIT; the rest is for another session. */
  readonly recipientsPerConnection: number;
  /**
   * Then QUIT, too, and the next session starts immediately. Postfix answers a second later from the 10th error of a
   * session on and hangs up after the 20th, so that a new session is quicker, and costs it less (docs/design/mail-sessions.md).
   */
  readonly rejectionsPerConnection: number;
  /** At once, to one mail host, from all of us together. */
  readonly connections: number;
};

/** Every domain that the hosts serve, or these: the same hosts may serve customers who choose for themselves. */
export type ServedDomains = "every domain" | readonly string[];

export type MailProviderRow = {
  /** As in the field `provider` of a result. */
  readonly name: string;
  /** What the names of its mail hosts end in. */
  readonly hosts: readonly string[];
  /** It filters mail for mail systems of others, and many of these ask the system behind it for the recipient. */
  readonly isGateway?: boolean;
  /** It has no mailboxes: it forwards to addresses that the owner of a domain lists. */
  readonly isForwarder?: boolean;
  readonly limits: Partial<ProviderLimits>;
  readonly waits?: Partial<ReplyWaits>;
  /** The waits after a throttle, where the provider publishes its own. */
  readonly throttleMinutes?: readonly number[];
  /** Unknown recipients are refused at RCPT and no customer can switch that off: a random one only costs reputation. */
  readonly rejectsUnknown?: ServedDomains;
  /** Any recipient may be accepted at RCPT, and the message to an unknown one bounces. */
  readonly acceptsThenBounces?: ServedDomains;
};

/**
 * A server of its own: takes at least a hundred recipients in one transaction (RFC 5321 §4.5.3.1.8), so we ask half
 * of that. Smaller transactions cost a server more: each is a RSET and a MAIL on top.
 */
export const DEFAULT_LIMITS: ProviderLimits = {
  recipientsPerTransaction: 50,
  oneDomainPerTransaction: false,
  recipientsPerConnection: 100,
  rejectionsPerConnection: 9,
  connections: 10,
};

/**
 * The waits after a throttle, in minutes: most are counted by the quarter of an hour or the hour, and the longest that
 * large providers name are four hours.
 */
export const THROTTLE_MINUTES: readonly number[] = [15, 60, 240];

/** A second recipient gets 452 4.5.3 or 451 4.4.4, of another region even for one domain (AfterShip #72, Reacher #1334). */
const ONE_BY_ONE = { recipientsPerTransaction: 1, recipientsPerConnection: 5, connections: 1 };
const GATEWAY = { recipientsPerTransaction: 10, recipientsPerConnection: 10, connections: 1 };
/** Where people have their mail: such providers count the recipients that a client gets wrong. */
const CONSUMER = { recipientsPerTransaction: 5, recipientsPerConnection: 10, connections: 1 };
/** Mail of many customers: more than a provider's own mailboxes, less than servers that are only as many as they have. */
const HOSTER = { recipientsPerTransaction: 25, recipientsPerConnection: 50, connections: 5 };
/** These count questions per hour and answer the next one with a 550 that says nothing of the mailbox. */
const COUNTING = { recipientsPerTransaction: 1, recipientsPerConnection: 2, connections: 1 };

/** The longest suffix that fits counts. */
export const MAIL_PROVIDERS = [
  {
    name: "google",
    hosts: ["google.com", "googlemail.com"],
    // [K] 50 messages per connection, 5 connections. `aspmx.l.google.com` serves all Workspace domains and is a
    // name for many machines, so one name gets what the provider gets. "451 4.3.0 Multiple destination domains per
    // transaction is unsupported": support.google.com/a/answer/3726730, copy of 2026-02.
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
    // [K] 50 messages per connection, 5 connections. No customer has a domain here, so outlook.fr is as outlook.com.
    limits: ONE_BY_ONE,
    rejectsUnknown: "every domain",
  },
  // Once custom domains of Outlook.com: their owners could have mail to unknown recipients delivered.
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
    // 20 messages per connection (help.yahoo.com/kb/SLN3433, read 2026-11): here not a tenth of it.
    limits: { recipientsPerTransaction: 5, recipientsPerConnection: 20, connections: 1 },
    // 250 at RCPT and "554 delivery error: dd This user doesn't have a … account" after DATA (AfterShip #57).
    acceptsThenBounces: "every domain",
  },
  {
    name: "icloud",
    hosts: ["mail.icloud.com", "mail.me.com"],
    // [K] 5 messages per connection, 10 connections.
    limits: ONE_BY_ONE,
    // The same hosts serve custom domains, whose owners may receive mail for any name.
    rejectsUnknown: ["icloud.com", "me.com", "mac.com"],
  },
  {
    name: "mimecast",
    hosts: ["mimecast.com", "mimecast.co.za", "mimecast-offshore.com"],
    isGateway: true,
    limits: GATEWAY, // [K] 100 per connection, 10 connections at each site, as Mimecast says.
  },
  { name: "proofpoint", hosts: ["pphosted.com"], isGateway: true, limits: GATEWAY },
  // Proofpoint Essentials: asks the system behind it, and says "421 4.1.1 Address verification in progress" meanwhile.
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
    // It asks the system behind it, first for a random recipient, and takes up to 30 s for one RCPT: few connections
    // would be as slow as none, and no session lasts for more than three such recipients.
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
  // Registrars, at domains whose mail their customers did not buy.
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
  // [K] 3 connections; Orange says 2 and 100 messages in each.
  {
    name: "orange",
    hosts: ["orange.fr", "wanadoo.fr"],
    limits: { ...CONSUMER, recipientsPerTransaction: 10 },
  },
  // [K] 1000 per connection, 25 connections, as Comcast says.
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
  // 2 connections; unknown recipients close it for two hours, SFR_IN_x04 (bentonow.com/smtp-errors/sfr, read 2026-11).
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

/** Who runs a mail host, as far as it matters for how we may ask. */
export type Provider = keyof typeof HOST_SUFFIXES | "other";

/** What the names of a provider's mail hosts end in. The first line that fits counts. */
const HOST_SUFFIXES = {
  google: ["google.com", "googlemail.com"],
  microsoft_consumer: ["olc.protection.outlook.com", "hotmail.com"],
  microsoft: [
    "mail.protection.outlook.com",
    "mail.protection.outlook.de",
    "mail.protection.office365.us",
    "mail.protection.partner.outlook.cn",
    "mx.microsoft",
  ],
  yahoo: ["yahoodns.net", "mx.aol.com"],
  icloud: ["mail.icloud.com", "mail.me.com"],
  mimecast: ["mimecast.com", "mimecast.co.za", "mimecast-offshore.com"],
  proofpoint: ["pphosted.com", "ppe-hosted.com"],
  barracuda: ["barracudanetworks.com"],
  cisco: ["iphmx.com"],
  symantec: ["messagelabs.com"],
  zoho: ["zoho.com", "zoho.eu", "zoho.in", "zoho.com.au", "zoho.com.cn", "zoho.jp"],
  gmx: ["gmx.net", "gmx.com", "web.de", "mail.com"],
  qq: ["qq.com"],
  netease: ["netease.com", "163.com", "126.com"],
  orange: ["orange.fr", "wanadoo.fr"],
  comcast: ["comcast.net"],
  yandex: ["yandex.ru", "yandex.net"],
  mail_ru: ["mail.ru"],
  fastmail: ["messagingengine.com"],
  proton: ["protonmail.ch"],
} as const satisfies Record<string, readonly string[]>;

const PROVIDERS = Object.entries(HOST_SUFFIXES) as readonly [Provider, readonly string[]][];

export const findProvider = (mxHost: string): Provider => {
  const host = `.${mxHost.toLowerCase().replace(/\.$/, "")}`;
  const found = PROVIDERS.find(([, names]) => names.some((name) => host.endsWith(`.${name}`)));
  return found?.[0] ?? "other";
};

/** The limits for one provider. A random recipient comes on top of the recipients. */
export type ProviderLimits = {
  /** Then RSET and a new MAIL. */
  readonly recipientsPerTransaction: number;
  /** Then QUIT; the rest is for another session. */
  readonly transactionsPerConnection: number;
  /**
   * Then QUIT, too, and the next session begins at once. Postfix answers a second later from the 10th error of a
   * session on and hangs up after the 20th, so that a new session is quicker, and costs it less (decision 41).
   */
  readonly rejectionsPerConnection: number;
  /** At once, to one mail host, from all of us together. */
  readonly connections: number;
};

/**
 * A server of its own: takes at least a hundred recipients in one transaction (RFC 5321 §4.5.3.1.8), so we ask half
 * of that. Smaller transactions cost a server more: each is a RSET and a MAIL on top.
 */
const DEFAULT_LIMITS: ProviderLimits = {
  recipientsPerTransaction: 50,
  transactionsPerConnection: 2,
  rejectionsPerConnection: 9,
  connections: 10,
};

/**
 * A tenth of the limits recommended to senders of real mail, or of those that the provider publishes. Microsoft
 * answers a second recipient of one transaction with 452, and one of another tenant with 451 4.4.4.
 */
const PROVIDER_LIMITS: { readonly [provider in Provider]?: Partial<ProviderLimits> } = {
  google: { recipientsPerTransaction: 10, transactionsPerConnection: 5, connections: 1 },
  microsoft: { recipientsPerTransaction: 1, transactionsPerConnection: 5, connections: 1 },
  microsoft_consumer: { recipientsPerTransaction: 1, transactionsPerConnection: 5, connections: 1 },
  yahoo: { recipientsPerTransaction: 5, transactionsPerConnection: 4, connections: 1 },
  icloud: { recipientsPerTransaction: 1, transactionsPerConnection: 5, connections: 1 },
  mimecast: { recipientsPerTransaction: 10, transactionsPerConnection: 1, connections: 1 },
  proofpoint: { recipientsPerTransaction: 10, transactionsPerConnection: 1, connections: 1 },
  barracuda: { recipientsPerTransaction: 10, transactionsPerConnection: 1, connections: 1 },
  cisco: { recipientsPerTransaction: 10, transactionsPerConnection: 1, connections: 1 },
  symantec: { recipientsPerTransaction: 10, transactionsPerConnection: 1, connections: 1 },
  zoho: { recipientsPerTransaction: 5, transactionsPerConnection: 2, connections: 1 },
  gmx: { recipientsPerTransaction: 5, transactionsPerConnection: 2, connections: 1 },
  // These count questions per hour and answer the next one with a 550 that says nothing of the mailbox.
  qq: { recipientsPerTransaction: 1, transactionsPerConnection: 2, connections: 1 },
  netease: { recipientsPerTransaction: 1, transactionsPerConnection: 2, connections: 1 },
  orange: { recipientsPerTransaction: 10, transactionsPerConnection: 1, connections: 1 },
  comcast: { recipientsPerTransaction: 10, transactionsPerConnection: 1, connections: 2 },
  yandex: { recipientsPerTransaction: 5, transactionsPerConnection: 2, connections: 1 },
  mail_ru: { recipientsPerTransaction: 5, transactionsPerConnection: 2, connections: 1 },
  fastmail: { recipientsPerTransaction: 10, transactionsPerConnection: 2, connections: 2 },
  proton: { recipientsPerTransaction: 5, transactionsPerConnection: 2, connections: 1 },
};

/**
 * To all the hosts of one provider together, under whatever names its customers' MX records give them: what the
 * largest ones publish for senders of real mail.
 */
export const PROVIDER_CONNECTIONS = 5;

export const getLimits = (provider: Provider): ProviderLimits => ({
  ...DEFAULT_LIMITS,
  ...PROVIDER_LIMITS[provider],
});

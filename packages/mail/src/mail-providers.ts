import {
  DEFAULT_LIMITS,
  MAIL_PROVIDERS,
  type MailProviderRow,
  type ProviderLimits,
  type ServedDomains,
  THROTTLE_MINUTES,
} from "./mail-provider-table.ts";
import type { ReplyWaits } from "./smtp/converse.ts";

/** `other`: a mail host whose provider is not in the table, mostly a company's or a hoster's own. */
export type MailProviderName = (typeof MAIL_PROVIDERS)[number]["name"] | "other";

export type MailProvider = {
  readonly name: MailProviderName;
  readonly isGateway: boolean;
  readonly isForwarder: boolean;
  readonly limits: ProviderLimits;
  readonly waits: Partial<ReplyWaits>;
  readonly throttleMinutes: readonly number[];
  readonly rejectsUnknown: ServedDomains;
  readonly acceptsThenBounces: ServedDomains;
};

/**
 * Our concurrent connections to all hosts of one provider, under any names in its customers' MX records: the largest providers publish this
 * limit for senders of real mail.
 */
export const PROVIDER_CONNECTIONS = 5;

export const findMailProvider = (mxHost: string): MailProvider => {
  const host = mxHost.toLowerCase().replace(/\.$/, "");
  // Tries the longest suffix first: `olc.protection.outlook.com` before `outlook.com`. Each reply needs this look-up.
  for (let at = 0; at >= 0; at = host.indexOf(".", at) + 1 || -1) {
    const found = bySuffix.get(host.slice(at));
    if (found) return found;
  }
  return OTHER;
};

/** Tells whether the domain's hosts always refuse unknown recipients at RCPT, so that an acceptance proves the mailbox. */
export const rejectsUnknownRecipients = (domain: string, mxHost: string | null): boolean =>
  mxHost !== null && includesDomain(findMailProvider(mxHost).rejectsUnknown, domain);

/** Tells whether an acceptance at RCPT proves nothing, because the mail may bounce later. */
export const mayAcceptThenBounce = (domain: string, mxHost: string | null): boolean =>
  mxHost !== null && includesDomain(findMailProvider(mxHost).acceptsThenBounces, domain);

const includesDomain = (served: ServedDomains, domain: string): boolean =>
  served === "every domain" || served.includes(domain.toLowerCase());

const toMailProvider = (
  name: MailProviderName,
  {
    isGateway = false,
    isForwarder = false,
    limits,
    waits = {},
    throttleMinutes = THROTTLE_MINUTES,
    rejectsUnknown = [],
    acceptsThenBounces = [],
  }: Omit<MailProviderRow, "name" | "hosts">,
): MailProvider => ({
  name,
  isGateway,
  isForwarder,
  limits: { ...DEFAULT_LIMITS, ...limits },
  waits,
  throttleMinutes,
  rejectsUnknown,
  acceptsThenBounces,
});

const OTHER = toMailProvider("other", { limits: {} });

const bySuffix: ReadonlyMap<string, MailProvider> = new Map(
  MAIL_PROVIDERS.flatMap((row) => {
    const provider = toMailProvider(row.name, row);
    return row.hosts.map((host) => [host, provider] as const);
  }),
);

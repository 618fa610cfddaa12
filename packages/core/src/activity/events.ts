import type { Address } from "@mailproof/mail/address";
import type { BounceReport } from "@mailproof/mail/bounce-kind";
import { DAY_MS } from "../lib/time.ts";

// Programs also open mail and click links. The service counts these events separately, not as activity of the recipient.

/** Patterns of bots' user agents with their reasons. The first match decides. */
const BOT_USER_AGENTS: readonly (readonly [why: string, pattern: RegExp])[] = [
  // Apple's Mail Privacy Protection loads every image when the mail arrives, with this shortened user agent.
  ["apple_mpp", /^Mozilla\/5\.0$/],
  [
    "security_scanner",
    /barracuda|proofpoint|mimecast|fireeye|trellix|symantec|messagelabs|trend ?micro|forcepoint|sophos|cloudmark|zscaler|safelinks|existence discovery/i,
  ],
  // Declared bots and client libraries. Cubot is a maker of phones.
  ["bot", /(?<!\bcu)bot\b|crawl|spider|preview|headless|phantomjs|monitor|scan(?:ner|ning)/i],
  [
    "program",
    /^(?:curl|wget|python|go-http-client|java|okhttp|node|axios|libwww|ruby|php)\b|urllib|aiohttp|httpclient/i,
  ],
];

/**
 * A scanner of incoming mail opens within 10 s. Because the clocks of two machines differ, an open may also seem to precede the
 * mail; with a larger difference the times are not comparable.
 */
const SCANNER_MS = 10_000;

type EngagementEvent = {
  readonly at: Date;
  /** The delivery time of the mail, or its send time when the delivery time is unknown. */
  readonly deliveredAt?: Date | undefined;
  readonly userAgent?: string | undefined;
};

/**
 * Returns why an open or a click is a bot's; null when a person seems to have made it. The result depends only on the event, so
 * events may arrive in any order.
 */
const findBotReason = ({ at, deliveredAt, userAgent }: EngagementEvent): string | null => {
  const agent = BOT_USER_AGENTS.find(([, pattern]) => pattern.test(userAgent?.trim() ?? ""));
  if (agent) return agent[0];
  return deliveredAt && Math.abs(at.getTime() - deliveredAt.getTime()) <= SCANNER_MS
    ? "too_soon"
    : null;
};

export const MAIL_EVENT_TYPES = [
  "delivery",
  "bounce",
  "complaint",
  "open",
  "click",
  "reject",
  "delivery_delay",
] as const;

export type MailEventType = (typeof MAIL_EVENT_TYPES)[number];

export type MailEvent = {
  /** The service counts an event once per id, however often a source reports it. */
  readonly id: string;
  readonly type: MailEventType;
  readonly address: Address;
  readonly at: Date;
  readonly deliveredAt?: Date | undefined;
  readonly userAgent?: string | undefined;
  /** The source states that no person opened or clicked. */
  readonly isBot?: boolean | undefined;
  readonly bounce?: BounceReport | undefined;
};

export type MailEventKind =
  | Exclude<MailEventType, "reject" | "delivery_delay">
  | "machine"
  | "reject"
  | "delay";

export const toEventKind = (event: MailEvent): MailEventKind => {
  const { type } = event;
  if (type === "delivery_delay") return "delay";
  if (type !== "open" && type !== "click") return type;
  return event.isBot || findBotReason(event) ? "machine" : type;
};

/** Longer than a year, so that a recipient who reads one mail each Christmas keeps a record. */
export const RETENTION_DAYS = 400;

const RETENTION_MS = RETENTION_DAYS * DAY_MS;
/** The clocks of sources may be this much ahead. */
const SKEW_MS = 15 * 60_000;

export type IgnoredReason = "too_old" | "in_the_future";

/** Returns the event's time, at most now, or the reason to ignore the event. */
export const getEventTime = ({ at }: Pick<MailEvent, "at">, now: Date): Date | IgnoredReason => {
  const aheadMs = at.getTime() - now.getTime();
  if (aheadMs > SKEW_MS) return "in_the_future";
  if (-aheadMs > RETENTION_MS) return "too_old";
  return aheadMs > 0 ? now : at;
};

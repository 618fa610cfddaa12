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

export type EngagementEvent = {
  readonly at: Date;
  /** The delivery time of the mail, or its send time when the delivery time is unknown. */
  readonly deliveredAt?: Date | undefined;
  readonly userAgent?: string | undefined;
};

/**
 * Returns why an open or a click is a bot's; null when a person seems to have made it. The result depends only on the event, so
 * events may arrive in any order.
 */
export const findBotReason = ({ at, deliveredAt, userAgent }: EngagementEvent): string | null => {
  const agent = BOT_USER_AGENTS.find(([, pattern]) => pattern.test(userAgent?.trim() ?? ""));
  if (agent) return agent[0];
  return deliveredAt && Math.abs(at.getTime() - deliveredAt.getTime()) <= SCANNER_MS
    ? "too_soon"
    : null;
};

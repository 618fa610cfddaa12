// Programs open mail, too. Their opens and clicks are counted separately, and do not count as activity of the
// recipient.

/** Bots by user agent: the reason and the pattern. The first match decides. */
const BOT_USER_AGENTS: readonly (readonly [why: string, pattern: RegExp])[] = [
  // Apple's Mail Privacy Protection loads every image when the mail arrives, with this shortened user agent.
  ["apple_mpp", /^Mozilla\/5\.0$/],
  [
    "security_scanner",
    /barracuda|proofpoint|mimecast|fireeye|trellix|symantec|messagelabs|trend ?micro|forcepoint|sophos|cloudmark|zscaler|safelinks|existence discovery/i,
  ],
  // Declared bots, and client libraries. Cubot is a maker of phones.
  ["bot", /(?<!\bcu)bot\b|crawl|spider|preview|headless|phantomjs|monitor|scan(?:ner|ning)/i],
  [
    "program",
    /^(?:curl|wget|python|go-http-client|java|okhttp|node|axios|libwww|ruby|php)\b|urllib|aiohttp|httpclient/i,
  ],
];

/**
 * An open this soon is by a scanner of incoming mail. The clocks of two machines differ a little, so an open may also
 * seem to precede the mail; with a larger difference the times cannot be compared.
 */
const SCANNER_MS = 10_000;

export type EngagementEvent = {
  readonly at: Date;
  /** When the mail was delivered; if unknown, when it was sent. */
  readonly deliveredAt?: Date | undefined;
  readonly userAgent?: string | undefined;
};

/**
 * Why an open or a click is by a bot; null: it seems to be by a person. The result depends only on the event, so
 * events may arrive in any order.
 */
export const findBotReason = ({ at, deliveredAt, userAgent }: EngagementEvent): string | null => {
  const agent = BOT_USER_AGENTS.find(([, pattern]) => pattern.test(userAgent?.trim() ?? ""));
  if (agent) return agent[0];
  return deliveredAt && Math.abs(at.getTime() - deliveredAt.getTime()) <= SCANNER_MS
    ? "too_soon"
    : null;
};

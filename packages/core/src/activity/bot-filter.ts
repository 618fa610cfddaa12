// Programs open mail, too. Their opens and clicks are counted by themselves, and say nothing about the person.

/** By what a program calls itself: why, and how it is known. The first that fits is told. */
const BOT_USER_AGENTS: readonly (readonly [why: string, pattern: RegExp])[] = [
  // Apple's Mail Privacy Protection loads every picture when the mail arrives, by an agent cut down to this.
  ["apple_mpp", /^Mozilla\/5\.0$/],
  [
    "security_scanner",
    /barracuda|proofpoint|mimecast|fireeye|trellix|symantec|messagelabs|trend ?micro|forcepoint|sophos|cloudmark|zscaler|safelinks|existence discovery/i,
  ],
  // Bots that say so, and libraries that nobody reads mail with. Cubot makes telephones.
  ["bot", /(?<!\bcu)bot\b|crawl|spider|preview|headless|phantomjs|monitor|scan(?:ner|ning)/i],
  [
    "program",
    /^(?:curl|wget|python|go-http-client|java|okhttp|node|axios|libwww|ruby|php)\b|urllib|aiohttp|httpclient/i,
  ],
];

/**
 * What is opened this soon was opened by a scanner on its way in. Clocks of two machines differ a little, so an open
 * may also seem to come before the mail; further off, they cannot be compared.
 */
const SCANNER_MS = 10_000;

export type EngagementEvent = {
  readonly at: Date;
  /** When the mail was delivered, or else when it was sent. */
  readonly deliveredAt?: Date | undefined;
  readonly userAgent?: string | undefined;
};

/**
 * Why an open or a click is a machine's; null: a person's, as far as anybody can tell. It depends on nothing but the
 * event, so that events may come in any order.
 */
export const findBotReason = ({ at, deliveredAt, userAgent }: EngagementEvent): string | null => {
  const agent = BOT_USER_AGENTS.find(([, pattern]) => pattern.test(userAgent?.trim() ?? ""));
  if (agent) return agent[0];
  return deliveredAt && Math.abs(at.getTime() - deliveredAt.getTime()) <= SCANNER_MS
    ? "too_soon"
    : null;
};

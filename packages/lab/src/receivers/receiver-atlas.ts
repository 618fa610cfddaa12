import { type Block, DAY_MINUTES, type Limit, type Receiver } from "./receiver.ts";
import { RECEIVERS } from "./receivers.ts";

/** Providers of the engine's table whose replies no found document describes. */
export const UNDOCUMENTED: Readonly<Record<string, string>> = {
  addy: "addy.io, which forwards",
  alibaba: "Alibaba Mail",
  cloudflare_area1: "Cloudflare Area 1, a gateway",
  forcepoint: "Forcepoint, a gateway",
  fortinet: "FortiMail Cloud, a gateway",
  forward_email: "Forward Email, which forwards",
  forwardmx: "ForwardMX, which forwards",
  gandi: "Gandi",
  hostinger: "Hostinger",
  improvmx: "ImprovMX, which forwards",
  kpn: "KPN",
  namecheap: "Namecheap Private Email",
  namecheap_forwarding: "Namecheap's email forwarding",
  one_com: "one.com",
  porkbun_forwarding: "Porkbun's email forwarding",
  seznam: "Seznam",
  simplelogin: "SimpleLogin, which forwards",
  sophos: "Sophos Email, a gateway",
  strato: "STRATO",
  titan: "Titan",
  trend_micro: "Trend Micro Email Security, a gateway",
  yahoo_japan: "Yahoo! Japan",
};

export const formatAtlas = (): string =>
  [
    "## Documented receivers",
    RECEIVERS.map(formatReceiver).join("\n"),
    "## Providers without documents",
    "The engine treats these providers as it treats similar ones. The lab does not play them.",
    `${Object.entries(UNDOCUMENTED)
      .map(([id, provider]) => `\`${id}\` (${provider})`)
      .join(", ")}.`,
  ].join("\n\n");

const formatReceiver = (receiver: Receiver): string =>
  [
    `- \`${receiver.id}\`, ${receiver.title}: ${formatUnknown(receiver)}.`,
    ...listFacts(receiver),
  ].join(" ");

const readCode = (reply: string): string => {
  const [, code = "", enhanced] = /^(\d{3})[- ](\d\.\d{1,3}\.\d{1,3})?/.exec(reply) ?? [];
  return enhanced === undefined ? code : `${code} ${enhanced}`;
};

const formatUnknown = ({ mailboxes }: Receiver): string =>
  mailboxes.unknown.startsWith("2") ? "accepted" : readCode(mailboxes.unknown);

const listFacts = (receiver: Receiver): readonly string[] => [
  ...listLimits(receiver),
  ...(receiver.blocks ?? []).map(formatBlock),
  ...(receiver.notes === undefined ? [] : [receiver.notes]),
];

const LIMITS = {
  sessionsAtOnce: ["open session", "open sessions"],
  transactionsPerSession: ["transaction a session", "transactions a session"],
  recipientsPerSession: ["recipient a session", "recipients a session"],
  recipientsPerTransaction: ["recipient a transaction", "recipients a transaction"],
  domainsPerTransaction: ["domain a transaction", "domains a transaction"],
  refusalsPerSession: ["refused recipient a session", "refused recipients a session"],
} as const;

const listLimits = ({ limits = {}, recipientSeconds }: Receiver): readonly string[] => [
  ...Object.entries(LIMITS).flatMap(([name, [one, several]]) => {
    const limit: Limit | undefined = limits[name as keyof typeof LIMITS];
    if (limit === undefined) return [];
    return [`${limit.most} ${limit.most === 1 ? one : several} (${readCode(limit.reply)}).`];
  }),
  ...(recipientSeconds === undefined ? [] : [`Replies ${recipientSeconds} s after each RCPT.`]),
];

const STAGES = { greeting: "at the greeting", mail: "at MAIL", rcpt: "at RCPT" } as const;

const formatBlock = ({
  name,
  stage,
  reply,
  minutes = DAY_MINUTES,
  sessions,
  afterUnknown,
}: Block): string => {
  const listed = name === undefined ? "Listed" : `Listed (${name})`;
  const cause = afterUnknown === undefined ? listed : `After ${afterUnknown} unknown recipients`;
  return `${cause}: ${readCode(reply)} ${STAGES[stage]}${formatDuration(minutes, sessions)}.`;
};

/** The page states above the entries that a block without a stated time lasts a day. */
const formatDuration = (minutes: number, sessions: number | undefined): string => {
  if (sessions !== undefined) return ` in ${sessions} sessions`;
  return minutes === DAY_MINUTES ? "" : ` for ${formatMinutes(minutes)}`;
};

const formatMinutes = (minutes: number): string =>
  minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`;

import { formatMarkdownTable } from "../markdown-table.ts";
import type { Block, Limit, Receiver, ReceiverDomain, Source } from "./receiver.ts";
import { RECEIVERS } from "./receivers.ts";
import { UNDOCUMENTED } from "./undocumented.ts";

/** The entries of docs/receivers.md, from the same values that the lab plays. */
export const formatAtlas = (): string =>
  [
    "## Documented receivers",
    ...RECEIVERS.map(formatEntry),
    "## Providers without documents",
    "The engine treats these as it treats similar ones, and the lab does not play them.",
    formatMarkdownTable(
      ["entry", "provider"],
      Object.entries(UNDOCUMENTED).map(([id, what]) => [`\`${id}\``, what]),
    ),
  ].join("\n\n");

const formatEntry = (receiver: Receiver): string =>
  [
    `### ${receiver.title}`,
    `Entry \`${receiver.id}\`. ${formatHosts(receiver)}${receiver.notes ? ` ${receiver.notes}` : ""}`,
    formatReplies(receiver),
    formatList([...listLimits(receiver), ...(receiver.blocks ?? []).map(formatBlock)]),
    formatSettings(receiver.domains),
    formatList(receiver.scenarios.map(formatScenario)),
    `Sources: ${receiver.sources.map(formatSource).join("; ")}.`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");

const formatHosts = ({ hosts, domains, extensions = [], tls = "none" }: Receiver): string => {
  const [host = ""] = [...hosts, ...domains.flatMap((domain) => domain.hosts ?? [])];
  const offers = [
    ...extensions.map((line) => line.split(" ", 1)[0]),
    ...(tls === "none" ? [] : ["STARTTLS"]),
  ];
  return `Hosts such as \`${host}\`; EHLO lists ${offers.length > 0 ? offers.join(", ") : "what every server has"}.`;
};

const MAILBOXES = {
  existing: "exists",
  unknown: "does not exist",
  full: "is full",
  disabled: "is disabled",
  busy: "gets too much",
} as const;

const formatReplies = ({ mailboxes }: Receiver): string =>
  formatMarkdownTable(
    ["a mailbox that", "reply"],
    Object.entries(MAILBOXES).flatMap(([condition, label]) => {
      const reply = mailboxes[condition as keyof typeof MAILBOXES];
      return reply === undefined ? [] : [[label, formatReply(reply)]];
    }),
  );

const formatReply = (reply: string): string =>
  `\`${reply.replaceAll("\n", " ⏎ ").replaceAll("|", "\\|")}\``;

const LIMITS = {
  sessionsAtOnce: ["open session of one client", "open sessions of one client"],
  transactionsPerSession: ["transaction in a session", "transactions in a session"],
  recipientsPerSession: ["recipient in a session", "recipients in a session"],
  recipientsPerTransaction: ["recipient in a transaction", "recipients in a transaction"],
  domainsPerTransaction: ["domain in a transaction", "domains in a transaction"],
  refusalsPerSession: ["refused recipient in a session", "refused recipients in a session"],
} as const;

const listLimits = ({ limits = {}, recipientSeconds }: Receiver): readonly string[] => [
  ...Object.entries(LIMITS).flatMap(([name, [one, several]]) => {
    const limit: Limit | undefined = limits[name as keyof typeof LIMITS];
    return limit
      ? [
          `At most ${limit.most} ${limit.most === 1 ? one : several}, then ${formatReply(limit.reply)}`,
        ]
      : [];
  }),
  ...(recipientSeconds === undefined ? [] : [`Takes ${recipientSeconds} seconds for each RCPT`]),
];

const STAGES = { greeting: "at the greeting", mail: "at MAIL", rcpt: "at RCPT" } as const;

const formatBlock = ({ name, stage, reply, minutes, sessions, afterUnknown }: Block): string => {
  const listed = name === undefined ? "A listed client" : `A listed client (${name})`;
  const cause = afterUnknown === undefined ? listed : `After ${afterUnknown} unknown recipients`;
  const duration =
    sessions === undefined ? `for ${formatMinutes(minutes)}` : `in ${sessions} sessions`;
  return `${cause}: refused ${STAGES[stage]} ${duration} with ${formatReply(reply)}`;
};

const formatMinutes = (minutes: number): string =>
  minutes % 60 === 0 ? `${minutes / 60} hours` : `${minutes} minutes`;

const formatSettings = (domains: readonly ReceiverDomain[]): string => {
  const bySetting = new Map(
    domains.flatMap((domain) => (domain.setting === undefined ? [] : [[domain.setting, domain]])),
  );
  const rows = [...bySetting].flatMap(([setting, { mailboxes = {}, greylist }]) => [
    ...Object.entries(MAILBOXES).flatMap(([condition, label]) => {
      const reply = mailboxes[condition as keyof typeof MAILBOXES];
      return reply === undefined ? [] : [[setting, label, formatReply(reply)]];
    }),
    ...(greylist
      ? [
          [
            setting,
            `is asked about before ${greylist.minutes} minutes`,
            formatReply(greylist.reply),
          ],
        ]
      : []),
  ]);
  return rows.length === 0
    ? ""
    : formatMarkdownTable(["a customer's setting", "a mailbox that", "reply"], rows);
};

const formatScenario = ({
  shows,
  isBlocked,
  results,
  atMost = {},
  openIssue,
}: Receiver["scenarios"][number]): string => {
  const verdicts = [
    ...new Set(results.map(([, ...all]) => all.map((one) => `\`${one}\``).join(" or "))),
  ];
  const counts = Object.entries(atMost).map(
    ([name, most]) => `${COUNTS[name] ?? name} at most ${most}`,
  );
  return [
    `Scenario: ${shows}${formatListing(isBlocked)}. ${results.length} ${results.length === 1 ? "address" : "addresses"}: ${verdicts.join(", ")}`,
    ...counts,
    ...(openIssue === undefined ? [] : [`**open: ${openIssue}**`]),
  ].join("; ");
};

const formatListing = (isBlocked: true | string | undefined): string => {
  if (isBlocked === undefined) return "";
  return isBlocked === true ? " (blocked from the start)" : ` (${isBlocked} from the start)`;
};

const COUNTS: Readonly<Record<string, string>> = {
  sessionsIntoBlock: "sessions into the block",
  overLimit: "replies over a limit",
};

const formatSource = ({ what, at, date }: Source): string =>
  `${what} (${at.startsWith("http") ? `<${at}>` : at}, ${date})`;

const formatList = (lines: readonly string[]): string =>
  lines.map((line) => `- ${line}.`).join("\n");

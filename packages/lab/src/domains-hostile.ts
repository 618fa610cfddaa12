import { type LabDomain, USUAL_EXAMPLES } from "./domain.ts";
import { acceptExisting, alwaysReply, type HostBehavior } from "./host-behavior.ts";

const LONG = 3_000;
const createHost = (behavior: Partial<HostBehavior>) => ({
  mx: { rcpt: acceptExisting(), ...behavior },
});

export const hostileDomains: readonly LabDomain[] = [
  {
    name: "silent",
    shows: "Never sends a reply.",
    examples: [["ada.lovelace", "unknown", "timeout"]],
    hosts: createHost({ opening: "silence" }),
  },
  {
    name: "silentrcpt",
    shows: "Replies to every command except RCPT.",
    examples: [["ada.lovelace", "unknown", "timeout"]],
    hosts: createHost({
      rcpt: alwaysReply({ reply: "250 2.1.5 Ok", slow: Number.POSITIVE_INFINITY }),
    }),
  },
  {
    name: "slow",
    shows: "Takes a second for every reply.",
    examples: USUAL_EXAMPLES,
    hosts: createHost({ slow: 1 }),
  },
  {
    name: "slowbanner",
    shows: "Takes six seconds for its greeting, as Postfix's postscreen does.",
    examples: USUAL_EXAMPLES,
    hosts: createHost({ slowGreeting: 6 }),
  },
  {
    name: "drip",
    shows: "Sends its replies a few bytes at a time.",
    examples: USUAL_EXAMPLES,
    hosts: createHost({ wire: "drip" }),
  },
  {
    name: "patience",
    shows: "Refuses a client that sends a command before the greeting.",
    examples: USUAL_EXAMPLES,
    hosts: createHost({ opening: "patience", slowGreeting: 0.2 }),
  },
  {
    name: "hangup",
    shows: "Accepts the connection and closes it at once.",
    examples: [["ada.lovelace", "unknown", "connection_lost"]],
    hosts: createHost({ opening: "hang up" }),
  },
  {
    name: "halfclose",
    shows: "Closes its half of the connection right after the greeting.",
    examples: [["ada.lovelace", "unknown", "connection_lost"]],
    hosts: createHost({ opening: "half close" }),
  },
  {
    name: "dropmid",
    shows: "Drops the connection at the first recipient.",
    examples: [["ada.lovelace", "unknown", "connection_lost"]],
    hosts: createHost({ rcpt: alwaysReply({}) }),
  },
  {
    name: "closing",
    shows: "Replies to a recipient with 421 and hangs up.",
    examples: [["ada.lovelace", "unknown", "server_error"]],
    hosts: createHost({
      rcpt: alwaysReply({ reply: "421 4.7.0 Try again later, closing connection", hangUp: true }),
    }),
  },
  {
    name: "endless",
    shows: "Greets with lines that never end.",
    examples: [["ada.lovelace", "unknown", "protocol_error"]],
    hosts: createHost({ opening: "endless" }),
  },
  {
    name: "longline",
    shows: "Refuses with one line of 3,000 characters.",
    examples: [["unknown.person", "unknown", "protocol_error"]],
    hosts: createHost({ rcpt: acceptExisting(`550 5.1.1 ${"no ".repeat(LONG / 3)}`) }),
  },
  {
    name: "garbage",
    shows: "Sends an SSH greeting.",
    examples: [["ada.lovelace", "unknown", "protocol_error"]],
    hosts: createHost({ greeting: "SSH-2.0-OpenSSH_9.2 HOST" }),
  },
  {
    name: "garbledrcpt",
    shows: "Replies to a recipient with text that is not an SMTP reply.",
    examples: [["ada.lovelace", "unknown", "protocol_error"]],
    hosts: createHost({ rcpt: alwaysReply("HTTP/1.1 400 Bad Request") }),
  },
  {
    name: "mixedcodes",
    shows: "Replies over two lines with different codes.",
    examples: [["ada.lovelace", "unknown", "policy_blocked"]],
    hosts: createHost({ rcpt: alwaysReply("250-2.1.5 Ok so far\n550 5.7.1 Or perhaps not") }),
  },
  {
    name: "barelf",
    shows: "Ends its lines with a bare line feed.",
    examples: USUAL_EXAMPLES,
    hosts: createHost({ wire: "bare line feeds" }),
  },
];

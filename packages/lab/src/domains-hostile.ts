import type { LabDomains } from "./domain.ts";
import { acceptExisting, alwaysReply, type HostBehavior } from "./host-behavior.ts";

const LONG = 3_000;
const createHost = (behavior: Partial<HostBehavior>) => ({
  mx: { rcpt: acceptExisting(), ...behavior },
});

export const hostileDomains: LabDomains = {
  silent: {
    shows: "Never sends a reply.",
    examples: [["ada.lovelace", "unknown", "timeout"]],
    hosts: createHost({ opening: "silence" }),
  },
  silentrcpt: {
    shows: "Replies to every command except RCPT.",
    examples: [["ada.lovelace", "unknown", "timeout"]],
    hosts: createHost({
      rcpt: alwaysReply({ reply: "250 2.1.5 Ok", slow: Number.POSITIVE_INFINITY }),
    }),
  },
  slow: {
    shows: "Takes a second for every reply.",
    hosts: createHost({ slow: 1 }),
  },
  slowbanner: {
    shows: "Takes six seconds for its greeting, as Postfix's postscreen does.",
    hosts: createHost({ slowGreeting: 6 }),
  },
  drip: {
    shows: "Sends its replies a few bytes at a time.",
    hosts: createHost({ wire: "drip" }),
  },
  patience: {
    shows: "Refuses a client that sends a command before the greeting.",
    hosts: createHost({ opening: "patience", slowGreeting: 0.2 }),
  },
  hangup: {
    shows: "Accepts the connection and closes it at once.",
    examples: [["ada.lovelace", "unknown", "connection_lost"]],
    hosts: createHost({ opening: "hang up" }),
  },
  halfclose: {
    shows: "Closes its half of the connection right after the greeting.",
    examples: [["ada.lovelace", "unknown", "connection_lost"]],
    hosts: createHost({ opening: "half close" }),
  },
  dropmid: {
    shows: "Drops the connection at the first recipient.",
    examples: [["ada.lovelace", "unknown", "connection_lost"]],
    hosts: createHost({ rcpt: alwaysReply({}) }),
  },
  closing: {
    shows: "Replies to a recipient with 421 and hangs up.",
    examples: [["ada.lovelace", "unknown", "server_error"]],
    hosts: createHost({
      rcpt: alwaysReply({ reply: "421 4.7.0 Try again later, closing connection", hangUp: true }),
    }),
  },
  endless: {
    shows: "Greets with lines that never end.",
    examples: [["ada.lovelace", "unknown", "protocol_error"]],
    hosts: createHost({ opening: "endless" }),
  },
  longline: {
    shows: "Refuses with one line of 3,000 characters.",
    examples: [["unknown.person", "unknown", "protocol_error"]],
    hosts: createHost({ rcpt: acceptExisting(`550 5.1.1 ${"no ".repeat(LONG / 3)}`) }),
  },
  garbage: {
    shows: "Sends an SSH greeting.",
    examples: [["ada.lovelace", "unknown", "protocol_error"]],
    hosts: createHost({ greeting: "SSH-2.0-OpenSSH_9.2 HOST" }),
  },
  garbledrcpt: {
    shows: "Replies to a recipient with text that is not an SMTP reply.",
    examples: [["ada.lovelace", "unknown", "protocol_error"]],
    hosts: createHost({ rcpt: alwaysReply("HTTP/1.1 400 Bad Request") }),
  },
  mixedcodes: {
    shows: "Replies over two lines with different codes.",
    examples: [["ada.lovelace", "unknown", "policy_blocked"]],
    hosts: createHost({ rcpt: alwaysReply("250-2.1.5 Ok so far\n550 5.7.1 Or perhaps not") }),
  },
  barelf: {
    shows: "Ends its lines with a bare line feed.",
    hosts: createHost({ wire: "bare line feeds" }),
  },
};

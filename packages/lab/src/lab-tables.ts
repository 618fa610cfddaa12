import type { LabDomain } from "./domain.ts";
import { DOMAINS } from "./domains.ts";
import { formatMarkdownTable } from "./markdown-table.ts";
import { SENDERS, SENDERS_LABEL } from "./senders.ts";

export const formatLabTables = (): string => {
  const domains = Object.entries(DOMAINS).map(([title, rows]) =>
    formatSection(
      title,
      ["domain", "shows", "results"],
      rows.map(({ name, shows, examples }) => [`\`${name}\``, shows, formatExamples(examples)]),
    ),
  );
  const senders = formatSection(
    "Sending domains",
    ["check", "sends from", "grade", "because"],
    SENDERS.map(({ name, sendingIp, grade, shows }) => [
      `\`${name}.${SENDERS_LABEL}\``,
      sendingIp === null ? "nowhere" : `\`${sendingIp}\``,
      grade ?? "none",
      shows,
    ]),
  );
  return [...domains, senders].join("\n\n");
};

/** The results of an ordinary server; docs/lab.md explains the word above its tables. */
const ORDINARY = "`ada.lovelace`: valid `accepted`; `nobody`: invalid `mailbox_not_found`";

const formatExamples = (examples: LabDomain["examples"]): string => {
  const text = examples
    .map(([local, status, reason]) => `\`${local}\`: ${status} \`${reason}\``)
    .join("; ");
  return text === ORDINARY ? "ordinary" : text.replace(/^`ada\.lovelace`: /, "");
};

const formatSection = (
  title: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
) => `### ${title}\n\n${formatMarkdownTable(head, rows)}`;

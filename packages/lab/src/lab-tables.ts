import type { LabDomain } from "./domain.ts";
import { DOMAINS } from "./domains.ts";
import { type LabSender, SENDERS, SENDERS_LABEL } from "./senders.ts";

export const formatLabTables = (): string =>
  [
    ...Object.entries(DOMAINS).map(([title, domains]) =>
      formatSection(title, domains.map(formatDomain)),
    ),
    formatSection("Sending domains", SENDERS.map(formatSender)),
  ].join("\n\n");

const formatDomain = ({ name, shows, examples }: LabDomain): string => {
  const results = formatExamples(examples);
  return results === ORDINARY
    ? `\`${name}\`: ${shows}`
    : `\`${name}\`: ${omitUsual(results)}. ${shows}`;
};

const formatSender = ({ name, sendingIp, grade, shows }: LabSender): string =>
  `\`${name}.${SENDERS_LABEL}\`, ${sendingIp === null ? "sends nothing" : `\`${sendingIp}\``}, ${grade === null ? "no grade" : `grade ${grade}`}: ${shows}`;

/** The results of an ordinary server, which docs/lab.md omits. */
const ORDINARY = "`ada.lovelace`: valid `accepted`; `nobody`: invalid `mailbox_not_found`";

const formatExamples = (examples: LabDomain["examples"]): string =>
  examples.map(([local, status, reason]) => `\`${local}\`: ${status} \`${reason}\``).join("; ");

/** An entry without a mailbox is about `ada.lovelace`. */
const omitUsual = (results: string): string => results.replace(/^`ada\.lovelace`: /, "");

const formatSection = (title: string, entries: readonly string[]): string =>
  `### ${title}\n\n${entries.map((entry) => `- ${entry}`).join("\n")}`;

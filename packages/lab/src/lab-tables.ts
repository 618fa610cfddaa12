import { DOMAINS } from "./domains.ts";
import { SENDERS, SENDERS_LABEL } from "./senders.ts";

/** The tables of docs/lab.md, from the same rows that the lab serves. */
export const formatLabTables = (): string => {
  const domains = Object.entries(DOMAINS).map(([title, rows]) =>
    formatSection(
      title,
      ["try", "status", "reason", "because"],
      rows.flatMap(({ name, shows, examples }) =>
        examples.map(([local, status, reason], index) => [
          `\`${local}@${name}\``,
          status,
          `\`${reason}\``,
          index === 0 ? shows : "",
        ]),
      ),
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

const formatSection = (
  title: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
) => {
  const widths = head.map((word, index) =>
    Math.max(word.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(" | ")} |`;
  const rule = line(widths.map((width) => "-".repeat(width)));
  return [`### ${title}`, "", line(head), rule, ...rows.map(line)].join("\n");
};

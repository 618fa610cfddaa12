import { formatMarkdownTable } from "@mailproof/lab/markdown-table";
import { type CommandOption, formatSynopsis, listOptions } from "./command-options.ts";
import type { Command } from "./define-command.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { formatText, isOfOperator } from "./help.ts";

/** The reference in docs/command-line.md: every command but the operator's, its options and examples, and the exit codes. */
export const formatReference = (commands: readonly Command[]): string => {
  const described = commands.filter((command) => !isOfOperator(command));
  return [
    formatTable(
      ["command", "effect"],
      described.map((command) => [
        code(`${PROGRAM} ${command.name} ${formatSynopsis(command)}`.trimEnd()),
        command.summary,
      ]),
    ),
    formatTable(["option", "commands", "effect"], listOptionRows(described)),
    `Examples:\n\n\`\`\`\n${described.flatMap(({ examples = [] }) => examples.map((one) => `${PROGRAM} ${one}\n`)).join("")}\`\`\`\n`,
    formatTable(
      ["exit code", "meaning"],
      Object.values(EXIT_CODES).map(({ code: number, text }) => [String(number), text]),
    ),
  ].join("\n");
};

const PROGRAM = "mailproof";

/** An option that means the same for several commands has one row. */
const listOptionRows = (commands: readonly Command[]): readonly (readonly string[])[] => {
  const rows = commands.flatMap((command) =>
    listOptions(command).map((option) => ({ command: command.name, option })),
  );
  const groups = Map.groupBy(rows, ({ option }) => `${formatNames(option)} ${formatText(option)}`);
  return [...groups.values()].map((group) => {
    const [first] = group;
    const option = first?.option as CommandOption;
    return [
      formatNames(option),
      group.map(({ command }) => code(command)).join(", "),
      formatText(option),
    ];
  });
};

const formatNames = ({ name, short, value }: CommandOption): string =>
  [
    ...(short === undefined ? [] : [code(`-${short}`)]),
    code(`--${name}${value === undefined ? "" : ` ${value}`}`),
  ].join(", ");

const code = (text: string): string => `\`${text}\``;

/** A bar would end the cell, also inside code. */
const escapeBars = (cell: string): string => cell.replaceAll("|", "\\|");

const formatTable = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  `${formatMarkdownTable(
    header,
    rows.map((cells) => cells.map(escapeBars)),
  )}\n`;

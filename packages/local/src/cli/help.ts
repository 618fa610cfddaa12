import { PROGRAM } from "../installation.ts";
import { type CommandOption, formatSynopsis, HELP, listOptions } from "./command-options.ts";
import type { Command, CommandEntry } from "./define-command.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { getColumns, wrapText } from "./terminal.ts";

/** The operator's commands have their own list, because they are many, and few people need them. */
const OPERATOR = "admin";
const isOfOperator = ({ name }: Pick<CommandEntry, "name">): boolean =>
  name.startsWith(`${OPERATOR} `);

export const formatCommands = (commands: readonly CommandEntry[]): string => {
  const own = commands.filter((one) => !isOfOperator(one));
  const rows = own.map(({ name, summary }): Row => [name, summary]);
  const operator: readonly Row[] =
    own.length < commands.length
      ? [[OPERATOR, `The operator's commands: "${PROGRAM} help ${OPERATOR}" lists them.`]]
      : [];
  return `Usage: ${PROGRAM} COMMAND [options]

Commands:
${formatRows([...rows, ...operator])}
"${PROGRAM} COMMAND --help" explains a command and its options; "${PROGRAM} --version" prints the version.
`;
};

export const formatGroup = (commands: readonly Command[]): string =>
  `Commands:

${commands.map((command) => `  ${formatUsage(command)}\n      ${command.summary}`).join("\n")}

"${PROGRAM} COMMAND --help" explains a command and its options.
`;

export const formatHelp = (command: Command): string => {
  const { summary, examples = [] } = command;
  const parts = [
    `${summary}\n`,
    `Usage: ${formatUsage(command)}\n`,
    `Options:\n${formatRows([...listOptions(command), HELP].map(toRow))}`,
    ...(examples.length === 0
      ? []
      : [`Examples:\n${examples.map((one) => `  ${PROGRAM} ${one}\n`).join("")}`]),
    `Exit codes:\n${formatRows(Object.values(EXIT_CODES).map(({ code, text }): Row => [String(code), text]))}`,
  ];
  return parts.join("\n");
};

const formatUsage = (command: Command): string =>
  `${PROGRAM} ${command.name} ${formatSynopsis(command)}`.trimEnd();

type Row = readonly [name: string, text: string];

const toRow = (option: CommandOption): Row => [formatName(option), formatText(option)];

const formatName = ({ name, short, value }: CommandOption): string =>
  `${short === undefined ? "    " : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;

const formatText = ({ text, isRequired, defaultValue }: CommandOption): string =>
  [
    text,
    ...(isRequired ? ["(required)"] : []),
    ...(defaultValue === undefined ? [] : [`(default: ${defaultValue})`]),
  ]
    .filter((part) => part !== "")
    .join(" ");

const GAP = 3;
const TEXT_COLUMNS_MIN = 30;

const formatRows = (rows: readonly Row[]): string => {
  const width = Math.max(...rows.map(([name]) => name.length)) + GAP;
  const columns = Math.max(TEXT_COLUMNS_MIN, getColumns(process.stdout) - width - 2);
  return rows
    .map(([name, text]) => {
      const [first = "", ...more] = wrapText(text, columns);
      const lines = [
        `  ${name.padEnd(width)}${first}`,
        ...more.map((line) => `  ${" ".repeat(width)}${line}`),
      ];
      return lines.map((line) => `${line.trimEnd()}\n`).join("");
    })
    .join("");
};

import { parseArgs } from "node:util";
import * as v from "valibot";
import { PROGRAM } from "../installation.ts";
import {
  type CommandOption,
  formatOption,
  formatSynopsis,
  listOptions,
} from "./command-options.ts";
import { type Command, UsageError } from "./define-command.ts";
import { suggestWord } from "./suggest.ts";
import { replaceControls } from "./terminal.ts";

export const readOptions = (command: Command, args: readonly string[]) => {
  const options = listOptions(command);
  const { values, positionals } = parseTokens(command, options, args);
  const parsed = v.safeParse(command.options, values);
  if (parsed.success) return { options: parsed.output, words: positionals };
  const wrong = parsed.issues.map((issue) => {
    const message = issue.message.startsWith("Invalid") ? "is required" : issue.message;
    const [name] = (v.getDotPath(issue) ?? "").split(".");
    return `--${name} ${message}`;
  });
  throw createUsageError(command, `${wrong.join("\n")}.`);
};

const createUsageError = (command: Command, sentence: string): UsageError =>
  new UsageError(`${sentence}\n\n${formatHint(command)}`);

const formatHint = (command: Command): string =>
  `  ${`${PROGRAM} ${command.name} ${formatSynopsis(command)}`.trimEnd()}\n\n"${PROGRAM} ${command.name} --help" explains the options.`;

const parseTokens = (
  command: Command,
  options: readonly CommandOption[],
  args: readonly string[],
) => {
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      options.map(({ name, short, value, multiple }) => [
        name,
        {
          type: value === undefined ? ("boolean" as const) : ("string" as const),
          multiple,
          ...(short !== undefined && { short }),
        },
      ]),
    ),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) if (token.kind === "option") assertOption(command, options, token);
  const [word] = positionals;
  if (word !== undefined && !command.takesWords)
    throw createUsageError(
      command,
      `${PROGRAM} ${command.name} takes no ${replaceControls(word)}: leave it out.`,
    );
  return { values, positionals };
};

type OptionToken = {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
};

const assertOption = (
  command: Command,
  options: readonly CommandOption[],
  { name, rawName, value, inlineValue }: OptionToken,
): void => {
  const option = options.find((one) => one.name === name);
  if (!option) throw createUsageError(command, explainUnknownOption(rawName, options));
  if (option.value === undefined) {
    if (value !== undefined) throw createUsageError(command, `--${name} takes no value.`);
    return;
  }
  // An argument that starts with a dash is the next option; a value with a leading dash is written --name=-value.
  if (value === undefined || (!inlineValue && value.length > 1 && value.startsWith("-")))
    throw createUsageError(command, `--${name} needs a value: ${formatOption(option)}.`);
};

const explainUnknownOption = (rawName: string, options: readonly CommandOption[]): string => {
  const meant = suggestWord(
    rawName.replace(/^-+/, ""),
    options.map(({ name }) => name),
  );
  const suggestion = meant === undefined ? "" : ` Did you mean --${meant}?`;
  return `Unknown option: ${replaceControls(rawName)}.${suggestion}`;
};

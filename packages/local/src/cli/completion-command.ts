import * as v from "valibot";
import { PROGRAM } from "../installation.ts";
import { HELP, listOptions } from "./command-options.ts";
import { type Command, defineCommand, loadCommands, UsageError } from "./define-command.ts";
import { EXIT_CODES } from "./exit-codes.ts";

type Commands = readonly Command[];

const PROGRAM_NAME = "mailproof";

/** Prints a shell's completion script for commands, options and values, made from the table of commands. */
export const completionCommand = defineCommand({
  usage: "bash|zsh|fish",
  options: v.strictObject({}),
  examples: [
    "completion bash > ~/.local/share/bash-completion/completions/mailproof",
    "completion zsh > ~/.zsh/completions/_mailproof",
    "completion fish > ~/.config/fish/completions/mailproof.fish",
  ],
  takesWords: true,
  choices: ["bash", "zsh", "fish"],
  async run({ words: [shell = "", ...others], commands }) {
    const format = Object.hasOwn(FORMATS, shell) ? FORMATS[shell] : undefined;
    if (!format || others.length > 0)
      throw new UsageError(
        `Name one of ${Object.keys(FORMATS).join(", ")}: ${PROGRAM} completion bash`,
      );
    process.stdout.write(format(await loadCommands(commands)));
    return EXIT_CODES.done.code;
  },
});

/** A possible next word of a command, or value of an option. Without values the shell completes file names. */
type Row = { readonly command: string; readonly word: string; readonly text: string };

const listRows = (commands: Commands): readonly Row[] =>
  commands.flatMap((command) => [
    ...(command.choices ?? []).map((word) => ({ command: command.name, word, text: "" })),
    ...[...listOptions(command), HELP].map(({ name, text }) => ({
      command: command.name,
      word: `--${name}`,
      text,
    })),
  ]);

const listNextWords = (commands: Commands): readonly Row[] => {
  const rows = commands.flatMap(({ name, summary }) => {
    const words = name.split(" ");
    return words.map((word, at) => ({
      command: words.slice(0, at).join(" "),
      word,
      text: at === words.length - 1 ? summary : "",
    }));
  });
  return rows.filter(
    (row, at) =>
      rows.findIndex((one) => one.command === row.command && one.word === row.word) === at,
  );
};

const listValues = (commands: Commands) =>
  commands.flatMap((command) =>
    listOptions(command).flatMap(({ name, value, choices }) =>
      value === undefined ? [] : [{ command: command.name, name, choices }],
    ),
  );

const groupWords = (rows: readonly Row[]): readonly (readonly [string, string])[] =>
  Map.groupBy(rows, ({ command }) => command)
    .entries()
    .map(([command, group]) => [command, group.map(({ word }) => word).join(" ")] as const)
    .toArray();

const formatBash = (commands: Commands): string => {
  const words = groupWords([...listNextWords(commands), ...listRows(commands)]);
  const values = listValues(commands);
  return `# Completion of mailproof for bash.
_mailproof() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command="" word
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD-1))}"; do
    case "$command\${command:+ }$word" in
      ${[...new Set(words.map(([command]) => command))]
        .filter((one) => one !== "")
        .map((one) => `"${one}"`)
        .join("|")}) command="$command\${command:+ }$word" ;;
      *) break ;;
    esac
  done
  local words="" values=""
  case "$command $previous" in
${values.map(({ command, name, choices }) => `    "${command} --${name}") values="${choices.length > 0 ? choices.join(" ") : "FILES"}" ;;`).join("\n")}
  esac
  case "$command" in
${words.map(([command, list]) => `    "${command}") words="${list}" ;;`).join("\n")}
  esac
  COMPREPLY=()
  if [[ -n "$values" && "$values" != FILES ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$current"))
  elif [[ -z "$values" ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}
complete -o default -F _mailproof ${PROGRAM_NAME}
`;
};

/**
 * Zsh can load bash's functions. At the first completion zsh also runs a file from $fpath as the function of the file's name, and this
 * completion still has to happen.
 */
const formatZsh = (commands: Commands): string =>
  `#compdef ${PROGRAM_NAME}
autoload -U +X bashcompinit && bashcompinit
${formatBash(commands)}if [[ "\${funcstack[1]}" == _${PROGRAM_NAME} ]]; then
  _bash_complete -o default -F _${PROGRAM_NAME}
fi
`;

const quoteForFish = (text: string): string => `'${text.replaceAll(/['\\]/g, "\\$&")}'`;

const formatFish = (commands: Commands): string => {
  const isAfter = (command: string) =>
    command === ""
      ? "test (count (commandline -opc)) -eq 1"
      : `string match -q -- ${quoteForFish(`* ${command}`)} (string join ' ' -- (commandline -opc))`;
  const isIn = (command: string) =>
    `string match -q -- ${quoteForFish(`* ${command} *`)} (string join ' ' -- (commandline -opc) '')`;
  const next = listNextWords(commands).map(
    ({ command, word, text }) =>
      `complete -c ${PROGRAM_NAME} -f -n ${quoteForFish(isAfter(command))} -a ${quoteForFish(word)} -d ${quoteForFish(text)}`,
  );
  const words = commands.flatMap(({ name, choices = [] }) =>
    choices.map(
      (word) =>
        `complete -c ${PROGRAM_NAME} -f -n ${quoteForFish(isAfter(name))} -a ${quoteForFish(word)}`,
    ),
  );
  const options = commands.flatMap((command) =>
    [...listOptions(command), HELP].map(({ name, short, value, text, choices }) =>
      [
        `complete -c ${PROGRAM_NAME} -n ${quoteForFish(isIn(command.name))} -l ${name}`,
        ...(short === undefined ? [] : [`-s ${short}`]),
        ...(value === undefined ? [] : ["-r"]),
        ...(choices.length > 0 ? [`-f -a ${quoteForFish(choices.join(" "))}`] : []),
        `-d ${quoteForFish(text)}`,
      ].join(" "),
    ),
  );
  return `# Completion of mailproof for fish.\n${[...next, ...words, ...options].join("\n")}\n`;
};

const FORMATS: Readonly<Record<string, (commands: Commands) => string>> = {
  bash: formatBash,
  zsh: formatZsh,
  fish: formatFish,
};

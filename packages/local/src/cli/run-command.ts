import { MailproofError } from "@mailproof/client/errors";
import manifest from "../../package.json" with { type: "json" };
import { readEnvironment } from "../environment.ts";
import { PROGRAM } from "../installation.ts";
import { HELP } from "./command-options.ts";
import { type CommandEntry, loadCommand, loadCommands, UsageError } from "./define-command.ts";
import { EXIT_CODES, getExitCode } from "./exit-codes.ts";
import { formatCommands, formatGroup, formatHelp } from "./help.ts";
import { silenceNotes } from "./notes.ts";
import { readOptions } from "./read-options.ts";
import { suggestWord } from "./suggest.ts";
import { replaceControls } from "./terminal.ts";

type Commands = readonly CommandEntry[];

/** Finds the command, reads its options, runs it and prints errors. Returns the exit code. */
export const runCommand = (commands: Commands, args: readonly string[]): Promise<number> =>
  main(commands, args).catch((error: unknown) => reportFailure(error, findCommand(commands, args)));

const HELP_OPTIONS: readonly string[] = [`--${HELP.name}`, `-${HELP.short}`];

const VERSION_OPTIONS: readonly string[] = ["--version", "-v", "-V"];

const main = async (commands: Commands, args: readonly string[]): Promise<number> => {
  if (args[0] === "help") return printHelp(commands, args.slice(1));
  if (VERSION_OPTIONS.includes(args[0] ?? "")) return print(`mailproof ${manifest.version}\n`);
  const ownArgs = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  if (HELP_OPTIONS.some((option) => ownArgs.includes(option))) return printHelp(commands, args);
  const entry = findCommand(commands, args);
  if (!entry) throw await explainNoCommand(commands, args);
  const command = await loadCommand(entry);
  const read = readOptions(command, args.slice(command.name.split(" ").length));
  if (read.options["quiet"] === true) silenceNotes();
  if (!command.outlivesOutput && !process.stdout.listeners("error").includes(endWithOutput))
    process.stdout.on("error", endWithOutput);
  return command.run({ environment: loadEnvironment(), commands, ...read });
};

const findCommand = (commands: Commands, args: readonly string[]): CommandEntry | undefined =>
  // "admin lists update" comes after "admin lists", so the last match is the longest.
  commands.findLast(({ name }) =>
    name.split(" ").every((word, position) => args[position] === word),
  );

const findGroup = (commands: Commands, words: readonly string[]): Commands =>
  commands.filter(({ name }) => `${name} `.startsWith(`${words.join(" ")} `));

const getWords = (args: readonly string[]): readonly string[] => {
  const end = args.findIndex((arg) => arg.startsWith("-"));
  return end < 0 ? args : args.slice(0, end);
};

const printHelp = async (commands: Commands, args: readonly string[]): Promise<number> => {
  const entry = findCommand(commands, args);
  if (entry) return print(formatHelp(await loadCommand(entry)));
  const words = getWords(args);
  if (words.length === 0) return print(formatCommands(commands));
  const group = findGroup(commands, words);
  if (group.length > 0) return print(formatGroup(await loadCommands(group)));
  throw await explainNoCommand(commands, words);
};

const print = (text: string): number => {
  process.stdout.write(text);
  return EXIT_CODES.done.code;
};

/** `admin keys` is a part of a command, and `admin kyes list` is probably misspelt. */
const explainNoCommand = async (
  commands: Commands,
  args: readonly string[],
): Promise<UsageError> => {
  const words = getWords(args);
  const [option] = args;
  if (words.length === 0 && option !== undefined)
    return new UsageError(
      `Unknown option: ${replaceControls(option)}. A command comes first; "${PROGRAM} help" lists all commands.`,
    );
  if (words.length === 0) return new UsageError(`Missing command.\n\n${formatCommands(commands)}`);
  const group = findGroup(commands, words);
  if (group.length > 0)
    return new UsageError(
      `"${words.join(" ")}" is not a whole command.\n\n${formatGroup(await loadCommands(group))}`,
    );
  const typed = words.slice(0, words[0] === "admin" ? 3 : 1).join(" ");
  const names = commands.map(({ name }) => name);
  const meant = suggestWord(typed, names) ?? suggestWord(words.slice(0, 2).join(" "), names);
  const suggestion = meant === undefined ? "" : ` Did you mean "${PROGRAM} ${meant}"?`;
  return new UsageError(
    `Unknown command: ${replaceControls(typed)}.${suggestion} "${PROGRAM} help" lists all commands.`,
  );
};

const loadEnvironment = () => {
  try {
    return readEnvironment(process.env);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
};

/** A reader that closes the pipe, as `head` does, ends the command silently. */
const endWithOutput = ({ code, message }: NodeJS.ErrnoException): void => {
  if (code === "EPIPE") process.exit(EXIT_CODES.closedPipe.code);
  process.stderr.write(`The standard output cannot be written: ${message}\n`);
  process.exit(EXIT_CODES.noResult.code);
};

const describeFailure = ({ code, status }: MailproofError): string => {
  if (code === "ABORTED") return "Interrupted";
  return status === undefined ? "No response" : `The service failed with status ${status}`;
};

const NEXT_STEPS: Readonly<Record<number, string>> = {
  [EXIT_CODES.refused.code]: `Correct the command: "${PROGRAM} COMMAND --help" explains it.`,
  [EXIT_CODES.denied.code]: `Check the key: "${PROGRAM} login", --key or MAILPROOF_KEY sets it.`,
  [EXIT_CODES.noCredits.code]:
    "Buy credits, or verify fewer addresses. --dry-run prints the price.",
  [EXIT_CODES.unavailable.code]:
    "Check the URL (--api or MAILPROOF_API) and that the service runs, then run the same command again.",
};

const REPEAT_PRICE =
  "Results are cached for 24 hours, so repeating the command costs half a credit for an address, and nothing for a domain.";

/** Prints the service's own statement about the charge. The client's statement names a key, which the next command does not send. */
export const formatError = (error: unknown): string => {
  if (!(error instanceof MailproofError))
    return error instanceof Error ? error.message : String(error);
  if (!error.idempotencyKey || error.money !== "retry_same_key") return error.message;
  const isServices = error.docUrl !== undefined && error.cause === undefined;
  return isServices
    ? `${error.message}\nThe next command sends another key. ${REPEAT_PRICE}`
    : `${describeFailure(error)}: it may have been charged. ${REPEAT_PRICE}`;
};

const reportFailure = (error: unknown, command: CommandEntry | undefined): number => {
  const code = getExitCode(error);
  const step = error instanceof MailproofError ? NEXT_STEPS[code] : undefined;
  const next = step?.replace("COMMAND", command?.name ?? "COMMAND");
  const see = error instanceof MailproofError && error.docUrl && `See ${error.docUrl}`;
  process.stderr.write(`${[formatError(error), next, see].filter(Boolean).join("\n")}\n`);
  return code;
};

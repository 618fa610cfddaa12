import { parseArgs } from "node:util";
import { getStatus } from "@mailproof/api/http/http-failure";
import { MailproofError } from "@mailproof/client/errors";
import { Failure } from "@mailproof/core/lib/failure";
import * as v from "valibot";
import { readEnvironment } from "../environment.ts";
import { PROGRAM } from "../installation.ts";
import { type Command, UsageError } from "./define-command.ts";
import { replaceControls } from "./terminal.ts";

type Commands = readonly Command[];

/** Finds the command, reads its options, runs it and prints errors. Returns the exit code. */
export const runCommand = (commands: Commands, args: readonly string[]): Promise<number> =>
  main(commands, args).catch(reportFailure);

const main = async (commands: Commands, args: readonly string[]): Promise<number> => {
  const command = commands.find(({ name }) =>
    name.split(" ").every((word, position) => args[position] === word),
  );
  if (args.includes("--help") || args[0] === "help") return printHelp(commands, command);
  if (!command)
    throw new UsageError(`${formatUnknownCommand(args)}Commands:\n\n${formatAllUsage(commands)}`);
  const read = readOptions(command, args.slice(command.name.split(" ").length));
  return command.run({ environment: loadEnvironment(), ...read });
};

const formatUnknownCommand = ([word]: readonly string[]): string =>
  word === undefined ? "" : `Unknown command: ${replaceControls(word)}. `;

const loadEnvironment = () => {
  try {
    return readEnvironment(process.env);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
};

const readOptions = (command: Command, args: readonly string[]) => {
  const { flags = [] } = command;
  const options = Object.fromEntries(
    Object.keys(command.options.entries).map((name) => [
      name,
      { type: flags.includes(name) ? ("boolean" as const) : ("string" as const) },
    ]),
  );
  const { values, positionals } = withUsageErrors(command, () =>
    parseArgs({ args: [...args], options, allowPositionals: command.takesWords ?? false }),
  );
  const parsed = v.safeParse(command.options, values);
  if (parsed.success) return { options: parsed.output, words: positionals };
  const wrong = parsed.issues.map((issue) => {
    const message = issue.message.startsWith("Invalid") ? "is required" : issue.message;
    return `--${v.getDotPath(issue)} ${message}`;
  });
  throw new UsageError(`${wrong.join("\n")}\n\n${formatUsage(command)}`);
};

const withUsageErrors = <T>(command: Command, read: () => T): T => {
  try {
    return read();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${message}\n\n${formatUsage(command)}`);
  }
};

const formatUsage = ({ name, usage: options }: Command) =>
  `  ${PROGRAM} ${name} ${options}`.trimEnd();
const formatAllUsage = (commands: Commands) => commands.map(formatUsage).join("\n");

const printHelp = (commands: Commands, command: Command | undefined): number => {
  process.stdout.write(`${command ? formatUsage(command) : formatAllUsage(commands)}\n`);
  return 0;
};

const getExitCode = (error: unknown): number =>
  error instanceof UsageError || (getErrorStatus(error) ?? 500) < 500 ? 2 : 1;

const getErrorStatus = (error: unknown): number | undefined =>
  error instanceof Failure
    ? getStatus(error)
    : error instanceof MailproofError
      ? error.status
      : undefined;

const describeFailure = ({ code, status }: MailproofError): string => {
  if (code === "ABORTED") return "Interrupted";
  return status === undefined ? "No response" : `The service failed with status ${status}`;
};

/** The client's sentence about idempotency keys is replaced for the terminal. */
const formatError = (error: unknown): string => {
  if (error instanceof MailproofError && error.idempotencyKey && error.money === "retry_same_key")
    return `${describeFailure(error)}: it may have been charged. Results are cached for 24 hours, so repeating the command costs half a credit for an address, and nothing for a domain.`;
  return error instanceof Error ? error.message : String(error);
};

const reportFailure = (error: unknown): number => {
  process.stderr.write(`${formatError(error)}\n`);
  return getExitCode(error);
};

import { parseArgs } from "node:util";
import { MailproofError } from "@mailproof/client/errors";
import { Failure } from "@mailproof/core/failure";
import * as v from "valibot";
import { type Command, Misuse } from "./command.ts";
import { readEnvironment } from "./environment.ts";
import { shown } from "./terminal.ts";

type Commands = readonly Command[];

/** Finds the command, reads its options, runs it, and says what went wrong. Returns the exit code. */
export const runCommand = (commands: Commands, args: readonly string[]): Promise<number> =>
  main(commands, args).catch(failed);

const main = async (commands: Commands, args: readonly string[]): Promise<number> => {
  const command = commands.find(({ name }) =>
    name.split(" ").every((word, position) => args[position] === word),
  );
  if (args.includes("--help") || args[0] === "help") return help(commands, command);
  if (!command) throw new Misuse(`${unknown(args)}Commands:\n\n${usage(commands)}`);
  const read = readOptions(command, args.slice(command.name.split(" ").length));
  return command.run({ environment: environment(), ...read });
};

const unknown = ([word]: readonly string[]): string =>
  word === undefined ? "" : `Unknown command: ${shown(word)}. `;

const environment = () => {
  try {
    return readEnvironment(process.env);
  } catch (error) {
    throw new Misuse(error instanceof Error ? error.message : String(error));
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
  const { values, positionals } = asMisuse(command, () =>
    parseArgs({ args: [...args], options, allowPositionals: command.takesWords ?? false }),
  );
  const parsed = v.safeParse(command.options, values);
  if (parsed.success) return { options: parsed.output, words: positionals };
  const wrong = parsed.issues.map((issue) => {
    const said = issue.message.startsWith("Invalid") ? "is required" : issue.message;
    return `--${v.getDotPath(issue)} ${said}`;
  });
  throw new Misuse(`${wrong.join("\n")}\n\n${usageOf(command)}`);
};

const asMisuse = <T>(command: Command, read: () => T): T => {
  try {
    return read();
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new Misuse(`${said}\n\n${usageOf(command)}`);
  }
};

const usageOf = ({ name, usage: options }: Command) =>
  `  npx mailproof ${name} ${options}`.trimEnd();
const usage = (commands: Commands) => commands.map(usageOf).join("\n");

const help = (commands: Commands, command: Command | undefined): number => {
  process.stdout.write(`${command ? usageOf(command) : usage(commands)}\n`);
  return 0;
};

const exitCodeOf = (error: unknown): number =>
  error instanceof Misuse || (statusOf(error) ?? 500) < 500 ? 2 : 1;

const statusOf = (error: unknown): number | undefined =>
  error instanceof Failure || error instanceof MailproofError ? error.status : undefined;

const whatHappened = ({ code, status }: MailproofError): string => {
  if (code === "ABORTED") return "Interrupted";
  return status === undefined ? "No response" : `The service failed with status ${status}`;
};

/** What a library says of keys is no help at a terminal. */
const said = (error: unknown): string => {
  if (error instanceof MailproofError && error.idempotencyKey && error.money === "retry_same_key")
    return `${whatHappened(error)}: it may have been charged. Results are cached for 24 hours, so repeating the command costs half a credit for an address, and nothing for a domain.`;
  return error instanceof Error ? error.message : String(error);
};

const failed = (error: unknown): number => {
  process.stderr.write(`${said(error)}\n`);
  return exitCodeOf(error);
};

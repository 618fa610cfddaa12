import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Failure } from "@mailproof/core/failure";
import * as v from "valibot";
import { adminCommands } from "./admin.ts";
import type { Command } from "./command.ts";
import { readEnvironment } from "./environment.ts";
import { openHouse } from "./world.ts";

/** What the caller typed cannot be done as it stands. */
class Misuse extends Error {}

const commands: readonly Command[] = [...adminCommands];

/** Finds the command, reads its options, runs it; 0 done, 1 done with a bad outcome, 2 wrongly asked for. */
const main = async (args: readonly string[]): Promise<number> => {
  const command = commands.find(({ words }) =>
    words.split(" ").every((word, position) => args[position] === word),
  );
  if (args.includes("--help")) return help(command);
  if (!command) throw new Misuse(`There is no such command. There are:\n\n${usage()}`);
  const options = readOptions(command, args.slice(command.words.split(" ").length));
  const environment = readEnvironment(process.env);
  if (!command.mayBegin) assertHouse(environment.MAILPROOF_DIR);
  const { world, close } = openHouse(environment, () => "");
  try {
    const { output, exitCode = 0 } = await command.run(world, options);
    process.stdout.write(`${JSON.stringify(output, null, 2)}\n`);
    return exitCode;
  } finally {
    close();
  }
};

const readOptions = (command: Command, args: readonly string[]): Record<string, unknown> => {
  const names = Object.keys(command.options.entries);
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" as const }]));
  const { values } = asMisuse(command, () => parseArgs({ args: [...args], options }));
  const parsed = v.safeParse(command.options, values);
  if (parsed.success) return parsed.output;
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

const usageOf = ({ words, usage: options }: Command) => `  npx mailproof ${words} ${options}`;
const usage = () => commands.map(usageOf).join("\n");

const help = (command: Command | undefined): number => {
  process.stdout.write(`${command ? usageOf(command) : usage()}\n`);
  return 0;
};

/** A mistyped folder must not pass for an empty house in good order. */
const assertHouse = (directory: string): void => {
  if (existsSync(join(directory, "state.sqlite"))) return;
  throw new Misuse(`${resolve(directory)} holds no Mailproof; set MAILPROOF_DIR.`);
};

const exitCodeOf = (error: unknown): number =>
  error instanceof Misuse || (error instanceof Failure && error.status < 500) ? 2 : 1;

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return exitCodeOf(error);
});

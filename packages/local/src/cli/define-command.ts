import * as v from "valibot";
import type { Environment } from "../environment.ts";

type OptionsSchema = v.StrictObjectSchema<v.ObjectEntries, undefined>;

export type CommandInput<O extends OptionsSchema = OptionsSchema> = {
  readonly environment: Environment;
  readonly options: v.InferOutput<O>;
  /** What was typed besides the options. */
  readonly words: readonly string[];
  /** Every command, for those that print them. */
  readonly commands: readonly CommandEntry[];
};

/** A command without its name: what is loaded when it is called. */
export type CommandDefinition<O extends OptionsSchema = OptionsSchema> = {
  /** What is typed after its name, where the options do not say it: `LIST | -`. */
  readonly usage?: string;
  readonly options: O;
  /** What is typed after `mailproof`. */
  readonly examples?: readonly string[];
  readonly takesWords?: true;
  /** The first word, where it is one of a few. */
  readonly choices?: readonly string[];
  /** A server: its work does not end with the reader of its standard output. */
  readonly outlivesOutput?: true;
  // Method syntax on purpose: it lets commands with different options live in one list.
  /** Returns the exit code (exit-codes.ts). */
  run(input: CommandInput<O>): Promise<number>;
};

/** Ties the command's types to its options. */
export const defineCommand = <O extends OptionsSchema>(
  definition: CommandDefinition<O>,
): CommandDefinition<O> => definition;

/** One row of the table that parsing, help and completion are made from. */
export type CommandEntry = {
  readonly name: string;
  /** What it does, in one sentence. */
  readonly summary: string;
  /** Each command is in a module of its own: what another one needs would only delay it. */
  readonly load: () => Promise<CommandDefinition>;
};

export type Command = Omit<CommandEntry, "load"> & CommandDefinition;

export const loadCommand = async ({ load, ...entry }: CommandEntry): Promise<Command> => ({
  ...entry,
  ...(await load()),
});

export const loadCommands = (entries: readonly CommandEntry[]): Promise<readonly Command[]> =>
  Promise.all(entries.map(loadCommand));

/** A usage error: exit code 2. */
export class UsageError extends Error {}

export const Flag = v.optional(v.boolean(), false);

export type OptionLabels = {
  /** One letter: `-o` is the same as `--out`. */
  readonly short?: string;
  /** The placeholder of the value in help: `FILE`. */
  readonly value?: string;
};

/** Describes an option. It has no effect when the option is read. */
export const describeOption = <S extends v.GenericSchema>(
  schema: S,
  text: string,
  labels: OptionLabels = {},
): S => v.pipe(schema, v.description(text), v.metadata(labels)) as unknown as S;

import * as v from "valibot";
import type { Environment } from "../environment.ts";

type OptionsSchema = v.StrictObjectSchema<v.ObjectEntries, undefined>;

export type CommandInput<O extends OptionsSchema = OptionsSchema> = {
  readonly environment: Environment;
  readonly options: v.InferOutput<O>;
  readonly words: readonly string[];
  readonly commands: readonly CommandEntry[];
};

export type CommandDefinition<O extends OptionsSchema = OptionsSchema> = {
  /** The arguments after its name, such as `LIST | -`, when the options do not show them. */
  readonly usage?: string;
  readonly options: O;
  readonly examples?: readonly string[];
  readonly takesWords?: true;
  readonly choices?: readonly string[];
  /** True for a server: it continues when the reader of its standard output ends. */
  readonly outlivesOutput?: true;
  // Method syntax lets commands with different options live in one list.
  /** Returns the exit code (exit-codes.ts). */
  run(input: CommandInput<O>): Promise<number>;
};

export const defineCommand = <O extends OptionsSchema>(
  definition: CommandDefinition<O>,
): CommandDefinition<O> => definition;

export type CommandEntry = {
  readonly name: string;
  readonly summary: string;
  /** Each command has its own module, so that no command waits for another's imports. */
  readonly load: () => Promise<CommandDefinition>;
};

export type Command = Omit<CommandEntry, "load"> & CommandDefinition;

export const loadCommand = async ({ load, ...entry }: CommandEntry): Promise<Command> => ({
  ...entry,
  ...(await load()),
});

export const loadCommands = (entries: readonly CommandEntry[]): Promise<readonly Command[]> =>
  Promise.all(entries.map(loadCommand));

export class UsageError extends Error {}

export const Flag = v.optional(v.boolean(), false);

export type OptionLabels = {
  readonly short?: string;
  readonly value?: string;
  /** It may be given several times. */
  readonly multiple?: boolean;
};

export const describeOption = <S extends v.GenericSchema>(
  schema: S,
  text: string,
  labels: OptionLabels = {},
): S => v.pipe(schema, v.description(text), v.metadata(labels)) as unknown as S;

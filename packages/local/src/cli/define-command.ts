import * as v from "valibot";
import type { Environment } from "../environment.ts";

type OptionsSchema = v.StrictObjectSchema<v.ObjectEntries, undefined>;

export type CommandInput<O extends OptionsSchema = OptionsSchema> = {
  readonly environment: Environment;
  readonly options: v.InferOutput<O>;
  /** What was typed beside the options. */
  readonly words: readonly string[];
};

export type Command<O extends OptionsSchema = OptionsSchema> = {
  readonly name: string;
  readonly usage: string;
  readonly options: O;
  /** Options that are there or not, and take no value. */
  readonly flags?: readonly string[];
  readonly takesWords?: true;
  // Method syntax on purpose: it lets commands with different options live in one list.
  /** Returns the exit code: 0 done, 1 done with a bad outcome. */
  run(input: CommandInput<O>): Promise<number>;
};

/** Ties the command's types to the options beside it. */
export const defineCommand = <O extends OptionsSchema>(definition: Command<O>): Command<O> =>
  definition;

/** A usage error: exit code 2. */
export class UsageError extends Error {}

export const Flag = v.optional(v.boolean(), false);

import type { Json } from "@mailproof/core/ports/table";
import type { World } from "@mailproof/core/ports/world";
import * as v from "valibot";
import type { LocalWorld } from "../app.ts";
import type { Environment } from "../environment.ts";
import { formatAdminOutput } from "./admin-output.ts";
import {
  type CommandDefinition,
  type CommandInput,
  defineCommand,
  describeOption,
  Flag,
} from "./define-command.ts";

export const Name = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1, "must not be empty"),
  v.maxLength(100, "must have at most 100 characters"),
);
export type AdminResult = { readonly output: Json; readonly exitCode?: number };

export type AdminDefinition<
  O extends CommandDefinition["options"] = CommandDefinition["options"],
  W = LocalWorld,
  Settings extends readonly unknown[] = readonly [environment: Environment],
> = Omit<CommandDefinition<O>, "run"> & {
  /** True when the command may create the state of a new folder. */
  readonly mayCreateFolder?: true;
  readonly judgesServer?: true;
  run(world: W, options: v.InferOutput<O>, ...settings: Settings): Promise<AdminResult>;
};

/** Defines a command that needs nothing of this machine: it is the same on a deployed stage (infra/deploy/admin-on-stage.ts). */
export const definePortable = <O extends CommandDefinition["options"]>(
  definition: AdminDefinition<O, World, readonly []>,
): AdminDefinition<O, World, readonly []> => definition;

export const defineAdmin = <O extends CommandDefinition["options"]>(
  definition: AdminDefinition<O>,
): AdminDefinition<O> => definition;

const JSON_OPTION = describeOption(Flag, "prints JSON, also on a terminal");

type Printed<O extends CommandDefinition["options"]> = Omit<CommandDefinition<O>, "run">;

/** Defines a command with one result: text on a terminal, JSON in a pipe and with --json. */
export const definePrinted = <O extends CommandDefinition["options"]>(
  { usage, options: ownOptions }: Printed<O>,
  getResult: (input: CommandInput<O>) => Promise<AdminResult>,
): CommandDefinition =>
  defineCommand({
    ...(usage !== undefined && { usage: `${usage} [--json]`.trim() }),
    options: v.strictObject({ ...ownOptions.entries, json: JSON_OPTION }),
    async run({ options: { json, ...options }, ...input }) {
      const { output, exitCode = 0 } = await getResult({
        ...input,
        options: options as v.InferOutput<O>,
      });
      const isText = process.stdout.isTTY && json !== true;
      process.stdout.write(
        isText ? formatAdminOutput(output) : `${JSON.stringify(output, null, 2)}\n`,
      );
      return exitCode;
    },
  });

import type { Json } from "@mailproof/core/ports/table";
import type { World } from "@mailproof/core/ports/world";
import * as v from "valibot";
import type { LocalWorld } from "../app.ts";
import type { Environment } from "../environment.ts";
import {
  type CommandDefinition,
  type CommandInput,
  defineCommand,
  describeOption,
  Flag,
} from "./define-command.ts";
import { replaceControls } from "./terminal.ts";

type Fields = Readonly<Record<string, Json | undefined>>;

export const formatAdminOutput = (output: Json): string => {
  const rows = toRows(output);
  if (rows) return formatTable(rows);
  if (!isFields(output)) return `${formatValue(output)}\n`;
  const names = Object.keys(output);
  const width = Math.max(...names.map((name) => name.length));
  return names.map((name) => formatField(name, output[name], width)).join("");
};

const formatField = (name: string, value: Json | undefined, width: number): string => {
  const rows = toRows(value);
  return rows && rows.length > 0
    ? `\n${formatTable(rows)}`
    : `${name.padEnd(width)}  ${formatValue(value)}\n`;
};

const isFields = (value: Json | undefined): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const toRows = (value: Json | undefined): readonly Fields[] | undefined => {
  if (!Array.isArray(value)) return undefined;
  const rows = (value as readonly Json[]).filter(isFields);
  return rows.length === value.length ? rows : undefined;
};

const formatTable = (rows: readonly Fields[]): string => {
  if (rows.length === 0) return "None.\n";
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [names, ...rows.map((row) => names.map((name) => formatValue(row[name])))];
  const widths = names.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const areNumbers = names.map((name) => isNumbers(rows.map((row) => row[name] ?? null)));
  const pad = (cell: string, column: number): string => {
    const width = widths[column] ?? 0;
    return areNumbers[column] ? cell.padStart(width) : cell.padEnd(width);
  };
  return lines
    .map((line) => line.map(pad).join("  "))
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
};

/** A column of numbers is right-aligned, so that a large number looks large. */
const isNumbers = (column: readonly Json[]): boolean => {
  const present = column.filter((value) => value !== null);
  return present.length > 0 && present.every((value) => typeof value === "number");
};

const formatValue = (value: Json | undefined): string => {
  if (value === undefined || value === null) return "-";
  return replaceControls(typeof value === "object" ? JSON.stringify(value) : String(value));
};

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

/** Defines a command that needs nothing of this machine and therefore also runs on a deployed stage (infra/deploy/admin-on-stage.ts). */
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
  { usage, options: ownOptions, takesWords }: Printed<O>,
  getResult: (input: CommandInput<O>) => Promise<AdminResult>,
): CommandDefinition =>
  defineCommand({
    ...(takesWords && { takesWords }),
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

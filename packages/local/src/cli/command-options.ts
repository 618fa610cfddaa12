import * as v from "valibot";
import type { Command, OptionLabels } from "./define-command.ts";

export type CommandOption = {
  readonly name: string;
  readonly short: string | undefined;
  readonly value: string | undefined;
  readonly multiple: boolean;
  readonly text: string;
  readonly isRequired: boolean;
  readonly defaultValue: string | undefined;
  readonly choices: readonly string[];
};

export const HELP: CommandOption = {
  name: "help",
  short: "h",
  value: undefined,
  multiple: false,
  text: "prints this",
  isRequired: false,
  defaultValue: undefined,
  choices: [],
};

export const listOptions = (command: Command): readonly CommandOption[] =>
  Object.entries(command.options.entries).map(([name, schema]) =>
    toOption(name, schema as v.GenericSchema),
  );

const toOption = (name: string, schema: v.GenericSchema): CommandOption => {
  const { short, value, multiple = false } = v.getMetadata(schema) as OptionLabels;
  const choices = findChoices(schema);
  const isFlag = findInner(schema, "boolean") !== undefined;
  const defaultValue = v.getDefault(schema as v.OptionalSchema<v.GenericSchema, unknown>);
  return {
    name,
    short,
    value: isFlag ? undefined : (value ?? (choices.join("|") || name.toUpperCase())),
    multiple,
    text: v.getDescription(schema) ?? "",
    isRequired: schema.type !== "optional",
    defaultValue: typeof defaultValue === "string" ? defaultValue : undefined,
    choices,
  };
};

type Inner = v.GenericSchema & {
  readonly wrapped?: Inner;
  readonly pipe?: readonly Inner[];
  readonly options?: readonly unknown[];
};

/** Unwraps a schema until it has this type. */
const findInner = (schema: v.GenericSchema, type: string): Inner | undefined => {
  const { wrapped, pipe = [] } = schema as Inner;
  if (schema.type === type) return schema as Inner;
  const [first] = pipe;
  const inside = wrapped ?? (first === schema ? undefined : first);
  return inside && findInner(inside, type);
};

const findChoices = (schema: v.GenericSchema): readonly string[] =>
  (findInner(schema, "picklist")?.options ?? []).map(String);

/** Returns a synopsis such as `--account A --mode live|test [--name N]`, for commands without their own. */
export const formatSynopsis = (command: Command): string => {
  const options = listOptions(command);
  const required = options.filter(({ isRequired }) => isRequired).map(formatOption);
  const optional = options.filter(({ isRequired }) => !isRequired);
  const others =
    optional.length > 3 ? ["[options]"] : optional.map((one) => `[${formatOption(one)}]`);
  return [command.usage ?? "", ...(command.usage === undefined ? [...required, ...others] : [])]
    .filter((part) => part !== "")
    .join(" ");
};

export const formatOption = ({ name, value }: CommandOption): string =>
  value === undefined ? `--${name}` : `--${name} ${value}`;

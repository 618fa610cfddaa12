import { describeCall, describeOperation } from "./operations.ts";
import {
  type ClientField,
  type ClientType,
  type ClientTypes,
  selectDeclarations,
  type TypedOperation,
  toPascal,
} from "./types.ts";

// The methods and types of the client for Go; packages/client/go/transport.go sends them.

const quote = (text: string): string => JSON.stringify(text);

/** Go writes an abbreviation in capitals. */
const toGoName = (name: string): string =>
  toPascal(name.replaceAll(".", "_")).replaceAll(/(Id|Ids|Url|Ip)(?=[A-Z]|$)/g, (word) =>
    word === "Ids" ? "IDs" : word.toUpperCase(),
  );

const SIMPLE = {
  text: "string",
  integer: "int",
  number: "float64",
  boolean: "bool",
  any: "any",
  words: "string",
};

const formatType = (type: ClientType): string => {
  if (type.kind === "list") return `[]${formatType(type.of)}`;
  if (type.kind === "map") return `map[string]${formatType(type.of)}`;
  return type.kind === "named" ? type.name : SIMPLE[type.kind];
};

/** A pointer is nil when the field is absent or null. A list, a map and any value can be nil without a pointer. */
const formatFieldType = ({ type, isOptional, isNullable }: ClientField): string => {
  const one = formatType(type);
  const isPointer = (isOptional || isNullable) && !/^(?:\[\]|map|any)/.test(one);
  return isPointer ? `*${one}` : one;
};

const formatAbout = (text: string, indent: string): string =>
  text === ""
    ? ""
    : `${text
        .split("\n")
        .map((line) => `${indent}// ${line}`.trimEnd())
        .join("\n")}\n`;

const formatField = (field: ClientField): string => {
  const { name, isOptional } = field;
  const words = field.type.kind === "words" ? ` One of ${field.type.words.join(", ")}.` : "";
  const tag = `\`json:"${name}${isOptional ? ",omitempty" : ""}"\``;
  return `${formatAbout(field.about + words, "\t")}\t${toGoName(name)} ${formatFieldType(field)} ${tag}`;
};

const formatStruct = (name: string, fields: readonly ClientField[], about: string): string =>
  `${formatAbout(about, "")}type ${name} struct {\n${fields.map(formatField).join("\n")}\n}`;

const isSame = (one: ClientType, other: ClientType): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** Go has no unions: one struct has the fields of all alternatives, with pointers for fields of only some alternatives. */
const mergeFields = (alternatives: readonly (readonly ClientField[])[]): readonly ClientField[] => {
  const groups = Map.groupBy(alternatives.flat(), ({ name }) => name);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const isEverywhere = group.length === alternatives.length;
    const type: ClientType = group.every(({ type: other }) => isSame(first.type, other))
      ? first.type
      : { kind: "text" };
    return [{ ...first, type, isOptional: !isEverywhere || group.some((one) => one.isOptional) }];
  });
};

const formatUnions = ({ declarations }: ClientTypes): readonly string[] => {
  const objects = new Map(
    selectDeclarations(declarations, "object").map(({ name, fields }) => [name, fields]),
  );
  return selectDeclarations(declarations, "union").map(({ name, names }) => {
    const fields = mergeFields(names.map((one) => objects.get(one) ?? []));
    return formatStruct(name, fields, `${name} is ${names.join(" or ")}.`);
  });
};

const WORD_PARTS = /[^A-Za-z0-9]+/;

const formatAlias = (name: string, type: ClientType): string => {
  if (type.kind !== "words") return `type ${name} ${formatType(type)}`;
  const constants = type.words.map(
    (word) => [`${name}${toGoName(word.split(WORD_PARTS).join("_"))}`, word] as const,
  );
  const width = Math.max(...constants.map(([constant]) => constant.length));
  const rows = constants.map(
    ([constant, word]) => `\t${constant.padEnd(width)} ${name} = ${quote(word)}`,
  );
  return `type ${name} string\n\nconst (\n${rows.join("\n")}\n)`;
};

const formatCall = ({ operation }: TypedOperation): string => {
  const { bare: _, paid, inQuery, unwrapped, route, repeat, fixed } = describeCall(operation);
  const flags = Object.entries({ paid, inQuery, unwrapped }).filter(([, is]) => is);
  const pairs = Object.entries(fixed ?? {}).map((pair) => pair.map(quote).join(": "));
  const fields = [
    `route: ${quote(route)}`,
    ...(repeat === undefined ? [] : [`repeat: ${repeat}`]),
    ...flags.map(([name]) => `${name}: true`),
    ...(fixed === undefined ? [] : [`fixed: map[string]string{${pairs.join(", ")}}`]),
  ];
  return `operation{${fields.join(", ")}}`;
};

const formatMethod = (typed: TypedOperation): string => {
  const { operation, input, output } = typed;
  const name = toPascal(operation.name);
  const [summary = "", ...more] = describeOperation(operation);
  const about = [`${name}: ${summary}`, ...more].join("\n");
  const parameters = [
    "ctx context.Context",
    ...(input === undefined ? [] : [`input ${input}`]),
    ...(operation.repeat === "keyed" ? ["options ...CallOption"] : []),
  ];
  const values = ["ctx", "c", formatCall(typed), input === undefined ? "nil" : "input"];
  const options = operation.repeat === "keyed" ? ", options..." : "";
  const type = formatType(output);
  return `${formatAbout(about, "")}func (c *Client) ${name}(${parameters.join(", ")}) (*${type}, error) {
\treturn call[${type}](${values.join(", ")}${options})
}`;
};

const formatNext = (
  { input, output }: TypedOperation,
  { declarations }: ClientTypes,
): readonly string[] => {
  const objects = selectDeclarations(declarations, "object");
  const has = (name: string | undefined, field: string) =>
    objects.find((one) => one.name === name)?.fields.some((one) => one.name === field);
  if (output.kind !== "named" || !has(input, "offset") || !has(output.name, "next_offset"))
    return [];
  return [
    `func (page *${output.name}) next(input *${input}) bool {
\tinput.Offset = page.NextOffset
\treturn page.NextOffset != nil
}`,
  ];
};

const HEAD = `// The operations of the service and their types.

package mailproof

import "context"

`;

export const writeGoOperations = (types: ClientTypes): string => {
  const { declarations, operations } = types;
  const parts = [
    ...operations.map(formatMethod),
    ...operations.flatMap((one) => formatNext(one, types)),
    ...selectDeclarations(declarations, "object").map(({ name, fields, about }) =>
      formatStruct(name, fields, about),
    ),
    ...formatUnions(types),
    ...selectDeclarations(declarations, "alias").map(({ name, type }) => formatAlias(name, type)),
  ];
  return `${HEAD}${parts.join("\n\n")}\n`;
};

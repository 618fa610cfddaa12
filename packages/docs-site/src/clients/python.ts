import { describeCall, describeOperation } from "./operations.ts";
import {
  type ClientField,
  type ClientType,
  type ClientTypes,
  selectDeclarations,
  type TypedOperation,
} from "./types.ts";

// The methods and types of the client for Python; packages/client/python/transport.py sends them.

const quote = (text: string): string => JSON.stringify(text);

const KEYWORDS = new Set(
  "and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield".split(
    " ",
  ),
);

const SIMPLE = { text: "str", integer: "int", number: "float", boolean: "bool", any: "Any" };

const formatType = (type: ClientType): string => {
  if (type.kind === "words") return `Literal[${type.words.map(quote).join(", ")}]`;
  if (type.kind === "list") return `list[${formatType(type.of)}]`;
  if (type.kind === "map") return `dict[str, ${formatType(type.of)}]`;
  return type.kind === "named" ? type.name : SIMPLE[type.kind];
};

const formatFieldType = ({ type, isOptional, isNullable }: ClientField): string => {
  const one = isNullable ? `${formatType(type)} | None` : formatType(type);
  return isOptional ? `NotRequired[${one}]` : one;
};

const formatDoc = (text: string, indent: string): string =>
  `${indent}"""${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"""`;

const formatClass = (name: string, fields: readonly ClientField[]): string => {
  const rows = fields.map(
    (field) => `    ${field.name}: ${formatFieldType(field)}\n${formatDoc(field.about, "    ")}`,
  );
  return `class ${name}(TypedDict):\n${rows.join("\n")}`;
};

const formatObject = (name: string, fields: readonly ClientField[]): string => {
  if (!fields.some((field) => KEYWORDS.has(field.name))) return formatClass(name, fields);
  const rows = fields.map((field) => `    ${quote(field.name)}: ${quote(formatFieldType(field))},`);
  return `${name} = TypedDict(${quote(name)}, {\n${rows.join("\n")}\n})`;
};

/** The fields of an input are the parameters of its method: `from_` is sent as `from`. */
const formatInput = (name: string, fields: readonly ClientField[]): string =>
  formatClass(
    name,
    fields.map((field) =>
      KEYWORDS.has(field.name) ? { ...field, name: `${field.name}_` } : field,
    ),
  );

const toSnake = (id: string): string => id.replaceAll(/[A-Z]/g, (one) => `_${one.toLowerCase()}`);

const formatMethod = ({ operation, input, output }: TypedOperation): string => {
  const { name, repeat } = operation;
  const isKeyed = repeat === "keyed";
  const parameters = [
    "self",
    ...(isKeyed ? ["*", "idempotency_key: str | None = None"] : []),
    ...(input === undefined ? [] : [`**fields: Unpack[${input}]`]),
  ];
  const values = [
    `_OPERATIONS[${quote(name)}]`,
    input === undefined ? "{}" : "fields",
    ...(isKeyed ? ["idempotency_key"] : []),
  ];
  const doc = describeOperation(operation)
    .join("\n")
    .replaceAll(/\n(?=.)/g, "\n        ");
  return `    def ${toSnake(name)}(${parameters.join(", ")}) -> ${formatType(output)}:
${formatDoc(doc, "        ")}
        return self._call(${values.join(", ")})`;
};

const formatOperation = ({ operation }: TypedOperation): string => {
  const { bare: _, inQuery, ...call } = describeCall(operation);
  const fields = Object.entries({ ...call, ...(inQuery && { in_query: true }) });
  const values = fields.map(
    ([name, value]) => `${name}=${value === true ? "True" : JSON.stringify(value)}`,
  );
  return `    ${quote(operation.name)}: Operation(${values.join(", ")}),`;
};

export const writePythonOperations = ({ declarations, operations }: ClientTypes): string => {
  const inputs = new Set(operations.map(({ input }) => input));
  // A class may name later types. An alias is evaluated at its place, so unions follow the classes, and aliases follow both.
  const types = [
    ...selectDeclarations(declarations, "object").map(({ name, fields }) =>
      (inputs.has(name) ? formatInput : formatObject)(name, fields),
    ),
    ...selectDeclarations(declarations, "union").map(
      ({ name, names }) => `${name} = Union[${names.join(", ")}]`,
    ),
    ...selectDeclarations(declarations, "alias").map(
      ({ name, type }) => `${name} = ${formatType(type)}`,
    ),
  ];
  return `"""The operations of the service and their types."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict, Union, Unpack

from .transport import Operation, Transport

${types.join("\n\n")}

_OPERATIONS = {
${operations.map(formatOperation).join("\n")}
}


class Operations(Transport):
    """One method for each operation of the service."""

${operations.map(formatMethod).join("\n\n")}
`;
};

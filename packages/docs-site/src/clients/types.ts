import { programEndpoints } from "@mailproof/api/endpoints";
import { nameComponents } from "@mailproof/api/openapi/components";
import {
  createSchemaWriter,
  type JsonSchema,
  sayDefault,
  withFormat,
} from "@mailproof/api/openapi/schema";
import {
  capitalize,
  listInputFields,
  listOperations,
  mayBeLeftOut,
  type Operation,
} from "./operations.ts";

// The types of all operations for the generators of Python and Go, under the names of the OpenAPI document. An unnamed object gets the name
// of the field that holds it.

export type ClientType =
  | { readonly kind: "text" | "integer" | "number" | "boolean" | "any" }
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "list" | "map"; readonly of: ClientType }
  | { readonly kind: "named"; readonly name: string };

export type ClientField = {
  readonly name: string;
  readonly about: string;
  readonly type: ClientType;
  readonly isOptional: boolean;
  readonly isNullable: boolean;
};

export type Declaration = { readonly name: string; readonly about: string } & (
  | { readonly kind: "object"; readonly fields: readonly ClientField[] }
  | { readonly kind: "union"; readonly names: readonly string[] }
  | { readonly kind: "alias"; readonly type: ClientType }
);

export type TypedOperation = {
  readonly operation: Operation;
  readonly input: string | undefined;
  readonly output: ClientType;
};

export type ClientTypes = {
  readonly declarations: readonly Declaration[];
  readonly operations: readonly TypedOperation[];
};

type Schemas = Readonly<Record<string, JsonSchema>>;

const REFERENCE = "#/components/schemas/";

const toName = (reference: unknown): string => String(reference).slice(REFERENCE.length);

/** Returns the names of a union's alternatives. For a client, a union of a text and a number is any value. */
const toReferences = (schema: JsonSchema): readonly string[] | undefined => {
  const options = (schema["anyOf"] ?? schema["oneOf"]) as readonly JsonSchema[] | undefined;
  return options?.every((option) => "$ref" in option)
    ? options.map((option) => toName(option["$ref"]))
    : undefined;
};

/** The schema lists null beside the type when the value may be null. */
const readTypeNames = (schema: JsonSchema): readonly unknown[] => [schema["type"]].flat();

const toWords = (schema: JsonSchema): readonly string[] | undefined => {
  const words = (schema["enum"] ?? ("const" in schema ? [schema["const"]] : undefined)) as
    | readonly (string | null)[]
    | undefined;
  return words?.filter((word) => word !== null);
};

const createTypeReader = () => {
  const declared = new Map<string, Declaration>();

  const declare = (declaration: Declaration): ClientType => {
    const { name } = declaration;
    if (declared.has(name)) throw new Error(`two types of the clients are named ${name}`);
    declared.set(name, declaration);
    return { kind: "named", name };
  };

  /** `name` is for an object without a name in the document. */
  const read = (schema: JsonSchema, name: string): ClientType => {
    if ("$ref" in schema) return { kind: "named", name: toName(schema["$ref"]) };
    const names = toReferences(schema);
    if (names) return declare({ name, about: getAbout(schema), kind: "union", names });
    const words = toWords(schema);
    if (words) return { kind: "words", words };
    const [type] = readTypeNames(schema).filter((one) => one !== "null");
    switch (type) {
      case "string":
        return { kind: "text" };
      case "integer":
      case "number":
      case "boolean":
        return { kind: type };
      case "array":
        return { kind: "list", of: read(schema["items"] as JsonSchema, `${name}Item`) };
      case "object":
        return readObject(schema, name);
      case undefined:
        return { kind: "any" };
      default:
        throw new Error(`no type of a client for ${String(type)}`);
    }
  };

  const readObject = (schema: JsonSchema, name: string): ClientType => {
    if (schema["properties"] === undefined)
      return {
        kind: "map",
        of: read(schema["additionalProperties"] as JsonSchema, `${name}Value`),
      };
    return declare({
      name,
      about: getAbout(schema),
      kind: "object",
      fields: readFields(schema, name),
    });
  };

  const readFields = (schema: JsonSchema, name: string): readonly ClientField[] => {
    const required = (schema["required"] ?? []) as readonly string[];
    return Object.entries(schema["properties"] as Schemas).map(([field, of]) =>
      readField(field, of, { owner: name, isOptional: !required.includes(field) }),
    );
  };

  const readField = (
    name: string,
    schema: JsonSchema,
    { owner, isOptional }: { readonly owner: string; readonly isOptional: boolean },
  ): ClientField => ({
    name,
    about: getAbout(schema),
    type: read(schema, owner + toPascal(name)),
    isOptional,
    isNullable: readTypeNames(schema).includes("null"),
  });

  const declareComponent = (name: string, schema: JsonSchema): void => {
    if (toReferences(schema) || schema["properties"]) read(schema, name);
    else declare({ name, about: getAbout(schema), kind: "alias", type: read(schema, name) });
  };

  return { declared, read, readField, declare, declareComponent };
};

const getAbout = (schema: JsonSchema): string =>
  (sayDefault(schema)["description"] as string | undefined) ?? "";

export const toPascal = (name: string): string => name.split("_").map(capitalize).join("");

/** A query is text on the wire; the caller still passes a number or a boolean. */
const toQuerySchema = (schema: JsonSchema): JsonSchema =>
  schema["default"] === "true" || schema["default"] === "false"
    ? { ...schema, type: "boolean" }
    : schema;

export const readClientTypes = (): ClientTypes => {
  const named = nameComponents();
  const writer = createSchemaWriter(named);
  const reader = createTypeReader();
  // The inputs of operations already contain the bodies.
  for (const [schema, name] of named)
    if (!name.endsWith("Request")) reader.declareComponent(name, writer.define(schema));

  const operations = programEndpoints.flatMap(listOperations).map((operation): TypedOperation => {
    const name = capitalize(operation.name);
    const owner = `${name}Input`;
    const fields = listInputFields(operation).map(({ part, name: field, schema }) => {
      const written = withFormat(field, writer.write(schema as never));
      return reader.readField(field, part === "query" ? toQuerySchema(written) : written, {
        owner,
        isOptional: part !== "path" && mayBeLeftOut(schema),
      });
    });
    if (fields.length > 0) reader.declare({ name: owner, about: "", kind: "object", fields });
    return {
      operation,
      input: fields.length > 0 ? owner : undefined,
      output: reader.read(writer.write(operation.output as never), `${name}Output`),
    };
  });
  return { declarations: selectUsed([...reader.declared.values()], operations), operations };
};

const selectUsed = (
  all: readonly Declaration[],
  operations: readonly TypedOperation[],
): readonly Declaration[] => {
  const byName = new Map(all.map((one) => [one.name, one]));
  const used = new Set<string>();
  const use = (type: ClientType): void => {
    if (type.kind === "list" || type.kind === "map") use(type.of);
    if (type.kind === "named") useName(type.name);
  };
  const useName = (name: string): void => {
    if (used.has(name)) return;
    used.add(name);
    const declaration = byName.get(name);
    if (!declaration) throw new Error(`no declaration of ${name}`);
    if (declaration.kind === "object") for (const { type } of declaration.fields) use(type);
    if (declaration.kind === "union") declaration.names.forEach(useName);
    if (declaration.kind === "alias") use(declaration.type);
  };
  for (const { input, output } of operations) {
    use(output);
    if (input !== undefined) useName(input);
  }
  return all.filter(({ name }) => used.has(name));
};

export const selectDeclarations = <Kind extends Declaration["kind"]>(
  all: readonly Declaration[],
  kind: Kind,
) => all.filter((one): one is Extract<Declaration, { kind: Kind }> => one.kind === kind);

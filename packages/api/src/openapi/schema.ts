import type { Schema } from "../http/endpoint.ts";

// Writes Valibot's schemas as JSON Schema 2020-12, the dialect of OpenAPI 3.1, as far as JSON Schema can express them. A kind
// that these tables lack throws, so nothing is lost silently.

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The name of a schema, from the id of what it describes. */
export const pascal = (id: string): string => id.charAt(0).toUpperCase() + id.slice(1);

/** A schema or a step of its pipe. Valibot has a separate type for each of them. */
type Node = {
  readonly kind: "schema" | "validation" | "transformation" | "metadata";
  readonly type: string;
  readonly pipe?: readonly Node[];
  readonly entries?: Readonly<Record<string, Node>>;
  readonly item?: Node;
  readonly wrapped?: Node;
  readonly value?: Node;
  readonly options?: readonly unknown[];
  readonly literal?: unknown;
  readonly default?: unknown;
  readonly requirement?: unknown;
  readonly metadata?: JsonSchema;
  readonly description?: string;
};

export type Writer = {
  /** Writes a reference if the schema has a name, otherwise the schema itself. */
  readonly write: (schema: Schema) => JsonSchema;
  /** Writes the schema itself, even if it has a name. */
  readonly define: (schema: Schema) => JsonSchema;
};

/** `named`: schemas with a name, matched by identity. */
export const createSchemaWriter = (named: ReadonlyMap<unknown, string>): Writer => {
  const write = (node: Node): JsonSchema => {
    const name = named.get(node);
    return name === undefined ? define(node) : { $ref: `#/components/schemas/${name}` };
  };

  const define = (node: Node): JsonSchema => {
    if (node.pipe === undefined) return written(node);
    const [first, ...steps] = node.pipe;
    let schema = first ? write(first) : {};
    for (const step of steps) schema = { ...schema, ...writeStep(step, schema) };
    return schema;
  };

  const writeStep = (step: Node, before: JsonSchema): JsonSchema => {
    if (step.kind === "schema") return write(step);
    if (step.kind === "transformation") return {};
    if (step.type === "description") return { description: step.description };
    if (step.type === "metadata") return step.metadata ?? {};
    return requireEntry(CHECKS, step)(step.requirement, before);
  };

  const written = (node: Node): JsonSchema => {
    const { item, wrapped, entries, value, options = [] } = node;
    if (entries) return writeObject(node, entries);
    if (item) return { type: "array", items: write(item) };
    if (value) return { type: "object", additionalProperties: write(value) };
    if (wrapped) {
      // From a union of a reference and null, client generators would make a type for each half.
      const schema = mayBeNull(node) ? orNull(define(wrapped)) : write(wrapped);
      return withDefault(schema, node.default);
    }
    if (node.type === "union" || node.type === "variant")
      return { [ONE_OF[node.type]]: options.map((option) => write(option as Node)) };
    return requireEntry(PLAIN, node)(node);
  };

  const writeObject = ({ type }: Node, entries: Readonly<Record<string, Node>>): JsonSchema => {
    const properties = Object.entries(entries).map(([field, node]) => {
      return [field, withFormat(field, sayDefault(write(node)))] as const;
    });
    const required = Object.keys(entries).filter((field) => !mayBeLeftOut(entries[field]));
    return {
      type: "object",
      properties: Object.fromEntries(properties),
      ...(required.length > 0 && { required }),
      ...(type === "strict_object" && { additionalProperties: false }),
    };
  };

  return {
    write: (schema) => write(schema as unknown as Node),
    define: (schema) => define(schema as unknown as Node),
  };
};

export const getDescription = (schema: Schema): string | undefined =>
  (schema as unknown as Node).pipe?.find(({ type }) => type === "description")?.description;

/** Removes this field's description from a schema, so that other fields can share the schema. */
export const withoutDescription = <S extends Schema>(schema: S): S => {
  const [first, ...steps] = (schema as unknown as Node).pipe ?? [];
  return steps.length === 1 && steps[0]?.type === "description" ? (first as unknown as S) : schema;
};

/** A field name has one meaning everywhere, so it determines the format. */
const FORMATS: readonly (readonly [name: RegExp, format: string])[] = [
  [/_at$|_since$|^last_(?:seen|open|click)$|^timestamp$/, "date-time"],
  [/^(?:date|from|to|day|\w+_day)$/, "date"],
  [/^(?:\w+_)?url$/, "uri"],
  [/^check_id$/, "uuid"],
];

export const withFormat = (field: string, schema: JsonSchema): JsonSchema => {
  const isText = [schema["type"]].flat().includes("string") && schema["enum"] === undefined;
  const format = isText && FORMATS.find(([name]) => name.test(field))?.[1];
  return format ? { ...schema, format } : schema;
};

const mayBeNull = ({ type }: Node): boolean => type === "nullable" || type === "nullish";

const mayBeLeftOut = (node: Node | undefined): boolean =>
  node?.type === "optional" || node?.type === "nullish";

const ONE_OF = { union: "anyOf", variant: "oneOf" } as const;

const PLAIN: Readonly<Record<string, (node: Node) => JsonSchema>> = {
  string: () => ({ type: "string" }),
  number: () => ({ type: "number" }),
  boolean: () => ({ type: "boolean" }),
  unknown: () => ({}),
  // JSON Schema cannot express these checks; the description states them.
  custom: () => ({}),
  // Java's generator turns a boolean constant into a text.
  literal: ({ literal }) =>
    typeof literal === "boolean" ? { type: "boolean" } : { type: typeof literal, const: literal },
  picklist: ({ options = [] }) => ({ type: "string", enum: [...options] }),
};

/** By requirement and type: a text and a list have different keywords for their bounds. */
const CHECKS: Readonly<Record<string, (requirement: unknown, of: JsonSchema) => JsonSchema>> = {
  min_length: (least, { type }) => ({ [type === "array" ? "minItems" : "minLength"]: least }),
  max_length: (most, { type }) => ({ [type === "array" ? "maxItems" : "maxLength"]: most }),
  min_value: (least) => ({ minimum: least }),
  max_value: (most) => ({ maximum: most }),
  integer: () => ({ type: "integer" }),
  multiple_of: (step) => ({ multipleOf: step }),
  regex: (pattern) => ({ pattern: (pattern as RegExp).source }),
  iso_timestamp: () => ({ format: "date-time" }),
  check: () => ({}),
};

const requireEntry = <T>(table: Readonly<Record<string, T>>, { type }: Node): T => {
  const found = table[type];
  if (found) return found;
  throw new Error(`openapi/schema.ts does not know how to write down valibot's ${type}`);
};

/**
 * Writes the default in words: with the keyword, openapi-typescript requires the field, in a request as well. The service fills
 * in the field all the same.
 */
export const sayDefault = ({ default: value, ...schema }: JsonSchema): JsonSchema => {
  const { description = "" } = schema as { description?: string };
  if (value === undefined || description.includes("Default:")) return schema;
  return {
    ...schema,
    description: `${description} Default: ${JSON.stringify(value)}.`.trimStart(),
  };
};

/** A parameter arrives as text, and so does its default. Each field of an object has its own default. */
const withDefault = (schema: JsonSchema, otherwise: unknown): JsonSchema => {
  if (otherwise === undefined || typeof otherwise === "object") return schema;
  return { ...schema, default: schema["type"] === "integer" ? Number(otherwise) : otherwise };
};

const orNull = ({ type, enum: names, ...others }: JsonSchema): JsonSchema => ({
  ...others,
  type: [type, "null"],
  ...(Array.isArray(names) && { enum: [...(names as unknown[]), null] }),
});

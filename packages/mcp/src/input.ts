import type { Endpoint, Schema } from "@mailproof/api/http/endpoint";
import { createSchemaWriter, type JsonSchema } from "@mailproof/api/openapi/schema";

/** A conversation cannot hold a thousand rows. A cursor reads more; without a cursor the page limit of the route applies. */
const PAGE = { default: 20, most: 50, mostWithoutCursor: 100 };
const CURSORS = ["next_key", "offset"];

export type ToolPage = { readonly default: number; readonly most: number };

type Fields = Readonly<Record<string, JsonSchema>>;

export type ToolInput = {
  readonly path: readonly string[];
  readonly query: readonly string[];
  readonly page: ToolPage | null;
  readonly schema: JsonSchema;
};

export const IDEMPOTENCY_KEY = "idempotency_key";

/** Builds one object with every field of the request: models handle it better than an object per part. */
export const buildInput = (endpoint: Endpoint): ToolInput => {
  const path = endpoint.path ? toObjectShape(endpoint.path) : NOTHING;
  const query = endpoint.query ? toObjectShape(endpoint.query) : NOTHING;
  const body = endpoint.body ? toObjectShape(endpoint.body) : NOTHING;
  // A visitor's browser signs `control`, so no model has it.
  const { control: _, ...fields } = body.properties;
  const page = getPage(Object.keys(query.properties));
  const key = endpoint.keyed ? { [IDEMPOTENCY_KEY]: KEY } : {};
  const properties = {
    ...path.properties,
    ...withTypedValues(query.properties, page),
    ...fields,
    ...key,
  };
  const required = [...path.required, ...query.required, ...body.required];
  return {
    path: Object.keys(path.properties),
    query: Object.keys(query.properties),
    page,
    schema: {
      type: "object",
      properties,
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    },
  };
};

type ObjectShape = { readonly properties: Fields; readonly required: readonly string[] };

// Inlines every schema, because not every client resolves references.
const { write } = createSchemaWriter(new Map());

const NOTHING: ObjectShape = { properties: {}, required: [] };

/** A union of objects becomes one object with all fields; the hint explains which belong to one variant. */
const toObjectShape = (schema: Schema): ObjectShape => {
  const { type, options } = schema as unknown as { type: string; options: readonly Schema[] };
  if (type !== "variant") return { ...NOTHING, ...write(schema) };
  const all = options.map((option) => toObjectShape(option));
  const properties: Record<string, JsonSchema> = {};
  for (const { properties: own } of all)
    for (const [name, one] of Object.entries(own))
      properties[name] = mergeSchemas(properties[name], one);
  return {
    properties,
    required: (all[0]?.required ?? []).filter((field) =>
      all.every(({ required }) => required.includes(field)),
    ),
  };
};

/** The field that tells the objects apart has a different word in each. */
const mergeSchemas = (one: JsonSchema | undefined, other: JsonSchema): JsonSchema => {
  if (!one || other["const"] === undefined) return other;
  const { const: word, enum: words = [word], ...others } = one;
  return { ...others, enum: [...(words as readonly unknown[]), other["const"]] };
};

const getPage = (query: readonly string[]): ToolPage | null => {
  if (!query.includes("limit")) return null;
  const hasMore = query.some((name) => CURSORS.includes(name));
  return { default: PAGE.default, most: hasMore ? PAGE.most : PAGE.mostWithoutCursor };
};

/** In a path or query every value is text; in a tool call a number is a number. */
const withTypedValues = (query: Fields, page: ToolPage | null): Fields => ({
  ...query,
  ...(page && {
    limit: {
      type: "integer",
      minimum: 1,
      maximum: page.most,
      default: page.default,
      description: "Largest number of entries in the result.",
    },
  }),
  ...("include_results" in query && {
    include_results: {
      type: "boolean",
      default: true,
      description: "false returns the progress without results.",
    },
  }),
});

const KEY: JsonSchema = {
  type: "string",
  minLength: 1,
  maxLength: 255,
  pattern: "^[!-~]+$",
  description:
    "Text of your own for each intended operation. A repeat with the same key is charged once; a repeat without a key is charged again.",
};

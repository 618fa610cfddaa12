import type { Endpoint, Schema } from "@mailproof/api/endpoint";
import { type JsonSchema, jsonSchemaOf } from "./json-schema.ts";

/** A conversation holds no thousand rows. There is a cursor for more. */
export const PAGE = { default: 20, most: 50 };

type Fields = Readonly<Record<string, JsonSchema>>;

/** The fields of each part of a request, as they are called by a tool: side by side. */
export type Input = {
  readonly path: readonly string[];
  readonly query: readonly string[];
  readonly schema: JsonSchema;
};

export const IDEMPOTENCY_KEY = "idempotency_key";

/** One object with every field of the request in it: models do better with that than with an object per part. */
export const inputOf = (endpoint: Endpoint): Input => {
  const path = endpoint.path ? objectOf(endpoint.path) : NOTHING;
  const query = endpoint.query ? objectOf(endpoint.query) : NOTHING;
  const body = endpoint.body ? objectOf(endpoint.body) : NOTHING;
  const key = endpoint.keyed ? { [IDEMPOTENCY_KEY]: KEY } : {};
  const properties = {
    ...path.properties,
    ...asValues(query.properties),
    ...body.properties,
    ...key,
  };
  const required = [...path.required, ...query.required, ...body.required];
  return {
    path: Object.keys(path.properties),
    query: Object.keys(query.properties),
    schema: {
      type: "object",
      properties: described(properties),
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    },
  };
};

type Whole = { readonly properties: Fields; readonly required: readonly string[] };

const NOTHING: Whole = { properties: {}, required: [] };

/** A choice of objects becomes one that has the fields of all: which go together is told by the hint. */
const objectOf = (schema: Schema): Whole => {
  const { type, options } = schema as unknown as { type: string; options: readonly Schema[] };
  if (type !== "variant") return jsonSchemaOf(schema) as Whole;
  const all = options.map(objectOf);
  return {
    properties: all
      .flatMap(({ properties }) => Object.entries(properties))
      .reduce<Fields>((so, [name, one]) => ({ ...so, [name]: either(so[name], one) }), {}),
    required: (all[0]?.required ?? []).filter((field) =>
      all.every(({ required }) => required.includes(field)),
    ),
  };
};

/** The field that tells the objects apart is a different word in each. */
const either = (one: JsonSchema | undefined, other: JsonSchema): JsonSchema => {
  if (!one || other["const"] === undefined) return other;
  const { const: word, enum: words = [word], ...rest } = one;
  return { ...rest, enum: [...(words as readonly unknown[]), other["const"]] };
};

/** In an address everything is a text; in a tool call a number is a number. */
const asValues = (query: Fields): Fields => ({
  ...query,
  ...("limit" in query && {
    limit: { type: "integer", minimum: 1, maximum: PAGE.most, default: PAGE.default },
  }),
  ...("include_results" in query && { include_results: { type: "boolean", default: true } }),
});

const KEY: JsonSchema = { type: "string", minLength: 1, maxLength: 255, pattern: "^[!-~]+$" };

const described = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => {
      const description = WORDS[name];
      return [name, { ...schema, ...(description && { description }) }];
    }),
  );

/** What a name alone does not tell. A name means the same in every tool. */
const WORDS: Readonly<Record<string, string>> = {
  [IDEMPOTENCY_KEY]:
    "Any text of your own, one for each thing you mean to do. The same call with the same key is charged once, however often it is sent; without one, sending again charges again.",
  limit: "How many entries one answer has.",
  next_key: "The next_key of the page before, unchanged.",
  offset: "The next_offset of the page before, unchanged.",
  include_results: "false tells only how far the job is.",
  refresh: "true makes and charges a new check although there is one of the last 24 hours.",
  sending_ip: "The IPv4 address that the domain sends from.",
  include_activity: "Tell what is known of opens and clicks, too; costs nothing more.",
  email_column: "The name of the column with the addresses; otherwise it is looked for.",
  webhook_url: "An https address that is told when the job ends.",
};

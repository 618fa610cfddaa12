import type { Endpoint } from "@mailproof/api/http/endpoint";
import { createSchemaWriter, type JsonSchema } from "@mailproof/api/openapi/schema";
import type { Tool } from "@modelcontextprotocol/server";

// The output schema of a tool, for clients that check results and models that plan with them: only types and values. Descriptions would
// make the tools several times as long, and results explain themselves.

const { write } = createSchemaWriter(new Map());

type Convert = (value: unknown) => unknown;

const compactAll: Convert = (schemas) => (schemas as readonly JsonSchema[]).map(compact);

const WORDS: Readonly<Record<string, Convert>> = {
  type: (value) => value,
  const: (value) => value,
  enum: (value) => value,
  required: (value) => value,
  items: (schema) => compact(schema as JsonSchema),
  anyOf: compactAll,
  oneOf: compactAll,
  properties: (fields) =>
    Object.fromEntries(
      Object.entries(fields as Readonly<Record<string, JsonSchema>>).map(([name, schema]) => [
        name,
        compact(schema),
      ]),
    ),
};

const compact = (schema: JsonSchema): JsonSchema =>
  Object.fromEntries(
    Object.entries(schema).flatMap(([word, value]) => {
      const convert = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
      return convert ? [[word, convert(value)]] : [];
    }),
  ) as JsonSchema;

const LINK: JsonSchema = {
  properties: { download_url: { type: "string" } },
  required: ["download_url"],
};

/** The protocol requires an object at the root, also for a union of objects. */
export const buildOutput = ({ id, output }: Endpoint): NonNullable<Tool["outputSchema"]> => ({
  ...(id === "downloadJob" ? LINK : compact(write(output))),
  type: "object",
});

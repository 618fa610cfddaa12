import { programEndpoints } from "../endpoints.ts";
import { getBodyBytesMax } from "../http/body.ts";
import type { Endpoint, Schema } from "../http/endpoint.ts";
import { EVENTS, eventName, nameComponents } from "./components.ts";
import { EVENT_EXAMPLES, EXAMPLES, type Example } from "./examples.ts";
import { PARTS } from "./parts.ts";
import { type Failing, getUsualHeaders, HEADERS, listFailures, toHeaderRefs } from "./responses.ts";
import {
  createSchemaWriter,
  getDescription,
  type JsonSchema,
  type Writer,
  withFormat,
} from "./schema.ts";
import { TAGS } from "./tags.ts";

export type OpenApi = {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>;
  readonly webhooks: Readonly<Record<string, JsonSchema>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>;
  readonly [more: string]: unknown;
};

const VERSION = "1.0.0";

/** Builds the OpenAPI document from the list of endpoints. `baseUrl`: the service's URL for the reader. */
export const openapi = (
  baseUrl: string,
  listed: readonly Endpoint[] = programEndpoints,
): OpenApi => {
  const named = nameComponents(listed);
  const writer = createSchemaWriter(named);
  const paths = toPaths(listed, writer, baseUrl);
  const webhooks = toWebhooks(writer);
  const schemas = {
    ...writeSchemas(named, writer),
    ...collectFailures(listed, baseUrl, ({ schemaName, schema }) => [schemaName, schema]),
  };
  const responses = collectFailures(listed, baseUrl, ({ name, response }) => [name, response]);
  return {
    openapi: "3.1.0",
    info: {
      title: "Mailproof",
      version: VERSION,
      summary: "Email verification and deliverability.",
      description: ABOUT,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: baseUrl }],
    tags: Object.entries({ ...TAGS, [EVENTS_TAG]: ABOUT_EVENTS })
      .filter(([name]) => name === EVENTS_TAG || listed.some(({ tag }) => tag === name))
      .map(([name, description]) => ({ name, description })),
    security: [{ ApiKey: [] }, { Bearer: [] }],
    paths,
    webhooks,
    components: {
      schemas: selectUsed(schemas, [paths, webhooks, responses, schemas]),
      responses,
      parameters: { IdempotencyKey: PARTS.idempotencyKey },
      headers: HEADERS,
      securitySchemes: PARTS.securitySchemes(baseUrl),
    },
  };
};

const ABOUT =
  "Verifies whether an email address can receive mail, and checks whether a domain is set up to send it. Successful responses are `{success, data}`; failures are `{success, error, request_id}`, and `error.money` states what happened to the money. The dashboard's own operations for people, such as the sign-in, refuse keys and are not listed.";

/** No endpoint may have this tag: a generator writes one file per tag and would overwrite this one. */
const EVENTS_TAG = "Events";
const ABOUT_EVENTS = "Requests that the service sends to your webhooks.";

const toPaths = (
  listed: readonly Endpoint[],
  writer: Writer,
  baseUrl: string,
): OpenApi["paths"] => {
  const byPath = Map.groupBy(listed, ({ route }) => route.split(" ")[1] ?? "");
  return Object.fromEntries(
    [...byPath].map(([path, all]) => [
      path,
      Object.fromEntries(
        all.map((one) => [
          one.route.split(" ")[0]?.toLowerCase(),
          toOperation(one, writer, baseUrl),
        ]),
      ),
    ]),
  );
};

const toOperation = (endpoint: Endpoint, writer: Writer, baseUrl: string): JsonSchema => {
  const { id, route, tag, summary, price, access, keyed, addition } = endpoint;
  const parameters = [
    ...toParameters("path", endpoint.path, writer),
    ...toParameters("query", endpoint.query, writer),
    ...(keyed ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary: summary.replace(/\.$/, ""),
    description: `${summary}\n\n**Price:** ${price ?? "free."}${describeAccess(endpoint)}${addition === undefined ? "" : `\n\n**Beyond the contract:** ${addition}`}`,
    ...(addition !== undefined && { "x-addition": addition }),
    ...(price !== null && { "x-price": price }),
    ...(access !== "public" && { "x-scope": access }),
    ...(endpoint.forVisitors && { "x-public-key": true }),
    security: toSecurity(access),
    ...(parameters.length > 0 && { parameters }),
    ...toRequestBody(endpoint, writer, parameters.length > 0),
    responses: {
      ...toSuccesses(endpoint, writer),
      ...PARTS.elsewhere[route],
      ...Object.fromEntries(
        [...listFailures(endpoint, baseUrl)].map(([status, { name }]) => [
          String(status),
          { $ref: `#/components/responses/${name}` },
        ]),
      ),
    },
  };
};

const describeAccess = ({ access, forVisitors }: Endpoint): string => {
  if (access === "public") return "\n\n**Key:** not required.";
  if (access === "unrestricted") return "\n\n**Key:** unrestricted, without scopes.";
  return `\n\n**Scope:** \`${access}\`${forVisitors ? ", or a public key" : ""}`;
};

/** For a key these are roles and not OAuth scopes: OpenAPI 3.1 lists both in one place. */
const toSecurity = (access: Endpoint["access"]) => {
  if (access === "public") return [];
  const scopes = access.includes(":") ? [access] : [];
  return [{ ApiKey: scopes }, { Bearer: scopes }];
};

type ObjectSchema = Schema & { readonly entries: Readonly<Record<string, Schema>> };

const toParameters = (
  location: "path" | "query",
  schema: Schema | undefined,
  writer: Writer,
): readonly JsonSchema[] => {
  if (!schema) return [];
  return Object.entries((schema as ObjectSchema).entries).map(([name, one]) => {
    const { description = "", ...written } = writer.write(one);
    return {
      name,
      in: location,
      required: location === "path" || one.type !== "optional",
      description,
      schema: withFormat(name, written),
    };
  });
};

const toRequestBody = (endpoint: Endpoint, writer: Writer, hasParameters: boolean): JsonSchema => {
  const { route, body, form } = endpoint;
  if (!body) return {};
  const sent = toExamples(route, ({ request }) => request);
  return {
    requestBody: {
      description: `At most ${getBodyBytesMax(endpoint).toLocaleString("en")} bytes of JSON.`,
      // openapi-python-client makes a body of two types optional, and imports the type for it only with another optional one.
      required: !form || hasParameters,
      content: {
        "application/json": { schema: writer.write(body), ...sent },
        ...(form && { "multipart/form-data": { schema: PARTS.forms[route] } }),
      },
    },
  };
};

const toSuccesses = (endpoint: Endpoint, writer: Writer): JsonSchema => {
  const { answers = [200 as const], access } = endpoint;
  const usual = getUsualHeaders(access === "public");
  return Object.fromEntries(
    answers.map((status) => {
      const more = PARTS.successes[`${endpoint.route} ${status}`];
      const { schema = endpoint.output, headers = [], also = {}, description } = more ?? {};
      return [
        String(status),
        {
          description: description ?? DESCRIPTIONS[status],
          headers: toHeaderRefs(...usual, ...headers),
          content: {
            ...also,
            "application/json": {
              schema: toEnvelope(endpoint, writer.write(schema)),
              ...toExamples(endpoint.route, (one) =>
                one.status === status ? one.answer : undefined,
              ),
            },
          },
        },
      ];
    }),
  );
};

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  200: "Success.",
  201: "Created.",
  202: "Accepted. The work continues.",
};

const toEnvelope = ({ enveloped }: Endpoint, data: JsonSchema): JsonSchema =>
  enveloped === false
    ? data
    : {
        type: "object",
        properties: { success: { type: "boolean", description: "Always true." }, data },
        required: ["success", "data"],
      };

const toExamples = (route: string, part: (example: Example) => unknown): JsonSchema => {
  const all = EXAMPLES.filter((one) => one.route === route && part(one) !== undefined);
  const examples = all.map((one) => [one.name, { summary: one.title, value: part(one) }]);
  return all.length > 0 ? { examples: Object.fromEntries(examples) } : {};
};

const writeSchemas = (named: ReadonlyMap<Schema, string>, writer: Writer) =>
  Object.fromEntries([...named].map(([schema, name]) => [name, writer.define(schema)]));

/** Drops unreferenced schemas, such as a union whose statuses each use one part. */
const selectUsed = (schemas: Record<string, JsonSchema>, by: readonly unknown[]) => {
  const used = new Set(
    [...JSON.stringify(by).matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name),
  );
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
};

const collectFailures = (
  listed: readonly Endpoint[],
  baseUrl: string,
  part: (one: Failing) => readonly [string, JsonSchema],
): Record<string, JsonSchema> =>
  Object.fromEntries(listed.flatMap((one) => [...listFailures(one, baseUrl).values()].map(part)));

const toWebhooks = (writer: Writer): OpenApi["webhooks"] =>
  Object.fromEntries(
    EVENTS.map(([event, schema]) => [
      event,
      {
        post: {
          operationId: `on${eventName(event)}`,
          tags: [EVENTS_TAG],
          summary: getDescription(schema) ?? event,
          security: [],
          parameters: PARTS.webhookHeaders,
          requestBody: {
            required: true,
            content: {
              "application/json": {
                schema: writer.write(schema),
                ...(event in EVENT_EXAMPLES && { example: EVENT_EXAMPLES[event] }),
              },
            },
          },
          responses: PARTS.webhookResponses,
        },
      },
    ]),
  );

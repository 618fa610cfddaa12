import { endpoints } from "../endpoints.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { EXAMPLES } from "./examples.ts";

const SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";

/**
 * The operations as a collection of Postman, which Bruno and Insomnia read too. The OpenAPI document cannot have their
 * placeholder for a new UUID: another program would send it as it is, as one key for all its requests.
 */
export const buildPostmanCollection = (baseUrl: string): object => ({
  info: { name: "Mailproof", schema: SCHEMA },
  auth: {
    type: "apikey",
    apikey: Object.entries({ key: "X-Api-Key", value: "{{apiKey}}", in: "header" }).map(
      ([key, value]) => ({ key, value, type: "string" }),
    ),
  },
  variable: [
    { key: "baseUrl", value: baseUrl },
    { key: "apiKey", value: "" },
  ],
  item: [...Map.groupBy(endpoints, ({ tag }) => tag)].map(([name, group]) => ({
    name,
    item: group.map(toItem),
  })),
});

const toItem = (endpoint: Endpoint): object => {
  const [method = "", path = ""] = endpoint.route.split(" ");
  const example = EXAMPLES.find(({ route }) => route === endpoint.route);
  const names = path.match(/(?<=\{)[^}]+(?=\})/g) ?? [];
  const segments = path.replaceAll(/\{([^}]+)\}/g, ":$1");
  const hasBody = example?.request !== undefined;
  const headers = {
    ...(hasBody && { "Content-Type": "application/json" }),
    ...(endpoint.keyed && { "Idempotency-Key": "{{$randomUUID}}" }),
  };
  return {
    name: endpoint.summary,
    request: {
      method,
      ...(endpoint.access === "public" && { auth: { type: "noauth" } }),
      header: Object.entries(headers).map(([key, value]) => ({ key, value })),
      url: {
        raw: `{{baseUrl}}${segments}`,
        host: ["{{baseUrl}}"],
        path: segments.slice(1).split("/"),
        query: Object.entries(example?.query ?? {}).map(([key, value]) => ({ key, value })),
        variable: names.map((key) => ({ key, value: example?.path[key] ?? "" })),
      },
      ...(hasBody && {
        body: { mode: "raw", raw: JSON.stringify(example.request, null, 2) },
      }),
    },
  };
};

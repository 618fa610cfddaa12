import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programEndpoints } from "@mailproof/api/endpoints";
import type { Schema } from "@mailproof/api/http/endpoint";
import { STATUS } from "@mailproof/api/http/http-failure";
import { EVENTS, nameComponents } from "@mailproof/api/openapi/components";
import { openapi } from "@mailproof/api/openapi/openapi";
import { buildPostmanCollection } from "@mailproof/api/openapi/postman";
import { TEST_EVENT, WEBHOOK_EVENT_TYPES } from "@mailproof/core/webhooks/payloads";
import { describe, expect, onTestFinished, test } from "vitest";
import { given } from "../app/given.ts";
import { whenVerified } from "../app/send.ts";

const BASE = "http://127.0.0.1:8787";
const document: any = openapi(BASE);

const operations = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
  Object.entries<any>(methods).map(([method, operation]) => ({
    route: `${method.toUpperCase()} ${path}`,
    operation,
  })),
);

const getAnswer = (operation: any, status: string): any => {
  const answer = operation.responses[status];
  const name = /^#\/components\/responses\/(\w+)$/.exec(answer.$ref ?? "")?.[1];
  return name === undefined ? answer : document.components.responses[name];
};

test("the document contains every endpoint, and nothing else", () => {
  const routes = programEndpoints.map(({ route }) => route).toSorted();

  expect(operations.map(({ route }) => route).toSorted()).toEqual(routes);
});

test("no two operations share a name, every tag is used, and events use a separate tag", () => {
  const events = Object.values<any>(document.webhooks).map(({ post }) => post);
  const all = [...operations.map(({ operation }) => operation), ...events];
  const ids = all.map(({ operationId }) => operationId);

  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(all.flatMap(({ tags }) => tags))).toEqual(
    new Set(document.tags.map(({ name }: any) => name)),
  );
  expect(new Set(events.flatMap(({ tags }) => tags))).toEqual(new Set(["Events"]));
});

test("no schema contains a construct that breaks client generators", () => {
  const isNull = (one: any): boolean => one?.type === "null";
  const findFaults = (schema: any, path: string): string[] => {
    if (typeof schema !== "object" || schema === null) return [];
    const faults = [
      isNull(schema) || schema.anyOf?.some(isNull) ? "null by itself" : "",
      typeof schema.default === "object" && !path.endsWith("/responses")
        ? "an object as a default"
        : "",
      typeof schema.const === "boolean" ? "a constant that is no text" : "",
    ].filter(Boolean);
    return [
      ...faults.map((fault) => `${path}: ${fault}`),
      ...Object.entries(schema).flatMap(([name, one]) => findFaults(one, `${path}/${name}`)),
    ];
  };

  expect(findFaults(document, "")).toEqual([]);
});

test.each(programEndpoints)(
  "the document lists every status and every code of $route",
  (endpoint) => {
    const operation = operations.find(({ route }) => route === endpoint.route)?.operation;
    const statuses = [
      ...(endpoint.answers ?? [200]),
      ...endpoint.errors.map((code) => STATUS[code]),
    ];
    const codes = Object.keys(operation.responses).flatMap((status) => {
      const schema = getAnswer(operation, status).content?.["application/json"]?.schema;
      const name = /^#\/components\/schemas\/(\w+Error)$/.exec(schema?.$ref ?? "")?.[1];
      return name === undefined
        ? []
        : document.components.schemas[name].properties.error.properties.code.enum;
    });

    expect(new Set(Object.keys(operation.responses))).toEqual(
      new Set([...statuses.map(String), ...(endpoint.route.endsWith("/download") ? ["303"] : [])]),
    );
    expect(codes).toHaveLength(new Set(codes).size);
    expect(new Set(codes)).toEqual(new Set<string>(endpoint.errors));
  },
);

test.each(programEndpoints)(
  "the document states the allowed callers and the price of $route",
  ({ route, access, price }) => {
    const operation = operations.find((one) => one.route === route)?.operation;
    const roles = operation.security.flatMap((one: any) => Object.values(one).flat());

    const schemes = operation.security.flatMap((one: any) => Object.keys(one));

    expect(schemes).toEqual(access === "public" ? [] : ["ApiKey", "Bearer"]);
    expect(new Set(roles)).toEqual(new Set(access.includes(":") ? [access] : []));
    expect(operation["x-price"] ?? null).toBe(price);
  },
);

test("the document contains every sent event with its payload", () => {
  expect(Object.keys(document.webhooks).toSorted()).toEqual(
    [...WEBHOOK_EVENT_TYPES, TEST_EVENT].toSorted(),
  );
});

/** Objects and lists of names: the shapes that need a type in a generated client. */
const deservesName = (schema: any): boolean =>
  schema.pipe === undefined && (schema.entries !== undefined || schema.type === "picklist");

test("a schema that appears in several places has its own name", () => {
  const named = nameComponents();
  const counts = new Map<unknown, number>();
  const visit = (schema: any) => {
    if (typeof schema !== "object" || schema === null || schema.kind !== "schema") return;
    counts.set(schema, (counts.get(schema) ?? 0) + 1);
    if ((counts.get(schema) ?? 0) > 1) return;
    for (const part of [schema.item, schema.wrapped, schema.value]) visit(part);
    for (const part of [...(schema.pipe?.slice(1) ?? []), ...(schema.options ?? [])]) visit(part);
    for (const part of Object.values(schema.entries ?? {})) visit(part);
  };
  for (const { body, output } of programEndpoints) for (const one of [body, output]) visit(one);
  for (const [, schema] of EVENTS) visit(schema);

  const nameless = [...counts].filter(
    ([schema, count]) => count > 1 && deservesName(schema) && !named.has(schema as Schema),
  );
  expect(nameless.map(([schema]: any) => Object.keys(schema.entries ?? schema.options))).toEqual(
    [],
  );
});

test("each schema name in the document belongs to one schema", () => {
  const names = [...nameComponents().values()];

  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

test("Redocly finds no fault in the document by its recommended rules", () => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "openapi.json");
  writeFileSync(file, JSON.stringify(document));

  const printed = execFileSync(
    "node_modules/.bin/redocly",
    ["lint", "--extends", "recommended", "--format", "json", file],
    {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        REDOCLY_TELEMETRY: "off",
        REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
      },
    },
  );

  expect(JSON.parse(printed)).toMatchObject({ totals: { errors: 0, warnings: 0 }, problems: [] });
});

describe("importers of the document", () => {
  // Programs that make collections of requests put a value into every header. A key that stays the same would make the
  // second different request a conflict, so the collection has a placeholder that they fill in each time.

  const collection: any = buildPostmanCollection(BASE);
  const requests: any[] = collection.item.flatMap(({ item }: any) =>
    item.map(({ request }: any) => request),
  );

  test("the document's Idempotency-Key is optional and has a UUID as its example", () => {
    const { IdempotencyKey: key } = document.components.parameters;

    expect(key.example).toMatch(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/);
    expect(Object.keys(key.schema).toSorted()).toEqual(["maxLength", "minLength", "type"]);
    expect(key.required).toBe(false);
  });

  test("the collection contains every operation, and a new key for each request that takes one", () => {
    const routes = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
      Object.entries<any>(methods).map(([method, { parameters = [] }]) => ({
        route: `${method.toUpperCase()} {{baseUrl}}${path.replaceAll(/\{(\w+)\}/g, ":$1")}`,
        isKeyed: parameters.some(({ $ref = "" }: any) => $ref.endsWith("/IdempotencyKey")),
      })),
    );
    const collected = requests.map(({ method, url, header }) => ({
      route: `${method} ${url.raw}`,
      isKeyed: header.some(({ value }: any) => value === "{{$randomUUID}}"),
    }));
    const byRoute = (a: { route: string }, b: { route: string }) => (a.route < b.route ? -1 : 1);

    expect(collected.toSorted(byRoute)).toEqual(routes.toSorted(byRoute));
  });

  test.each(["<string>", "{{$randomUUID}}", "{{key}}", "{{}", "string", "!", "~".repeat(255)])(
    "the service accepts the Idempotency-Key %s, which is printable ASCII without spaces",
    async (key) => {
      const { world, liveKey } = await given({ balance: 5 });
      const body = { email: "a@x.com" };

      const first = await whenVerified(world, liveKey, body, key);
      const repeat = await whenVerified(world, liveKey, body, key);

      expect(first).toMatchObject({ statusCode: 200, data: { credits_used: 1 } });
      expect(repeat.data).toMatchObject({ idempotent_replay: true, credits_used: 0 });
    },
  );
});

describe("nulls in the document", () => {
  /** Fields whose type in the contract names null, or that it lists without a word on what they are where there is none. */
  const CONTRACT = [
    "authentication.dmarc.policy",
    "authentication.dmarc.record",
    "authentication.spf.record",
    "sending_ip",
    "ai.typo_confidence",
    "ai.typo_suggestion",
    "dns.mx_records.ip",
    "enrichment.first_name",
    "enrichment.last_name",
    "find: email",
    "find: pattern",
    "deliverability: reputation.score",
    "server.accepts_mail",
    "server.response_time_ms",
    "server.supports_tls",
    "server.tls_version",
  ];

  /** Fields that we added to operations of the contract, where null is one of the answers. */
  const OURS: readonly string[] = [
    "health: reach.measured_at",
    "provider",
    "sub_status",
    "webhooks: delivery.error",
    "webhooks: delivery.last_attempt_at",
    "webhooks: delivery.latency_ms",
    "webhooks: delivery.next_attempt_at",
    "webhooks: delivery.payload",
    "webhooks: delivery.response_body",
    "webhooks: delivery.response_status",
  ];

  const resolved = (schema: any): any =>
    schema.$ref === undefined
      ? schema
      : resolved(document.components.schemas[schema.$ref.split("/").at(-1)]);

  type Nullable = { readonly path: string; readonly description: string };

  /** Lists all fields that can be null, by their dotted path. */
  const listNullable = (written: any, path: readonly string[]): readonly Nullable[] => {
    const schema = resolved(written);
    const variants: readonly any[] = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [];
    const isNull =
      [schema.type].flat().includes("null") || variants.some(({ type }) => type === "null");
    return [
      ...(isNull && path.length > 0
        ? [{ path: path.join("."), description: written.description ?? schema.description ?? "" }]
        : []),
      ...variants.flatMap((one) => listNullable(one, path)),
      ...(schema.items ? listNullable(schema.items, path) : []),
      ...Object.entries(schema.properties ?? {}).flatMap(([field, one]) =>
        listNullable(one, [...path, field]),
      ),
    ];
  };

  const nullable = Object.entries<any>(document.paths).flatMap(([route, methods]) =>
    Object.values<any>(methods).flatMap((operation) =>
      Object.entries<any>(operation.responses)
        .filter(([status]) => status.startsWith("2"))
        .flatMap(([, response]) => {
          const schema = response.content?.["application/json"]?.schema;
          const area = route.split("/").filter((part) => part !== "v1" && part !== "")[0];
          const isOurs = operation["x-addition"] !== undefined;
          return listNullable(schema ?? {}, []).map(({ path, description }) => ({
            area,
            isOurs,
            description,
            path: path.replace(/^data\./, ""),
          }));
        }),
    ),
  );

  /** A field is allowed by its path, by the end of its path, or by its path within one area of the API. */
  const isAllowed = ({ area, path }: (typeof nullable)[number], allowed: string): boolean =>
    allowed === `${area}: ${path}` || `.${path}`.endsWith(`.${allowed}`);

  test("the walk over the document finds each null that the contract allows", () => {
    expect(CONTRACT.filter((field) => !nullable.some((one) => isAllowed(one, field)))).toEqual([]);
    expect(OURS.filter((field) => !nullable.some((one) => isAllowed(one, field)))).toEqual([]);
  });

  test("the document allows no null in a field that the contract gives a plain type", () => {
    const others = nullable
      .filter((one) => !one.isOurs)
      .filter((one) => ![...CONTRACT, ...OURS].some((field) => isAllowed(one, field)))
      .map(({ area, path }) => `${area}: ${path}`);

    expect([...new Set(others)]).toEqual([]);
  });

  test("the description of each field that can be null states the meaning of null", () => {
    const silent = nullable.filter(({ description }) => !/\bnull\b/i.test(description));

    expect(silent.map(({ area, path }) => `${area}: ${path}`)).toEqual([]);
  });
});

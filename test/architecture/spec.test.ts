import { globSync } from "node:fs";
import { basename } from "node:path";
import { endpoints, programEndpoints } from "@mailproof/api/endpoints";
import { type Access, type Endpoint, toFileName } from "@mailproof/api/http/endpoint";
import { STATUS } from "@mailproof/api/http/http-failure";
import { ADDITIONS } from "@mailproof/api/openapi/additions";
import { openapi } from "@mailproof/api/openapi/openapi";
import { schedules, workers } from "@mailproof/core/background/workers";
import { docsPage } from "@mailproof/docs-site/page";
import { expect, test } from "vitest";
import { prober, uploadLimit } from "../../infra/topology.ts";
import { toEntry, toWorkerEntry } from "../../packages/functions/entries.ts";

type Operation = {
  /** As the contract writes it, with the braces named as ours are. */
  readonly route: string;
  readonly access: Access;
  readonly statuses: readonly number[];
};

const BEHIND_A_KEY = [401, 403, 429];

const of = (route: string, access: Access, ...statuses: readonly number[]): Operation => ({
  route,
  access,
  statuses: access === "public" ? statuses : [...statuses, ...BEHIND_A_KEY],
});

/** Every operation of the contract and every status that it documents for it. */
const CONTRACT: readonly Operation[] = [
  of("GET /health", "public", 200, 503),
  of("POST /v1/verify", "verification:write", 200, 400, 402, 409, 500, 503),
  of("POST /v1/verify/batch", "verification:write", 202, 400, 402, 409, 413, 500, 503),
  of("POST /v1/verify/file", "verification:write", 200, 202, 400, 402, 404, 409, 413, 500, 503),
  of("GET /v1/jobs", "verification:read", 200, 400),
  of("GET /v1/jobs/{id}", "verification:read", 200, 400, 404),
  of("GET /v1/jobs/{id}/download", "verification:read", 200, 400, 404, 409),
  of("POST /v1/find", "verification:write", 200, 400, 402, 500, 503),
  of("GET /v1/activity/{email}", "activity:read", 200, 400),
  of("POST /v1/activity/batch", "activity:read", 200, 400),
  of("GET /v1/activity/domain/{domain}", "activity:read", 200, 400),
  of("POST /v1/deliverability/check", "deliverability:write", 200, 400, 402, 409, 500, 503),
  of("GET /v1/deliverability/checks", "deliverability:read", 200, 400),
  of("GET /v1/deliverability/checks/{id}", "deliverability:read", 200, 400, 404),
  of("GET /v1/webhooks", "webhooks:read", 200, 400),
  of("POST /v1/webhooks", "webhooks:write", 201, 400),
  of("PUT /v1/webhooks/{id}", "webhooks:write", 200, 400, 404),
  of("DELETE /v1/webhooks/{id}", "webhooks:write", 200, 404),
  of("POST /v1/webhooks/{id}/test", "webhooks:write", 200, 400, 404),
  of("POST /v1/webhooks/{id}/secret", "webhooks:write", 200, 404),
  of("GET /v1/webhooks/events", "webhooks:read", 200),
];

/** What the contract's operations take, in path, query and body, as the contract lists it. */
const CONTRACT_FIELDS: readonly string[] = `
email include_activity options deep_verify include_ai timeout_ms emails webhook_url webhook_secret name
action file_name file_key file email_column has_header
limit status offset id include_results next_key format filter
first_name last_name domain sending_ip refresh url events`.split(/\s+/);

const CONTRACT_EVENTS: readonly string[] = `
job.completed job.failed credits.low credits.depleted blacklist.detected dmarc.failed`.split(/\s+/);

const document = openapi("http://127.0.0.1:8787");

test("the contract lists 21 operations, and every other endpoint states its reason", () => {
  const ofContract = endpoints.filter(({ addition }) => addition === undefined);
  const reasons = endpoints.flatMap(({ addition = [] }) => addition);

  expect(ofContract.map(({ route }) => route).toSorted()).toEqual(
    CONTRACT.map(({ route }) => route).toSorted(),
  );
  expect(ofContract).toHaveLength(21);
  expect(reasons.filter((why) => !/^[A-Z].{20,}\.$/.test(why))).toEqual([]);
});

/** Of an operation of the document: its parameters, and the fields of its bodies and of their options. */
const listFields = (operation: any): readonly string[] => {
  const {
    components,
    parameters = [],
    requestBody,
  } = { components: document.components as any, ...operation };
  const resolve = (one: any) =>
    one.$ref
      ? one.$ref
          .split("/")
          .slice(2)
          .reduce((part: any, name: string) => part[name], components)
      : one;
  const listIn = (schema: any): string[] => {
    const { oneOf, anyOf, properties = {} } = resolve(schema);
    if (oneOf ?? anyOf) return (oneOf ?? anyOf).flatMap(listIn);
    return Object.entries(properties).flatMap(([name, one]) => [name, ...listIn(one)]);
  };
  const bodies = Object.values<any>(requestBody?.content ?? {});
  return [
    ...parameters.map((one: any) => resolve(one).name),
    ...bodies.flatMap(({ schema }) => listIn(schema)),
  ];
};

test("the page about the contract lists each addition to the contract's requests and responses", () => {
  const ofContract = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .filter((operation) => operation["x-addition"] === undefined);
  const names = [...ofContract.flatMap(listFields), ...Object.keys(document.webhooks)];
  const own = names.filter(
    (name) => ![...CONTRACT_FIELDS, ...CONTRACT_EVENTS, "Idempotency-Key"].includes(name),
  );
  const text = ADDITIONS.map(({ what }) => what).join(" ");

  expect(new Set(own).size).toBeGreaterThan(8);
  expect([...new Set(own)].filter((name) => !new RegExp(`\`${name}[\`=]`).test(text))).toEqual([]);
});

test("the manual and the document mark the operations for programs outside the contract", () => {
  const page = docsPage("http://127.0.0.1:8787");
  const side = page.split("</nav>", 1)[0] ?? "";
  const seen = programEndpoints.map(({ id, route }) => {
    const [method = "", path = ""] = route.split(" ");
    const isMarked = new RegExp(`href="#${id}"><span[^>]*>[A-Z]+</span>[^<]*<b class="more"`);
    return {
      id,
      inDocument: document.paths[path]?.[method.toLowerCase()]?.["x-addition"],
      isMarked: isMarked.test(side),
      isListed: page.includes(`<a href="#${id}">${route}</a>`),
    };
  });

  expect(seen).toEqual(
    programEndpoints.map(({ id, addition }) => ({
      id,
      inDocument: addition,
      isMarked: addition !== undefined,
      isListed: addition !== undefined,
    })),
  );
});

test.each(CONTRACT)(
  "the route $route admits $access and declares its statuses",
  ({ route, access, statuses }) => {
    const endpoint = endpoints.find((one) => one.route === route);
    const declared = [
      ...(endpoint?.answers ?? [200]),
      ...(endpoint?.errors ?? []).map((code) => STATUS[code]),
    ];

    expect(endpoint?.access).toBe(access);
    expect(statuses.filter((status) => !declared.includes(status as 200))).toEqual([]);
  },
);

const listNames = (pattern: string) => globSync(pattern).map((path) => basename(path, ".ts"));
const files = listNames("packages/api/src/endpoints/*.ts");

test("the list of endpoints matches their files", () => {
  expect(endpoints.map(toFileName).toSorted()).toEqual(files.toSorted());
});

test.each(files)(
  "the file %s exports one endpoint, whose id gives the file its name",
  async (file) => {
    const module = (await import(`../../packages/api/src/endpoints/${file}.ts`)) as Record<
      string,
      Endpoint
    >;
    const exported = Object.entries(module).filter(([, one]) => typeof one === "object");

    expect(exported.map(([name, { id }]) => [name, id])).toEqual([
      [exported[0]?.[0], exported[0]?.[0]],
    ]);
    expect(endpoints).toContain(exported[0]?.[1]);
  },
);

test("no two endpoints or actions share an id or a name", () => {
  const ids = endpoints.flatMap(({ id, actions = {} }) => [
    id,
    ...Object.values(actions).map((action) => action.id),
  ]);

  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
});

test("an endpoint lists its actions in the order of its body's variants", () => {
  const getVariants = ({ body }: Endpoint): string[] => {
    const { options = [] } = (body ?? {}) as { options?: readonly any[] };
    return options.map(({ entries }) => entries.action.literal);
  };
  const acting = endpoints.filter((one) => one.actions || getVariants(one).length > 0);

  expect(acting.map(({ id }) => id)).toEqual([
    "verifyFile",
    "signInWithOidc",
    "signInWithPasskey",
    "addPasskey",
  ]);
  for (const endpoint of acting)
    expect(Object.keys(endpoint.actions ?? {})).toEqual(getVariants(endpoint));
});

test("a Lambda receives the capabilities that its endpoint needs, and no others", () => {
  expect(toEntry({ id: "getJob", needs: ["table:readwrite"] })).not.toContain("capabilities/");
  expect(toEntry({ id: "findEmail", needs: ["mail", "https"] })).toContain(
    "createLambdaWorld([withProber, withHttps])",
  );
});

test("the MCP tools, the vendors' dialects and the fallback route each run in their own Lambda", () => {
  const names = listNames("packages/functions/src/http/*.ts");

  expect(names.toSorted()).toEqual(["$default", "compat", "mcp"]);
});

test("the entry of a worker receives its capabilities, and the entry of dead letters the capabilities of giving up", () => {
  const entries = new Map(workers.map((one) => [one.queue.name, toWorkerEntry(one)]));

  expect(entries.get("chunks")).toContain(
    "createQueueHandler(verifyChunk, createLambdaWorld([withQueue, withBlobs, withMailServers]))",
  );
  expect(entries.get("chunks-dead")).toContain(
    "createLambdaWorld([withQueue, withBlobs, withLists])",
  );
  expect(entries.get("monitors-dead")).toContain(
    "createQueueHandler(toDeadLetterWorker(runMonitor), createLambdaWorld([]))",
  );
});

test("every schedule runs in its own Lambda, and so do the prober and the limit of uploads", () => {
  expect(listNames("packages/functions/src/workers/*.ts").toSorted()).toEqual(
    [prober, uploadLimit].map(({ handler }) => basename(handler, ".handler")).toSorted(),
  );
  // Two more measure what an operator's alarms go by.
  expect(listNames("packages/functions/src/schedules/*.ts").toSorted()).toEqual(
    [...schedules.map(({ name }) => name), "audit", "gauge"].toSorted(),
  );
});

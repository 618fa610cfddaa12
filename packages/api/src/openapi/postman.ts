import { programEndpoints } from "../endpoints.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { EXAMPLES } from "./examples.ts";

const SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";

/** The most reads of a job in a run, one per second: jobs of test keys end sooner. */
const READS_MAX = 30;

const DESCRIPTION = `Set the variable \`apiKey\` to a test key (\`mp_test_…\`), whose requests are free and simulated, and run the collection from the top. With a live key the same requests are charged.

A request that creates something stores its id in a variable, and later requests send it: \`verifyBatch.job_id\` is the id of the job that the batch started. Until then they send the id of an example, and the answer is 404. A run reads the batch once a second until it has ended, at most ${READS_MAX} times.

Each request answers 2xx, with these exceptions:

- Cancelling a job answers 409 \`JOB_ENDED\` when the job has ended first.
- With a live key, a server that receives no mail answers 501 \`NOT_CONFIGURED\` to the creation of a mail test, and 404 when that test is read.
- With a live key, a server that reaches neither DNS nor mail servers answers 503 \`UNAVAILABLE\`, and 404 when the check is read. The batch stays open: its rows are not there yet (404), verifying them again answers 400, and there is no second job to cancel or delete (404).
`;

/** A variable that a request stores from its response: the endpoint's id, then the keys below `data`. */
type Stored = {
  readonly name: string;
  readonly by: Endpoint;
  readonly keys: readonly string[];
  readonly example: string;
};

const findKeys = (tree: unknown, wanted: string): readonly string[] | undefined => {
  if (tree === wanted) return [];
  if (typeof tree !== "object" || tree === null) return undefined;
  for (const [key, value] of Object.entries(tree)) {
    const keys = findKeys(value, wanted);
    if (keys) return [key, ...keys];
  }
  return undefined;
};

/** The examples are one recording: the first response that contains an id belongs to the request that created the object. */
const findStored = (example: string): Stored | undefined => {
  for (const { route, answer } of EXAMPLES) {
    const [, ...keys] = findKeys(answer, example) ?? [];
    const by = programEndpoints.find((one) => one.route === route);
    if (by && keys.length > 0) return { name: [by.id, ...keys].join("."), by, keys, example };
  }
  return undefined;
};

const findExample = (route: string) => EXAMPLES.find((example) => example.route === route);

/** The batch has ended when these requests are sent, so they use the job that verifies its rows again. */
const ENDING = ["cancelJob", "deleteJob"];

const getExampleOfAgain = (): string => {
  const answer = findExample("POST /v1/jobs/{id}/again")?.answer as { data: { job_id: string } };
  return answer.data.job_id;
};

const listSent = ({ id, route }: Endpoint): Readonly<Record<string, Stored>> =>
  Object.fromEntries(
    Object.entries(findExample(route)?.path ?? {}).flatMap(([key, example]) => {
      if (!/^(?:\w+_)?id$/.test(key)) return [];
      const stored = findStored(ENDING.includes(id) ? getExampleOfAgain() : example);
      return stored ? [[key, stored]] : [];
    }),
  );

const listVariables = (): readonly Stored[] => [
  ...new Map(
    programEndpoints.flatMap((one) =>
      Object.values(listSent(one)).map((stored) => [stored.name, stored]),
    ),
  ).values(),
];

const storing = ({ name, keys }: Stored): readonly string[] => [
  `const id = pm.response.json().data?.${keys.join("?.")};`,
  `if (id) pm.collectionVariables.set(${JSON.stringify(name)}, id);`,
];

/** In a run, the collection reads the job until it has ended. A request sent alone ignores the next request. */
const WAIT_FOR_JOB = [
  'const reads = Number(pm.collectionVariables.get("reads") ?? 0) + 1;',
  `const again = pm.response.json().data?.status === "processing" && reads < ${READS_MAX};`,
  'pm.collectionVariables.set("reads", again ? reads : 0);',
  "if (again) {",
  "  pm.execution.setNextRequest(pm.info.requestName);",
  "  setTimeout(() => {}, 1000);",
  "}",
];

/**
 * Builds the operations as a Postman collection, which Bruno and Insomnia also read, in the order of the recorded examples,
 * which read and delete only what they created. The OpenAPI document cannot use Postman's placeholder for a new UUID: another
 * program would send the placeholder itself as the key of all its requests.
 */
export const buildPostmanCollection = (baseUrl: string): object => {
  const variables = listVariables();
  const orderOf = ({ route }: Endpoint) => EXAMPLES.findIndex((example) => example.route === route);
  return {
    info: { name: "Mailproof", description: DESCRIPTION, schema: SCHEMA },
    auth: {
      type: "apikey",
      apikey: Object.entries({ key: "X-Api-Key", value: "{{apiKey}}", in: "header" }).map(
        ([key, value]) => ({ key, value, type: "string" }),
      ),
    },
    variable: [
      { key: "baseUrl", value: baseUrl },
      { key: "apiKey", value: "" },
      ...variables.map(({ name, example }) => ({ key: name, value: example })),
    ],
    item: [...Map.groupBy(programEndpoints, ({ tag }) => tag)].map(([name, group]) => ({
      name,
      item: group
        .toSorted((a, b) => orderOf(a) - orderOf(b))
        .map((endpoint) => toItem(endpoint, variables)),
    })),
  };
};

/** Dropped because it is optional, and a live key refuses the examples' reserved addresses. */
const withoutSendingIp = (key: string, value: unknown): unknown =>
  key === "sending_ip" ? undefined : value;

const toItem = (endpoint: Endpoint, variables: readonly Stored[]): object => {
  const [method = "", path = ""] = endpoint.route.split(" ");
  const example = findExample(endpoint.route);
  const names = path.match(/(?<=\{)[^}]+(?=\})/g) ?? [];
  const segments = path.replaceAll(/\{([^}]+)\}/g, ":$1");
  const hasBody = example?.request !== undefined;
  const headers = {
    ...(hasBody && { "Content-Type": "application/json" }),
    ...(endpoint.keyed && { "Idempotency-Key": "{{$randomUUID}}" }),
  };
  const sent = listSent(endpoint);
  const script = [
    ...variables.filter(({ by }) => by === endpoint).flatMap(storing),
    ...(endpoint.id === "getJob" ? WAIT_FOR_JOB : []),
  ];
  return {
    name: endpoint.summary,
    ...(script.length > 0 && {
      event: [{ listen: "test", script: { type: "text/javascript", exec: script } }],
    }),
    request: {
      method,
      ...(endpoint.access === "public" && { auth: { type: "noauth" } }),
      header: Object.entries(headers).map(([key, value]) => ({ key, value })),
      url: {
        raw: `{{baseUrl}}${segments}`,
        host: ["{{baseUrl}}"],
        path: segments.slice(1).split("/"),
        query: Object.entries(example?.query ?? {}).map(([key, value]) => ({ key, value })),
        variable: names.map((key) => ({
          key,
          value: sent[key] ? `{{${sent[key].name}}}` : (example?.path[key] ?? ""),
        })),
      },
      ...(hasBody && {
        body: { mode: "raw", raw: JSON.stringify(example.request, withoutSendingIp, 2) },
      }),
    },
  };
};

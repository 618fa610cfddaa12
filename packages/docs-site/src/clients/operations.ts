import type { Endpoint } from "@mailproof/api/http/endpoint";
import type { GenericSchema } from "valibot";

// The service's operations for its clients in TypeScript (scripts/made/client-types.ts), Python and Go.

type Parts = {
  readonly type: string;
  readonly pipe?: readonly (GenericSchema | { readonly kind: string; readonly type: string })[];
  readonly entries?: Readonly<Record<string, GenericSchema>>;
  readonly options?: readonly (string | GenericSchema)[];
  readonly literal?: unknown;
  readonly item?: GenericSchema;
  readonly key?: GenericSchema;
  readonly value?: GenericSchema;
  readonly wrapped?: GenericSchema;
};

export const getParts = (schema: GenericSchema): Parts => schema as unknown as Parts;

export const mayBeLeftOut = (schema: GenericSchema): boolean =>
  ["optional", "nullish"].includes(getParts(schema).type);

export type Operation = {
  readonly endpoint: Endpoint;
  readonly name: string;
  readonly fixed: Readonly<Record<string, string>>;
  readonly body: GenericSchema | undefined;
  readonly output: GenericSchema;
  readonly repeat: "always" | "keyed" | "never";
};

export const listOperations = (endpoint: Endpoint): readonly Operation[] => {
  const { id, actions } = endpoint;
  const body = endpoint.body as GenericSchema | undefined;
  const output = endpoint.output as GenericSchema;
  const repeat = getRepeat(endpoint, endpoint.repeat);
  // The method downloadJob returns JSON, and the client waits while the service makes it; another method streams the CSV.
  if (id === "downloadJob") {
    const [made = output] = getParts(output).options as readonly GenericSchema[];
    return [{ endpoint, name: id, fixed: { format: "json" }, body, output: made, repeat }];
  }
  if (!body || !actions) return [{ endpoint, name: id, fixed: {}, body, output, repeat }];
  const outputs = getParts(output).options as readonly GenericSchema[];
  const bodies = getParts(body).options as readonly GenericSchema[];
  return Object.entries(actions).map(([action, of], at) => ({
    endpoint,
    name: of.id,
    fixed: { action },
    body: bodies[at] as GenericSchema,
    output: outputs[at] as GenericSchema,
    repeat: getRepeat(endpoint, of.repeat),
  }));
};

const getRepeat = (
  { route, keyed }: Endpoint,
  declaredRepeat: "always" | undefined,
): Operation["repeat"] => {
  if (declaredRepeat) return declaredRepeat;
  if (keyed) return "keyed";
  return /^(?:GET|PUT|DELETE) /.test(route) ? "always" : "never";
};

const getEntries = (schema: unknown) =>
  schema === undefined ? {} : (getParts(schema as GenericSchema).entries ?? {});

export type InputField = {
  readonly part: "path" | "query" | "body";
  readonly name: string;
  readonly schema: GenericSchema;
};

/** Joins path, query and body of a request into one input. */
export const listInputFields = ({ endpoint, body, fixed }: Operation): readonly InputField[] => {
  const parts = [
    ["path", getEntries(endpoint.path)],
    ["query", getEntries(endpoint.query)],
    ["body", getEntries(body)],
  ] as const;
  const fields = parts.flatMap(([part, entries]) =>
    Object.entries(entries).map(([name, schema]) => ({ part, name, schema })),
  );
  if (new Set(fields.map(({ name }) => name)).size < fields.length)
    throw new Error(`${endpoint.route} has one name for two fields`);
  return fields.filter(({ name }) => !(name in fixed));
};

/** Describes how a client sends the operation: the fields of `Operation` in packages/client/src/operation.ts. */
export const describeCall = (operation: Operation) => {
  const { endpoint, repeat, fixed } = operation;
  return {
    route: endpoint.route,
    ...(repeat !== "always" && { repeat }),
    ...(endpoint.price !== null && repeat === "never" && { paid: true as const }),
    ...(listInputFields(operation).length === 0 && { bare: true as const }),
    ...(endpoint.query && endpoint.route.startsWith("POST ") && { inQuery: true as const }),
    ...(endpoint.enveloped === false && { unwrapped: true as const }),
    ...(Object.keys(fixed).length > 0 && { fixed }),
  };
};

const REPEATS = {
  keyed:
    "Sent with an Idempotency-Key, so it is sent again until an answer comes, and paid for once.",
  always: "Sent again until an answer comes.",
  never: "Sent again only when it is certain that nothing was done.",
};

export const describeOperation = ({ endpoint, repeat }: Operation): readonly string[] => [
  endpoint.summary,
  "",
  ...(endpoint.price !== null && repeat !== "always" ? [`Price: ${endpoint.price}`] : []),
  REPEATS[repeat],
  ...(endpoint.tag === "People" ? ["For the dashboard's own pages: keys are refused."] : []),
  "",
  `\`${endpoint.route}\``,
];

export const capitalize = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1);

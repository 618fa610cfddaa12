// Writes packages/client/src/types.ts and operations.ts from the endpoints:
//
//   npx node scripts/client-types.ts
//
// Run it after an endpoint has changed; test/client/types.test.ts says when that was forgotten.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { endpoints } from "@mailproof/api/endpoints";
import type { Endpoint } from "@mailproof/api/http/endpoint";
import { ActivityRecord } from "@mailproof/api/schema/activity";
import { KeySummary } from "@mailproof/api/schema/api-keys";
import { CheckResult, CheckSummary } from "@mailproof/api/schema/deliverability-check";
import { JobSummary, ResultRow } from "@mailproof/api/schema/jobs";
import { MailTest } from "@mailproof/api/schema/mail-tests";
import { MonitorSummary } from "@mailproof/api/schema/monitors";
import { VerificationResult } from "@mailproof/api/schema/verification";
import { DeliverySummary, WebhookSummary } from "@mailproof/api/schema/webhooks";
import { FAILURE_CODES } from "@mailproof/core/lib/failure";
import { EventPayload } from "@mailproof/core/webhooks/payloads";
import type { GenericSchema } from "valibot";
import {
  formatDescription,
  formatFields,
  getParts,
  getQueryType,
  mayBeLeftOut,
  type NamedSchemas,
  toType,
} from "./client/to-type.ts";
import { findTools } from "./tools.ts";

const SHARED: NamedSchemas = new Map<GenericSchema, string>([
  [VerificationResult, "VerificationResult"],
  [ResultRow, "ResultRow"],
  [JobSummary, "Job"],
  [ActivityRecord, "ActivityRecord"],
  [CheckSummary, "CheckSummary"],
  [CheckResult, "CheckResult"],
  [MailTest, "MailTest"],
  [MonitorSummary, "Monitor"],
  [KeySummary, "ApiKey"],
  [WebhookSummary, "Webhook"],
  [DeliverySummary, "Delivery"],
]);

const INPUT = { side: "input", named: SHARED } as const;
const OUTPUT = { side: "output", named: SHARED } as const;

/** One thing that a caller can ask for. A route with actions is several. */
type Operation = {
  readonly endpoint: Endpoint;
  readonly name: string;
  /** The fields of the body that are what makes this action. */
  readonly fixed: Readonly<Record<string, string>>;
  readonly body: GenericSchema | undefined;
  readonly output: GenericSchema;
  readonly repeat: "always" | "keyed" | "never";
};

const listOperations = (endpoint: Endpoint): readonly Operation[] => {
  const { id, actions } = endpoint;
  const body = endpoint.body as GenericSchema | undefined;
  const output = endpoint.output as GenericSchema;
  const repeat = getRepeat(endpoint, endpoint.repeat);
  // The method returns data: the CSV is a stream, which has a method of its own. The client waits while it is made.
  if (id === "downloadJob") {
    const [made = output] = getParts(output).options as readonly GenericSchema[];
    return [{ endpoint, name: id, fixed: { format: "json" }, body, output: made, repeat }];
  }
  if (!body || !actions) return [{ endpoint, name: id, fixed: {}, body, output, repeat }];
  // The answer of each action has its own place in the union.
  const answers = getParts(output).options as readonly GenericSchema[];
  const bodies = getParts(body).options as readonly GenericSchema[];
  return Object.entries(actions).map(([action, of], at) => ({
    endpoint,
    name: of.id,
    fixed: { action },
    body: bodies[at] as GenericSchema,
    output: answers[at] as GenericSchema,
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

/** Path, query and body of a request are one value to its caller. */
const buildInput = ({
  endpoint,
  body,
  fixed,
}: Operation): { fields: string; isOptional: boolean } => {
  const parts = [
    ["path", getEntries(endpoint.path)],
    ["query", getEntries(endpoint.query)],
    ["body", getEntries(body)],
  ] as const;
  const wanted = parts.flatMap(([part, entries]) =>
    Object.entries(entries).map(([name, schema]) => ({ part, name, schema })),
  );
  if (new Set(wanted.map(({ name }) => name)).size < wanted.length)
    throw new Error(`${endpoint.route} has one name for two things`);
  const free = wanted.filter(({ name }) => !(name in fixed));
  const fields = free.map(({ part, name, schema }) => {
    const type = part === "query" ? getQueryType(schema) : undefined;
    return type === undefined
      ? formatFields({ [name]: schema }, INPUT)
      : `${formatDescription(name, schema)}\n${name}?: ${type} | undefined;`;
  });
  const isOptional = free.every(({ schema }) => mayBeLeftOut(schema));
  return { fields: fields.join("\n"), isOptional };
};

const capitalize = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1);

const formatComment = (...lines: readonly string[]): string =>
  `/**\n${lines.map((line) => ` * ${line}`).join("\n")}\n */`;

const REPEATS = {
  keyed:
    "Sent with an Idempotency-Key, so it is sent again until an answer comes, and paid for once.",
  always: "Sent again until an answer comes.",
  never: "Sent again only when it is certain that nothing was done.",
};

const formatMethod = (operation: Operation): string => {
  const { endpoint, name, repeat } = operation;
  const { fields, isOptional } = buildInput(operation);
  const price = endpoint.price !== null && repeat !== "always" ? [`Price: ${endpoint.price}`] : [];
  const input = fields === "" ? "" : `input${isOptional ? "?" : ""}: ${capitalize(name)}Input, `;
  const options = repeat === "keyed" ? "PaidCallOptions" : "CallOptions";
  return `${formatComment(endpoint.summary, "", ...price, REPEATS[repeat], "", `\`${endpoint.route}\``)}
${name}(${input}options?: ${options}): Promise<${capitalize(name)}Data>;`;
};

const formatTypes = (operation: Operation): string => {
  const { name, output, endpoint } = operation;
  const { fields } = buildInput(operation);
  const input =
    fields === "" ? "" : `export interface ${capitalize(name)}Input {\n${fields}\n}\n\n`;
  const data = formatDeclaration(`${capitalize(name)}Data`, toType(output, OUTPUT));
  return `// ${endpoint.route}\n\n${input}${data}`;
};

/** An interface where that can be: editors show its name and not all of it. */
const formatDeclaration = (name: string, type: string): string => {
  const [, base, own] =
    /^(?:(\w+) & )?(\{[^|]*\})$/s.exec(type.replaceAll(/ \| (?!\{)/g, "\0")) ?? [];
  if (own === undefined) return `export type ${name} = ${type};`;
  const fields = own.replaceAll("\0", " | ");
  return `export interface ${name} ${base === undefined ? "" : `extends ${base} `}${fields}`;
};

const formatSharedTypes = (): string =>
  [...SHARED]
    .map(([schema, name]) => {
      const others = new Map([...SHARED].filter(([other]) => other !== schema));
      return formatDeclaration(name, toType(schema, { side: "output", named: others }));
    })
    .join("\n\n");

const HEAD =
  "// Made by scripts/client-types.ts from the service's endpoints. Do not change it here.\n";

const formatSource = (source: string): string =>
  execFileSync(join(findTools(), "biome"), ["format", "--stdin-file-path=made.ts"], {
    input: source,
    encoding: "utf8",
  });

/** The files of the client that follow from the endpoints, by their path. */
export const buildClientTypes = (): Readonly<Record<string, string>> => {
  const operations = endpoints.flatMap(listOperations);
  const types = `${HEAD}
import type { CallOptions, PaidCallOptions } from "./options.ts";

/** The codes of the service's failures. */
export type ServiceErrorCode = ${FAILURE_CODES.map((code) => `"${code}"`).join(" | ")};

${formatSharedTypes()}

/** The body of a webhook. Events may gain fields, and there may be more of them. */
export type WebhookEvent = ${toType(EventPayload, OUTPUT)};

${operations.map(formatTypes).join("\n\n")}

/** Every operation of the service. */
export interface Operations {
${operations.map(formatMethod).join("\n\n")}
}
`;
  const rows = operations.map(({ endpoint, name, repeat, fixed, ...operation }) => {
    const row = {
      route: endpoint.route,
      ...(repeat !== "always" && { repeat }),
      ...(endpoint.price !== null && repeat === "never" && { paid: true }),
      ...(buildInput({ endpoint, name, repeat, fixed, ...operation }).fields === "" && {
        bare: true,
      }),
      ...(endpoint.query && endpoint.route.startsWith("POST ") && { inQuery: true }),
      ...(endpoint.enveloped === false && { unwrapped: true }),
      ...(Object.keys(fixed).length > 0 && { fixed }),
    };
    return `${name}: ${JSON.stringify(row)},`;
  });
  const table = `${HEAD}
import type { Operation } from "./operation.ts";
import type { Operations } from "./types.ts";

export const OPERATIONS: Readonly<Record<keyof Operations, Operation>> = {
${rows.join("\n")}
};
`;
  return {
    "packages/client/src/types.ts": formatSource(types),
    "packages/client/src/operations.ts": formatSource(table),
  };
};

if (import.meta.main)
  for (const [file, source] of Object.entries(buildClientTypes())) writeFileSync(file, source);

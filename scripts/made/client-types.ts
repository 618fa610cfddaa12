// The types and the table of calls of the client, from the endpoints.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { endpoints } from "@mailproof/api/endpoints";
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
import {
  capitalize,
  describeCall,
  describeOperation,
  listInputFields,
  listOperations,
  mayBeLeftOut,
  type Operation,
} from "@mailproof/docs-site/clients/operations";
import type { GenericSchema } from "valibot";
import { findTools } from "../tools.ts";
import {
  formatDescription,
  formatFields,
  getQueryType,
  type NamedSchemas,
  toType,
} from "./to-type.ts";

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

/** The fields of an operation's input as TypeScript. */
const buildInput = (operation: Operation): { fields: string; isOptional: boolean } => {
  const listed = listInputFields(operation);
  const fields = listed.map(({ part, name, schema }) => {
    const type = part === "query" ? getQueryType(schema) : undefined;
    return type === undefined
      ? formatFields({ [name]: schema }, INPUT)
      : `${formatDescription(name, schema)}\n${name}?: ${type} | undefined;`;
  });
  return {
    fields: fields.join("\n"),
    isOptional: listed.every(({ schema }) => mayBeLeftOut(schema)),
  };
};

const formatComment = (lines: readonly string[]): string =>
  `/**\n${lines.map((line) => ` * ${line}`).join("\n")}\n */`;

const formatMethod = (operation: Operation): string => {
  const { name, repeat } = operation;
  const { fields, isOptional } = buildInput(operation);
  const input = fields === "" ? "" : `input${isOptional ? "?" : ""}: ${capitalize(name)}Input, `;
  const options = repeat === "keyed" ? "PaidCallOptions" : "CallOptions";
  return `${formatComment(describeOperation(operation))}
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

const HEAD = "// Made by scripts/write.ts from the service's endpoints. Do not change it here.\n";

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
  const rows = operations.map(
    (operation) => `${operation.name}: ${JSON.stringify(describeCall(operation))},`,
  );
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

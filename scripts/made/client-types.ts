// The types and the table of calls of the client, from the endpoints.

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { endpoints } from "@mailproof/api/endpoints";
import {
  createSchemaWriter,
  getDescription,
  withoutDescription,
} from "@mailproof/api/openapi/schema";
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
  getParts,
  listInputFields,
  listOperations,
  mayBeLeftOut,
  type Operation,
} from "@mailproof/docs-site/clients/operations";
import type { GenericSchema } from "valibot";
import { findTools } from "../tools.ts";

// The first half writes a valibot schema as TypeScript. A kind of schema that it does not know is an error, and no silent `unknown`.

/** What is sent is typed by what a schema takes, what is answered by what it gives. */
type TypeSide = "input" | "output";

type Entries = Readonly<Record<string, GenericSchema>>;

/** Schemas that have a name of their own, by identity. */
type NamedSchemas = ReadonlyMap<GenericSchema, string>;

/** How types are written: for which side, and which of them by their name. */
type TypeContext = { readonly side: TypeSide; readonly named: NamedSchemas };

const toType = (schema: GenericSchema, context: TypeContext): string => {
  const name = context.named.get(schema) ?? context.named.get(withoutDescription(schema));
  if (name !== undefined) return name;
  const parts = getParts(getInnerSchema(schema));
  const inner = (one: GenericSchema | undefined) => toType(one as GenericSchema, context);
  switch (parts.type) {
    case "string":
    case "number":
    case "boolean":
    case "null":
    case "unknown":
      return parts.type;
    case "literal":
      return JSON.stringify(parts.literal);
    case "picklist":
      return (parts.options ?? []).map((option) => JSON.stringify(option)).join(" | ");
    case "nullable":
    case "nullish":
      return `${inner(parts.wrapped)} | null`;
    case "optional":
      return inner(parts.wrapped);
    case "array":
      return `${context.side === "input" ? "readonly " : ""}(${inner(parts.item)})[]`;
    case "record":
      return `Record<${inner(parts.key)}, ${inner(parts.value)}>`;
    case "union":
    case "variant":
      return (parts.options ?? []).map((option) => inner(option as GenericSchema)).join(" | ");
    case "object":
    case "strict_object":
      return toObjectType(parts.entries ?? {}, context);
    default:
      throw new Error(`no type for a schema of ${parts.type}`);
  }
};

/** One that has everything of another with a name, and more, is written as that other and the remaining fields. */
const toObjectType = (entries: Entries, context: TypeContext): string => {
  const [base, name] = findLargest(
    [...context.named].filter(([schema]) => isWithin(getParts(schema).entries ?? {}, entries)),
  ) ?? [undefined, undefined];
  const baseFields = base ? (getParts(base).entries ?? {}) : {};
  const others = Object.fromEntries(
    Object.entries(entries).filter(([field]) => !(field in baseFields)),
  );
  const own = `{\n${formatFields(others, context)}\n}`;
  return name === undefined ? own : `${name} & ${own}`;
};

const isWithin = (few: Entries, many: Entries): boolean =>
  Object.keys(few).length < Object.keys(many).length &&
  Object.entries(few).every(([field, schema]) => many[field] === schema);

const findLargest = (found: readonly (readonly [GenericSchema, string])[]) =>
  found.toSorted(([a], [b]) => countFields(b) - countFields(a))[0];

const countFields = (schema: GenericSchema): number =>
  Object.keys(getParts(schema).entries ?? {}).length;

const formatFields = (entries: Entries, context: TypeContext): string =>
  Object.entries(entries)
    .map(([name, schema]) => {
      const isOptional = mayBeLeftOut(schema);
      const mark = isOptional ? "?" : "";
      // A request may have undefined; a response has the field or not.
      const orNot = isOptional && context.side === "input" ? " | undefined" : "";
      return `${formatDescription(name, schema)}\n${name}${mark}: ${toType(schema, context)}${orNot};`;
    })
    .join("\n");

/** The description of a field, which editors show on hover: what its values mean, else what the field holds. */
const formatDescription = (name: string, schema: GenericSchema): string => {
  const shape = withoutDescription(schema);
  const text = getDescription(getParts(shape).wrapped ?? shape) ?? getDescription(schema);
  if (text === undefined) throw new Error(`the field ${name} has no description`);
  return `/** ${text} */`;
};

/** A query is text on the wire; to a caller, a number or a boolean in it is one. */
const getQueryType = (schema: GenericSchema): "number" | "boolean" | undefined => {
  const { write } = createSchemaWriter(new Map());
  const { type, default: otherwise } = write(schema);
  if (type === "integer") return "number";
  return otherwise === "true" || otherwise === "false" ? "boolean" : undefined;
};

/** A pipe is known by the last schema in it that says something, before its value becomes one of ours. */
const getInnerSchema = (schema: GenericSchema): GenericSchema => {
  const { pipe } = getParts(schema);
  if (!pipe) return schema;
  const end = pipe.findIndex(({ type }) => type === "transform");
  const schemas = (end === -1 ? pipe : pipe.slice(0, end)).filter(
    (one): one is GenericSchema => one.kind === "schema" && one.type !== "custom",
  );
  const found = schemas.at(-1);
  if (!found) throw new Error("a pipe without a schema that can be written");
  return getInnerSchema(found);
};

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

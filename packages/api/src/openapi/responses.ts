import { type FailureCode, MONEY_OUTCOMES } from "@mailproof/core/lib/failure";
import type { Endpoint } from "../http/endpoint.ts";
import { STATUS } from "../http/http-failure.ts";
import { ERRORS, errorExample } from "./errors.ts";
import { type JsonSchema, pascal } from "./schema.ts";

const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

const header = (description: string, schema: JsonSchema, example: unknown) => ({
  description,
  schema,
  example,
});

const count = { type: "integer", minimum: 0 };

export const text = (description: string, more: JsonSchema = {}): JsonSchema => ({
  type: "string",
  ...more,
  description,
});

export const HEADERS = {
  "X-Request-Id": header(
    "The request's id. Include it when you contact support.",
    { type: "string" },
    "req_7c1b0c39-57f6-4d3f-9c36-0f0a4c1d9a52",
  ),
  "X-RateLimit-Limit": header("Requests per minute that the key may send.", count, 600),
  "X-RateLimit-Remaining": header("Requests left in this minute.", count, 597),
  "X-RateLimit-Reset": header(
    "When the next minute starts, as a Unix timestamp in seconds.",
    count,
    1_795_219_260,
  ),
  "Retry-After": header("Seconds to wait before repeating the request.", count, 5),
  "WWW-Authenticate": header(
    "How to authenticate.",
    { type: "string" },
    'Bearer realm="mailproof"',
  ),
  "Content-Disposition": header(
    "The name of the file.",
    { type: "string" },
    'attachment; filename="list-results.csv"',
  ),
  "X-Export-Complete": header(
    "`false` while the job runs, or when rows cannot be read.",
    { type: "boolean" },
    true,
  ),
  "X-Export-Expected-Rows": header(
    "Rows that the export should have now. With a filter, the rows that match it.",
    count,
    4_212,
  ),
  "X-Export-Missing-Rows": header("Expected rows that the export does not have.", count, 0),
  "X-Export-Pending-Rows": header(
    "Addresses of the job without a result yet. A later export has those that match the filter.",
    count,
    0,
  ),
  Location: header("The URL of the same content.", { type: "string", format: "uri" }, undefined),
} as const;

export type HeaderName = keyof typeof HEADERS;

export const EXPORT_HEADERS: readonly HeaderName[] = [
  "X-Export-Complete",
  "X-Export-Expected-Rows",
  "X-Export-Missing-Rows",
  "X-Export-Pending-Rows",
];

export const toHeaderRefs = (...names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, ref("headers", name)]));

const RATE: readonly HeaderName[] = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
];

/** Lists the headers of every response; the rate limit headers appear once the key is identified. */
export const getUsualHeaders = (isPublic: boolean): readonly HeaderName[] =>
  isPublic ? ["X-Request-Id"] : ["X-Request-Id", ...RATE];

const MORE: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ["WWW-Authenticate"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};

const errorSchema = (codes: readonly FailureCode[]): JsonSchema => ({
  type: "object",
  description: "The failure. The message always states what happened to the money.",
  properties: {
    success: { type: "boolean", description: "Always false." },
    error: {
      type: "object",
      properties: {
        code: text("Machine-readable code.", { enum: codes }),
        message: text("What is wrong and what happened to the money, for people."),
        money: text("Machine-readable form of what happened to the money.", {
          enum: MONEY_OUTCOMES,
        }),
        details: {
          description:
            "Specifics: the invalid fields, the missing scope, or the number of missing rows.",
        },
        retryable: {
          type: "boolean",
          description: "Present and true when the same request may succeed later.",
        },
        doc_url: text(
          "The paragraph of the manual about this code: its cause, what happened to the money, and what to do.",
          { format: "uri" },
        ),
      },
      required: ["code", "message", "money", "doc_url"],
    },
    request_id: text("The value of the X-Request-Id header."),
  },
  required: ["success", "error", "request_id"],
});

/** Returns for example InvalidRequestOrInvalidIdempotencyKey: operations with the same codes share the component. */
const toName = (codes: readonly FailureCode[]): string =>
  codes.map((code) => code.toLowerCase().split("_").map(pascal).join("")).join("Or");

export type Failing = {
  readonly name: string;
  readonly response: JsonSchema;
  readonly schemaName: string;
  readonly schema: JsonSchema;
};

/** Lists the failures of an operation, by status. Each is a component, since many operations share it. */
export const listFailures = (
  { errors, access }: Endpoint,
  baseUrl: string,
): ReadonlyMap<number, Failing> => {
  const isPublic = access === "public";
  const byStatus = Map.groupBy(new Set(errors), (code) => STATUS[code]);
  return new Map(
    [...byStatus].map(([status, codes]) => {
      const plain = toName(codes);
      const failing = {
        name: `${plain}${isPublic ? "WithoutKey" : ""}`,
        response: createResponse(status, codes, isPublic, baseUrl),
        schemaName: `${plain}Error`,
        schema: errorSchema(codes),
      };
      return [status, failing];
    }),
  );
};

const createResponse = (
  status: number,
  codes: readonly FailureCode[],
  isPublic: boolean,
  baseUrl: string,
): JsonSchema => {
  // The rate limit counts a request once its key is identified.
  const usual = getUsualHeaders(isPublic || status === 401);
  const isUnderWay = codes.includes("REQUEST_IN_PROGRESS") || codes.includes("NOT_READY");
  const more = isUnderWay ? (["Retry-After"] as const) : (MORE[status] ?? []);
  const examples = codes.map((code) => [
    code,
    { summary: ERRORS[code].remedy, value: errorExample(ERRORS[code], baseUrl) },
  ]);
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].means}`).join(" "),
    headers: toHeaderRefs(...usual, ...more),
    content: {
      "application/json": {
        schema: ref("schemas", `${toName(codes)}Error`),
        examples: Object.fromEntries(examples),
      },
    },
  };
};

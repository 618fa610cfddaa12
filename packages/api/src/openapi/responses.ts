import { type FailureCode, MONEY_OUTCOMES } from "@mailproof/core/lib/failure";
import type { Endpoint } from "../http/endpoint.ts";
import { STATUS } from "../http/http-failure.ts";
import { ERRORS, errorExample } from "./errors.ts";
import { pascal } from "./pascal.ts";
import type { JsonSchema } from "./schema.ts";

// The answers that say no, and the headers of all answers.

const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

const header = (description: string, schema: JsonSchema, example: unknown) => ({
  description,
  schema,
  example,
});

const count = { type: "integer", minimum: 0 };

export const HEADERS = {
  "X-Request-Id": header(
    "Names this request in our log. Tell it when you ask for help.",
    { type: "string" },
    "req_7c1b0c39-57f6-4d3f-9c36-0f0a4c1d9a52",
  ),
  "X-RateLimit-Limit": header("Requests that the key has in a minute.", count, 600),
  "X-RateLimit-Remaining": header("How many of them are left.", count, 597),
  "X-RateLimit-Reset": header(
    "When the next minute starts, in seconds since 1970.",
    count,
    1_795_219_260,
  ),
  "Retry-After": header("Seconds to wait before sending it again.", count, 5),
  "WWW-Authenticate": header(
    "How to present a key.",
    { type: "string" },
    'Bearer realm="mailproof"',
  ),
  "Content-Disposition": header(
    "The name of the file.",
    { type: "string" },
    'attachment; filename="list-results.csv"',
  ),
  "X-Export-Complete": header(
    "`false` while the job goes on, or when rows cannot be read.",
    { type: "boolean" },
    true,
  ),
  "X-Export-Expected-Rows": header(
    "Rows that the export should have by now. With a filter, the rows that the filter lets through.",
    count,
    4_212,
  ),
  "X-Export-Missing-Rows": header("Expected rows that the export does not have.", count, 0),
  "X-Export-Pending-Rows": header(
    "Addresses of the job without a result yet. They come with a later export, as far as the filter lets them through.",
    count,
    0,
  ),
  Location: header("Where the same is.", { type: "string", format: "uri" }, undefined),
} as const;

export type HeaderName = keyof typeof HEADERS;

/** What an export says of itself, in whatever form it comes. */
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

/** What every answer carries; the allowance from the moment the key is known. */
export const getUsualHeaders = (isPublic: boolean): readonly HeaderName[] =>
  isPublic ? ["X-Request-Id"] : ["X-Request-Id", ...RATE];

const MORE: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ["WWW-Authenticate"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};

/** The body of everything that is no success: with these codes, at this place. */
const errorSchema = (codes: readonly FailureCode[]): JsonSchema => ({
  type: "object",
  description: "Why it failed. The message always says what happened to the money.",
  properties: {
    success: { type: "boolean", const: false },
    error: {
      type: "object",
      properties: {
        code: { type: "string", enum: codes, description: "For programs." },
        message: {
          type: "string",
          description: "For people: what is wrong, and what it means for the money.",
        },
        money: {
          type: "string",
          enum: MONEY_OUTCOMES,
          description: "What it means for the money, for programs.",
        },
        details: {
          description:
            "What is wrong in particular: the fields, the missing scope, the rows that are missing.",
        },
        retryable: {
          type: "boolean",
          description: "Present, and true, when the same request may succeed later.",
        },
      },
      required: ["code", "message", "money"],
    },
    request_id: { type: "string", description: "As in the header X-Request-Id." },
  },
  required: ["success", "error", "request_id"],
});

/** InvalidRequest, or InvalidRequestOrInvalidIdempotencyKey: named by the codes, so that operations share it. */
const toName = (codes: readonly FailureCode[]): string =>
  codes.map((code) => code.toLowerCase().split("_").map(pascal).join("")).join("Or");

export type Failing = {
  readonly name: string;
  readonly response: JsonSchema;
  readonly schemaName: string;
  readonly schema: JsonSchema;
};

/** The ways in which an operation fails, by status. Many fail in the same ways, so each is a component. */
export const listFailures = ({ errors, access }: Endpoint): ReadonlyMap<number, Failing> => {
  const isPublic = access === "public";
  const byStatus = Map.groupBy(new Set(errors), (code) => STATUS[code]);
  return new Map(
    [...byStatus].map(([status, codes]) => {
      const plain = toName(codes);
      const failing = {
        name: `${plain}${isPublic ? "WithoutKey" : ""}`,
        response: createResponse(status, codes, isPublic),
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
): JsonSchema => {
  // Before the key is known nothing is counted.
  const usual = getUsualHeaders(isPublic || status === 401);
  const isUnderWay = codes.includes("REQUEST_IN_PROGRESS");
  const more = isUnderWay ? (["Retry-After"] as const) : (MORE[status] ?? []);
  const examples = codes.map((code) => [
    code,
    { summary: ERRORS[code].remedy, value: errorExample(ERRORS[code]) },
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

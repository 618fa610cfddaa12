import { Failure } from "@mailproof/core/lib/failure";
import * as v from "valibot";
import type { Endpoint, Input, Schema } from "./endpoint.ts";

const NOTHING_TO_READ = v.strictObject({});

/**
 * Parses each part of a request with its own schema and reports the first invalid part. A form has no schema: the handler reads
 * it as a stream.
 */
export const parse = (
  endpoint: Endpoint,
  sent: Pick<Input, "path" | "query" | "body" | "form">,
): Pick<Input, "path" | "query" | "body" | "form"> => ({
  path: parsePart(endpoint.path ?? NOTHING_TO_READ, sent.path),
  query: parsePart(endpoint.query ?? NOTHING_TO_READ, sent.query),
  body: sent.form ? undefined : endpoint.body && parsePart(endpoint.body, sent.body),
  form: sent.form,
});

type Detail = { readonly field: string; readonly message: string };

// A list of 10,000 invalid addresses gets one response, not 10,000 sentences.
const DETAILS_MAX = 20;
const SENTENCES_MAX = 3;
const FIELD_LENGTH_MAX = 100;

export const parsePart = <T>(schema: Schema<T>, value: unknown): T => {
  if (value === undefined) throw invalid([{ field: "body", message: "is required" }]);
  if (!isObject(value)) throw invalid([{ field: "body", message: "must be a JSON object" }]);
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return parsed.output;
  throw invalid(parsed.issues.map(toDetail));
};

const invalid = (all: readonly Detail[]): Failure => {
  const details = all.slice(0, DETAILS_MAX);
  const sentences = details
    .slice(0, SENTENCES_MAX)
    .map(({ field, message }) => `${field}: ${message}`);
  const hiddenCount = all.length - sentences.length;
  const what = sentences.join("; ") + (hiddenCount > 0 ? `; and ${hiddenCount} more` : "");
  return new Failure("INVALID_REQUEST", "nothing_charged", `${what}.`, { details });
};

/** For a check that no schema expresses: one field against another, or against the clock. */
export const invalidField = (field: string, message: string): Failure =>
  invalid([{ field: shorten(field), message }]);

const toDetail = (issue: v.BaseIssue<unknown>): Detail => ({
  field: shorten(v.getDotPath(issue) ?? "body"),
  message: inPlainWords(issue),
});

/** A field's name is the client's text, and may be as long as the body. */
const shorten = (field: string): string =>
  field.length <= FIELD_LENGTH_MAX ? field : `${field.slice(0, FIELD_LENGTH_MAX)}…`;

// Valibot's own messages are for developers of schemas, and repeat the sent value.
const inPlainWords = ({ type, expected, message }: v.BaseIssue<unknown>): string => {
  if (type === "strict_object" && expected === "never") return "is not a known field";
  if (!message.startsWith("Invalid ")) return message;
  if (message.endsWith("received undefined")) return "is required";
  return `must be ${(expected ?? "different").replace(/^\((.*)\)$/, "one of $1")}`;
};

export const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

import { CONTENT_TYPES } from "@mailproof/core/exports/export-options";
import * as v from "valibot";
import { verifyFile } from "../endpoints/verify-file.ts";
import { METADATA_PATH } from "../http/challenge.ts";
import type { Schema } from "../http/endpoint.ts";
import {
  EXPORT_HEADERS,
  getUsualHeaders,
  type HeaderName,
  text,
  toHeaderRefs,
} from "./responses.ts";
import type { JsonSchema } from "./schema.ts";

const [upload, accepted, preview] = verifyFile.output.options;

type SuccessPart = {
  /** The variant of the endpoint's output for this status, if it has only one. */
  readonly schema?: Schema;
  readonly headers?: readonly HeaderName[];
  readonly also?: JsonSchema;
  readonly description?: string;
};

/** The key is a route with a status. */
const successes: Readonly<Record<string, SuccessPart>> = {
  "POST /v1/verify/file 200": {
    schema: v.union([upload, preview]),
    description: "The upload URL, or the comparison of `action: preview`.",
  },
  "POST /v1/verify/file 202": {
    schema: accepted,
    headers: ["Retry-After"],
    description: "Accepted and charged. `Retry-After` comes with `dispatch_in_progress`.",
  },
  "GET /v1/jobs/{id}/download 200": {
    headers: ["Content-Disposition", ...EXPORT_HEADERS],
    also: {
      "text/csv": {
        schema: { type: "string" },
        example:
          "name,email,mailproof_email,status,send,quality_score,reason\r\nAnn,Ann@Example.com,Ann@example.com,valid,yes,95,accepted\r\n",
      },
      [CONTENT_TYPES.xlsx]: { schema: { type: "string", format: "binary" } },
      [CONTENT_TYPES.zip]: { schema: { type: "string", format: "binary" } },
    },
    description:
      "The rows as CSV, as an .xlsx file or as a ZIP of CSV files, or as JSON without an envelope. A large JSON export is a link.",
  },
  "GET /health 503": { description: "A part that the service depends on has failed." },
};

const createHeader = (name: string, description: string, example: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
  example,
});

/** The keys are routes with a status. */
const elsewhere: Readonly<Record<string, JsonSchema>> = {
  "GET /v1/jobs/{id}/download": {
    "303": {
      description:
        "The file is too long for a response. `Location` is its URL, valid for 15 minutes without a key.",
      headers: toHeaderRefs(...getUsualHeaders(false), ...EXPORT_HEADERS, "Location"),
    },
  },
};

const FORMS: Readonly<Record<string, JsonSchema>> = {
  "POST /v1/verify/file": {
    type: "object",
    description:
      "A file and its options in one request. Up to 50 MB on one machine and about 4.5 MB behind API Gateway; larger files go in two steps.",
    properties: {
      file: text("A CSV or TXT file, with its name.", { format: "binary" }),
      email_column: text("The column with the addresses. Left out: it is detected."),
      has_header: text("Whether the first row names the columns. Left out: it is detected.", {
        enum: ["true", "false", "1", "0"],
      }),
      name: text("The job's name. Left out: the name of the file."),
      continues: text("The job of an earlier list that this file is a newer version of."),
      fresh_days: text("With `continues`: for how many days a result stays good. Left out: 30."),
      webhook_url: text("HTTPS URL to call when the job ends, without a signature.", {
        format: "uri",
      }),
      options: text(
        'JSON, with the fields of `options` of `action: process`: `{"deep_verify":false}`.',
        { contentMediaType: "application/json" },
      ),
    },
    required: ["file"],
    additionalProperties: false,
  },
  "POST /v1/deliverability/reports": {
    type: "object",
    description:
      "A report as it came, up to 20 MB on one machine and about 4.5 MB behind API Gateway.",
    properties: {
      file: text("XML, JSON, or either of them in a gzip or zip file.", { format: "binary" }),
    },
    required: ["file"],
    additionalProperties: false,
  },
};

export const PARTS = {
  successes,
  elsewhere,

  idempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description:
      "Any text, such as a UUID: 1 to 255 printable ASCII characters without spaces. The same request with the same key is executed and charged once within 30 days; the same key with another request returns 409.",
    // No pattern: importers would generate one key from it and send that key with every request.
    schema: { type: "string", minLength: 1, maxLength: 255 },
    example: "5f0c3f5e-8d0b-4c3a-9a57-1f6f3c0f2b6e",
  },

  securitySchemes: (baseUrl: string) => ({
    ApiKey: {
      type: "apiKey",
      in: "header",
      name: "X-Api-Key",
      description:
        "`mp_live_…` returns real results and costs credits; `mp_test_…` returns simulated results and is free. A key may be limited to scopes.",
    },
    Bearer: {
      type: "http",
      scheme: "bearer",
      // One scheme for both: client generators support no other form of the second.
      description: `The same key as a bearer token, or an OAuth 2.0 access token with the scope, where the service trusts an OAuth issuer: ${baseUrl}${METADATA_PATH} names it, or returns 404.`,
    },
  }),

  forms: FORMS,

  webhookHeaders: [
    createHeader(
      "webhook-id",
      "The event's id, the same on each attempt. Use it to ignore repeated events.",
      "evt_2f1c",
    ),
    createHeader(
      "webhook-timestamp",
      "When this attempt was made, in seconds since 1970.",
      "1795219200",
    ),
    createHeader(
      "webhook-signature",
      "`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`, keyed with the secret (Standard Webhooks).",
      "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
    ),
  ],

  webhookResponses: {
    "2XX": { description: "Accepted. Respond within 10 seconds, then do the work." },
    "410": { description: "The webhook is disabled immediately." },
    default: { description: "Any other response is retried for a day." },
  },
} as const;

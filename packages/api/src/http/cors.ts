/** The rights of a browser page from another origin. API Gateway uses the same values. */
export const CORS = {
  allowOrigins: ["*"],
  allowMethods: ["GET", "POST", "PUT", "DELETE", "OPTIONS"],
  allowHeaders: [
    "authorization",
    "content-type",
    "idempotency-key",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "x-api-key",
  ],
  exposeHeaders: [
    "content-disposition",
    "etag",
    "retry-after",
    "www-authenticate",
    "x-export-complete",
    "x-export-expected-rows",
    "x-export-missing-rows",
    "x-export-pending-rows",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-request-id",
  ],
  maxAgeSeconds: 86_400,
} as const;

/** The rights of a page with a link to a file. The S3 bucket uses these values. */
export const BLOB_CORS = {
  allowOrigins: CORS.allowOrigins,
  allowMethods: ["GET", "PUT"],
  allowHeaders: ["*"],
  exposeHeaders: ["ETag", "Content-Disposition"],
  maxAgeSeconds: CORS.maxAgeSeconds,
} as const;

/** On every response. Keys travel in a header and never in cookies, so any origin is safe. */
export const corsHeaders = {
  "access-control-allow-origin": CORS.allowOrigins.join(", "),
  "access-control-expose-headers": CORS.exposeHeaders.join(", "),
};

export const preflightHeaders = {
  "access-control-allow-origin": CORS.allowOrigins.join(", "),
  "access-control-allow-methods": CORS.allowMethods.join(", "),
  "access-control-allow-headers": CORS.allowHeaders.join(", "),
  "access-control-max-age": String(CORS.maxAgeSeconds),
};

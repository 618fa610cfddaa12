import { Failure, type FailureCode, type MoneyOutcome } from "@mailproof/core/lib/failure";
import { getDocUrl, getFailureMessage } from "../http/http-failure.ts";

// Every error with its description. `getFailureMessage` builds the example's message, too.

export type ErrorPage = {
  readonly means: string;
  /** The possible states of the money after such a failure, the usual one first. */
  readonly money: readonly [MoneyOutcome, ...MoneyOutcome[]];
  readonly remedy: string;
  readonly example: Failure;
};

/** The meaning of a code, its remedy, and an example: the states of the money, the message and its details. */
type Entry = readonly [
  means: string,
  remedy: string,
  money: ErrorPage["money"],
  example: string,
  more?: ConstructorParameters<typeof Failure>[3],
];

const nothing = ["nothing_charged"] as const;
/** Before the look-up of the Idempotency-Key, an earlier request with it may have been charged. */
const nothingNow = ["nothing_charged", "retry_same_key"] as const;

const ENTRIES: Readonly<Record<FailureCode, Entry>> = {
  INVALID_REQUEST: [
    "The request is malformed, or a field is unknown or has an invalid value. `details` names each field.",
    "Correct the request. Repeating it unchanged gives the same error.",
    nothing,
    "email: is required.",
    { details: [{ field: "email", message: "is required" }] },
  ],
  INVALID_IDEMPOTENCY_KEY: [
    "The Idempotency-Key is not 1 to 255 printable ASCII characters without spaces.",
    "Send another key, such as a UUID.",
    nothing,
    "The Idempotency-Key must be 1 to 255 printable ASCII characters without spaces.",
  ],
  UNAUTHORIZED: [
    "The API key is missing, invalid or revoked.",
    "Send a key in X-Api-Key, or as a bearer token.",
    nothing,
    "Send a valid API key in X-Api-Key, or as a bearer token.",
  ],
  INSUFFICIENT_CREDITS: [
    "The balance is below the price, or a monthly limit would be exceeded, which `details` then names.",
    "Buy credits, then repeat the request.",
    nothing,
    "This costs 5 credits and the account has 3.",
    { details: { needed: 5, available: 3 } },
  ],
  FORBIDDEN: [
    "The key lacks the scope, or the resource belongs to another account.",
    "Use a key with the scope that `details` names.",
    nothingNow,
    "This key does not hold the scope verification:write.",
    { details: { required_scope: "verification:write" } },
  ],
  NOT_FOUND: [
    "The resource does not exist, or it belongs to another account. The response does not show which.",
    "Check the id. A test key does not see what live keys created.",
    nothing,
    "No such job.",
  ],
  METHOD_NOT_ALLOWED: [
    "The path exists, but not with this method. The `Allow` header lists the methods.",
    "Use one of them.",
    nothing,
    "Method PUT not allowed; use GET, POST.",
  ],
  IDEMPOTENCY_KEY_CONFLICT: [
    "The Idempotency-Key was used for a different request.",
    "Repeat the first request to get its response, or use a new key for a new request.",
    nothing,
    "This Idempotency-Key was used with a different request.",
  ],
  REQUEST_IN_PROGRESS: [
    "A request with this Idempotency-Key, or an upload to this link, is in progress.",
    "Repeat the same request with the same key after Retry-After.",
    ["retry_same_key", "nothing_charged"],
    "A request with this Idempotency-Key is in progress.",
    { retryable: true },
  ],
  LIMIT_REACHED: [
    "The account has reached the limit for this resource.",
    "Delete one first.",
    nothing,
    "An account can have 20 webhooks.",
  ],
  JOB_ENDED: [
    "The job has completed or failed, or has a result for every address, so it cannot be cancelled.",
    "Read the job: its results and its refunds are final.",
    nothing,
    "The job has completed, so it cannot be cancelled.",
  ],
  JOB_OPEN: [
    "The job has not ended, so it cannot be deleted; or another job verifies rows of it again.",
    "Cancel that job, or wait until it ends. Then send the request again.",
    nothing,
    "The job has not ended, so it cannot be deleted.",
  ],
  RESULT_DELETED: [
    "The Idempotency-Key belongs to a request whose job or result was deleted since. The work is not done again.",
    "To do it again, which is charged, use a new key.",
    ["nothing_more"],
    "The job of this Idempotency-Key was deleted. To verify the addresses again, use a new key.",
  ],
  NOT_READY: [
    "The resource exists, but cannot be returned now. Rows of an export cannot be read, and `details` counts them, or its file is being made.",
    "Retry in a few seconds.",
    nothing,
    "3 of 500 rows cannot be read, which a CSV or a spreadsheet cannot show. Retry in a few seconds, or use format=json, which reports missing rows.",
    { retryable: true, details: { expected_rows: 500, rows_missing: 3 } },
  ],
  UNSUPPORTED_MEDIA_TYPE: [
    "The body is compressed.",
    "Send it without Content-Encoding.",
    nothing,
    "content-encoding: a compressed body is not read. Send it as it is.",
  ],
  PAYLOAD_TOO_LARGE: [
    "The request is too large, or has more addresses than the plan allows in one job.",
    "Split the request.",
    nothing,
    "The body is over 128000 bytes, the most that this operation takes.",
  ],
  RATE_LIMITED: [
    "The key has no requests left in this minute, or the account has too many concurrent downloads or uploads.",
    "Wait the seconds in Retry-After.",
    nothingNow,
    "Too many requests with this key; the next minute starts in 12 s.",
  ],
  NOT_CONFIGURED: [
    "The operator of this server has not set up what the operation needs.",
    "Ask the operator. Repeating the request gives the same error.",
    nothing,
    "This server receives no mail: its operator has not set MAIL_DOMAIN.",
  ],
  INTERNAL: [
    "An internal error. The message states whether a charge was refunded.",
    "Read the message. If it does not state a refund, check GET /v1/jobs before repeating the request.",
    ["unknown", "nothing_charged", "refunded", "retry_same_key", "repeat_search"],
    "Internal error.",
  ],
  UNAVAILABLE: [
    "A part of the service is unavailable.",
    "Repeat the request after Retry-After, with the same Idempotency-Key if it had one.",
    ["nothing_charged", "retry_same_key", "refunded", "repeat_search", "unknown"],
    "The service cannot read its own state right now.",
  ],
};

export const ERRORS = Object.fromEntries(
  Object.entries(ENTRIES).map(([code, [means, remedy, money, example, more]]) => [
    code,
    { means, money, remedy, example: new Failure(code as FailureCode, money[0], example, more) },
  ]),
) as Readonly<Record<FailureCode, ErrorPage>>;

export const errorExample = ({ example }: ErrorPage, baseUrl: string) => {
  const { code, money, details, retryable } = example;
  return {
    success: false,
    error: {
      code,
      message: getFailureMessage(example),
      money,
      ...(details !== undefined && { details }),
      ...(retryable && { retryable }),
      doc_url: getDocUrl(baseUrl, code),
    },
    request_id: "req_7c1b0c39-57f6-4d3f-9c36-0f0a4c1d9a52",
  };
};

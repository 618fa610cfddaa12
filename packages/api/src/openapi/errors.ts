import { Failure, type FailureCode, type MoneyOutcome } from "@mailproof/core/lib/failure";
import { getFailureMessage } from "../http/http-failure.ts";

// Every way an answer can fail, in words. The message of the example is made as every failure's is.

export type ErrorPage = {
  readonly means: string;
  /** What to do about it. */
  readonly remedy: string;
  readonly example: Failure;
};

const of = (
  code: FailureCode,
  means: string,
  remedy: string,
  [money, what, more]: [MoneyOutcome, string, ConstructorParameters<typeof Failure>[3]?],
): ErrorPage => ({ means, remedy, example: new Failure(code, money, what, more) });

const nothing = "nothing_charged";

export const ERRORS: Readonly<Record<FailureCode, ErrorPage>> = {
  INVALID_REQUEST: of(
    "INVALID_REQUEST",
    "The request is malformed, has a field that nobody reads, or a value that cannot be. `details` names each field.",
    "Correct it. Sending it again as it is gives the same answer.",
    [nothing, "email: is required.", { details: [{ field: "email", message: "is required" }] }],
  ),
  INVALID_IDEMPOTENCY_KEY: of(
    "INVALID_IDEMPOTENCY_KEY",
    "The Idempotency-Key is not 1 to 255 printable ASCII characters without spaces.",
    "Send another key, such as a UUID.",
    [nothing, "The Idempotency-Key must be 1 to 255 printable ASCII characters without spaces."],
  ),
  UNAUTHORIZED: of(
    "UNAUTHORIZED",
    "There is no key, or none that is in force.",
    "Send a key in X-Api-Key, or as a bearer token.",
    [nothing, "Send a valid API key in X-Api-Key, or as a bearer token."],
  ),
  INSUFFICIENT_CREDITS: of(
    "INSUFFICIENT_CREDITS",
    "The balance is lower than the price.",
    "Buy credits, then send it again.",
    [
      nothing,
      "This costs 5 credits and the account has 3.",
      { details: { needed: 5, available: 3 } },
    ],
  ),
  FORBIDDEN: of(
    "FORBIDDEN",
    "The key may not do this: it lacks the scope, or the thing belongs to somebody else.",
    "Use a key with the scope that `details` names.",
    [
      nothing,
      "This key does not hold the scope verification:write.",
      { details: { required_scope: "verification:write" } },
    ],
  ),
  NOT_FOUND: of(
    "NOT_FOUND",
    "There is no such thing, or it is another account's: which of the two is not told.",
    "Look at the id. A test key does not see what live keys made.",
    [nothing, "There is no such job."],
  ),
  METHOD_NOT_ALLOWED: of(
    "METHOD_NOT_ALLOWED",
    "The path exists, but not with this method. The header `Allow` names those that do.",
    "Use one of them.",
    [nothing, "PUT is not possible here, but GET, POST."],
  ),
  IDEMPOTENCY_KEY_CONFLICT: of(
    "IDEMPOTENCY_KEY_CONFLICT",
    "This Idempotency-Key was used for another request.",
    "Send the first request again to see its answer, or use a new key for a new one.",
    [nothing, "This Idempotency-Key was used with a different request."],
  ),
  REQUEST_IN_PROGRESS: of(
    "REQUEST_IN_PROGRESS",
    "A request with this Idempotency-Key is still at work.",
    "Send the same again, with the same key, after Retry-After.",
    [
      "retry_same_key",
      "A request with this Idempotency-Key is still under way.",
      { retryable: true },
    ],
  ),
  LIMIT_REACHED: of(
    "LIMIT_REACHED",
    "The account has as many of these as it may have.",
    "Remove one first.",
    [nothing, "An account can have 20 webhooks."],
  ),
  NOT_READY: of(
    "NOT_READY",
    "It cannot be served at this moment, though it exists. For an export, `details` tells how many rows are missing.",
    "Ask again in a moment.",
    [
      nothing,
      "3 of 500 rows cannot be read, and a CSV could not say so. Ask again in a moment, or with format=json, which tells what is missing.",
      { retryable: true, details: { expected_rows: 500, rows_missing: 3 } },
    ],
  ),
  PAYLOAD_TOO_LARGE: of(
    "PAYLOAD_TOO_LARGE",
    "There is more in the request than it may hold, or more addresses than the plan allows in one job.",
    "Send it in parts.",
    [nothing, "The body is over 128000 bytes, the most that this operation takes."],
  ),
  RATE_LIMITED: of(
    "RATE_LIMITED",
    "The key's requests for this minute are used up, or the account has too many concurrent downloads or uploads.",
    "Wait for the seconds in Retry-After.",
    [nothing, "Too many requests with this key; the next minute starts in 12 s."],
  ),
  INTERNAL: of(
    "INTERNAL",
    "Something broke on our side. The message says whether a charge was refunded.",
    "Read the message. Where it does not speak of a refund, look at GET /v1/jobs before sending it again.",
    ["unknown", "Something broke on our side."],
  ),
  UNAVAILABLE: of(
    "UNAVAILABLE",
    "Something that we depend on does not answer.",
    "Send it again after Retry-After; if it had an Idempotency-Key, with the same one.",
    [nothing, "The service cannot read its own state right now."],
  ),
};

/** As it arrives. */
export const errorExample = ({ example }: ErrorPage) => {
  const { code, money, details, retryable } = example;
  return {
    success: false,
    error: {
      code,
      message: getFailureMessage(example),
      money,
      ...(details !== undefined && { details }),
      ...(retryable && { retryable }),
    },
    request_id: "req_7c1b0c39-57f6-4d3f-9c36-0f0a4c1d9a52",
  };
};

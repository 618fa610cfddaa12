import {
  Failure,
  type FailureCode,
  type FailureOptions,
  type LookUpOperation,
  type MoneyOutcome,
  withMoneySentence,
} from "@mailproof/core/lib/failure";

// Translates a failure to HTTP: core decides what failed, without statuses, headers or routes.

export const STATUS = {
  INVALID_REQUEST: 400,
  INVALID_IDEMPOTENCY_KEY: 400,
  UNAUTHORIZED: 401,
  INSUFFICIENT_CREDITS: 402,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  IDEMPOTENCY_KEY_CONFLICT: 409,
  REQUEST_IN_PROGRESS: 409,
  LIMIT_REACHED: 409,
  NOT_READY: 409,
  JOB_ENDED: 409,
  JOB_OPEN: 409,
  RESULT_DELETED: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  NOT_CONFIGURED: 501,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const satisfies Readonly<Record<FailureCode, number>>;

export const getStatus = ({ code }: Failure): number => STATUS[code];

export const LOOK_UP_ROUTES: Readonly<Record<LookUpOperation, string>> = {
  listJobs: "GET /v1/jobs",
  listChecks: "GET /v1/deliverability/checks",
  listMailTests: "GET /v1/deliverability/tests",
};

export const getFailureMessage = ({ what, money, lookAt }: Failure): string =>
  withMoneySentence(what, money, LOOK_UP_ROUTES[lookAt]);

/** The manual's paragraph about a code: the cause of the failure, the state of the money, and the remedy. */
export const getDocUrl = (baseUrl: string, code: FailureCode): string =>
  `${baseUrl}/docs/errors#${code}`;

type Headers = Readonly<Record<string, string>>;

/** A failure with HTTP headers, such as the allowed methods or how to authenticate. */
export class HttpFailure extends Failure {
  readonly headers: Headers;

  constructor(
    code: FailureCode,
    money: MoneyOutcome,
    text: string,
    { headers, ...options }: FailureOptions & { readonly headers: Headers },
  ) {
    super(code, money, text, options);
    this.headers = headers;
  }
}

const UNAVAILABLE_RETRY_AFTER_MS = 5_000;

export const getFailureHeaders = (failure: Failure): Headers => {
  const { code, retryAfterMs = code === "UNAVAILABLE" ? UNAVAILABLE_RETRY_AFTER_MS : undefined } =
    failure;
  return {
    ...(retryAfterMs !== undefined && { "retry-after": String(Math.ceil(retryAfterMs / 1000)) }),
    ...(failure instanceof HttpFailure && failure.headers),
  };
};

/** Replaces the failure's word and sentence about the money. */
export const withOutcome = (failure: Failure, money: MoneyOutcome): Failure => {
  const { code, what, details, retryable, retryAfterMs, lookAt, isExpected, cause } = failure;
  return new HttpFailure(code, money, what, {
    retryable,
    retryAfterMs,
    lookAt,
    headers: failure instanceof HttpFailure ? failure.headers : {},
    ...(cause !== undefined && { cause }),
    ...(details !== undefined && { details }),
    ...(isExpected && { isExpected }),
  });
};

/** Turns an error of a step before the work into UNAVAILABLE, because nothing was done yet. */
export const orUnavailable = <T>(
  step: Promise<T>,
  money: MoneyOutcome = "nothing_charged",
): Promise<T> =>
  step.catch((cause: unknown) => {
    if (cause instanceof Failure) throw cause;
    const what = "The service cannot read its own state right now.";
    throw new Failure("UNAVAILABLE", money, what, { cause });
  });

export const createMethodFailure = (method: string, allow: string): HttpFailure =>
  new HttpFailure(
    "METHOD_NOT_ALLOWED",
    "nothing_charged",
    `Method ${method} not allowed; use ${allow}.`,
    { headers: { allow } },
  );

import type { ServiceErrorCode } from "./types.ts";

/**
 * The fate of the money.
 *
 * - `nothing_charged`: no credits were charged. `refunded`: the charge was refunded.
 * - `nothing_more`: this request was not charged; the charge of the first request with its key stays.
 * - `kept`: the charge stands.
 * - `retry_same_key`: it may have been charged; a repeat with `idempotencyKey` is not charged twice.
 * - `repeat_search`: it may have been charged; the same search within the same two minutes is not charged twice.
 * - `unknown`: check whether the work was done before repeating the call.
 */
export type MoneyOutcome =
  | "nothing_charged"
  | "nothing_more"
  | "refunded"
  | "kept"
  | "retry_same_key"
  | "repeat_search"
  | "unknown";

/**
 * The service's codes, and those of a lost request or response: `NETWORK`, `TIMEOUT`, `ABORTED`, and `UNREADABLE` for a response that is
 * not the service's.
 */
export type ErrorCode = ServiceErrorCode | "NETWORK" | "TIMEOUT" | "ABORTED" | "UNREADABLE";

type ErrorFields = {
  readonly code: ErrorCode;
  readonly money: MoneyOutcome;
  readonly status?: number | undefined;
  readonly retryable?: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly details?: unknown;
  readonly requestId?: string | undefined;
  readonly docUrl?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly cause?: unknown;
};

/** The error of every failed call. */
export class MailproofError extends Error {
  /** Always `MailproofError`. */
  override readonly name = "MailproofError";
  /** The fault, for programs. */
  declare readonly code: ErrorCode;
  /** The fate of the money. The message states it in a sentence. */
  declare readonly money: MoneyOutcome;
  /** The HTTP status. Undefined when no response came. */
  declare readonly status: number | undefined;
  /** True when the same call may be sent again without a second charge, under `idempotencyKey` if set. */
  declare readonly retryable: boolean;
  /** Milliseconds to wait before repeating the call. Undefined when the service sent none. */
  declare readonly retryAfterMs: number | undefined;
  /** Specifics, such as the invalid fields or the credits needed. */
  declare readonly details: unknown;
  /** The request's id, to quote to the service's support. */
  declare readonly requestId: string | undefined;
  /** The paragraph of the manual about `code`. Undefined when no response of the service came. */
  declare readonly docUrl: string | undefined;
  /** The key of the call. A repeat with this key is not charged again. */
  declare readonly idempotencyKey: string | undefined;

  constructor(message: string, fields: ErrorFields) {
    super(message, { cause: fields.cause });
    Object.assign(this, { retryable: false }, fields);
  }
}

/** Returns the same failure with the message of a larger call. Other errors stay unchanged. */
export const withMessage = (
  cause: unknown,
  message: string,
  more: Partial<ErrorFields>,
): unknown =>
  cause instanceof MailproofError
    ? new MailproofError(message, Object.assign({}, cause, { retryable: false, cause }, more))
    : cause;

const formatMaybeCharged = (again: string) =>
  `It may have been charged; ${again} is not charged twice.`;

/** Only the service reports a kept or unknown charge, with its own message. */
const SENTENCE: Readonly<Partial<Record<MoneyOutcome, string>>> = {
  nothing_charged: "Nothing was charged.",
  refunded: "The charge was refunded.",
  retry_same_key: formatMaybeCharged("sent again with the same idempotencyKey it"),
  repeat_search: formatMaybeCharged("the same search within its two minutes"),
};

/** Creates a failure of the client. Its message ends with the money sentence, like the service's. */
export const createError = (what: string, fields: ErrorFields): MailproofError =>
  new MailproofError(`${what} ${SENTENCE[fields.money]}`, fields);

/** A response reports only on its own request. An earlier attempt without a response may have been charged. */
export const toDoubtError = (error: MailproofError): MailproofError =>
  error.money === "nothing_charged"
    ? createError(
        `An earlier attempt got no response. This one: ${error.message}`,
        Object.assign({}, error, { money: "retry_same_key" as const, cause: error }),
      )
    : error;

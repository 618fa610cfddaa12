import type { ServiceErrorCode } from "./types.ts";

/**
 * What a failure means for the money.
 *
 * - `nothing_charged`, `refunded`: as the words say.
 * - `kept`: the charge stands.
 * - `retry_same_key`: it may have been charged; sent again under `idempotencyKey` it is not charged twice.
 * - `repeat_search`: it may have been charged; the same search within the same two minutes is not charged twice.
 * - `unknown`: look whether it was done before you send it again.
 */
export type MoneyOutcome =
  | "nothing_charged"
  | "refunded"
  | "kept"
  | "retry_same_key"
  | "repeat_search"
  | "unknown";

/**
 * The service's codes, and those of what never reached it or never came back: `NETWORK`, `TIMEOUT`, `ABORTED`, and
 * `UNREADABLE` for an answer that is not the service's.
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
  readonly idempotencyKey?: string | undefined;
  readonly cause?: unknown;
};

/** Every way in which a call can fail. */
export class MailproofError extends Error {
  /** Always `MailproofError`. */
  override readonly name = "MailproofError";
  /** What went wrong, for programs. */
  declare readonly code: ErrorCode;
  /** What happened to the money. The message says it in a sentence. */
  declare readonly money: MoneyOutcome;
  /** The HTTP status. Undefined when no response came. */
  declare readonly status: number | undefined;
  /** Whether the same call may be sent again, under `idempotencyKey` where there is one, without a second charge. */
  declare readonly retryable: boolean;
  /** Milliseconds after which the service wants the call again. Undefined when it did not say. */
  declare readonly retryAfterMs: number | undefined;
  /** Which fields were wrong, how many credits are needed, and the like. */
  declare readonly details: unknown;
  /** The request's id, to quote to the service's support. */
  declare readonly requestId: string | undefined;
  /** The key that the call was sent under. A repeat with this key is not charged again. */
  declare readonly idempotencyKey: string | undefined;

  constructor(message: string, fields: ErrorFields) {
    super(message, { cause: fields.cause });
    Object.assign(this, { retryable: false }, fields);
  }
}

/** The same failure, as it looks to whoever made a larger call of several. What is no failure of ours stays as it is. */
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

/** Whether a charge was kept, or nobody knows, only the service says, and in its own words. */
const SENTENCE: Readonly<Partial<Record<MoneyOutcome, string>>> = {
  nothing_charged: "Nothing was charged.",
  refunded: "The charge was refunded.",
  retry_same_key: formatMaybeCharged("sent again with the same idempotencyKey it"),
  repeat_search: formatMaybeCharged("the same search within its two minutes"),
};

/** A failure of ours, which ends like the service's: with what it means for the money. */
export const createError = (what: string, fields: ErrorFields): MailproofError =>
  new MailproofError(`${what} ${SENTENCE[fields.money]}`, fields);

/** An answer says what became of its own request. One that was lost before may still have been paid for. */
export const toDoubtError = (error: MailproofError): MailproofError =>
  error.money === "nothing_charged"
    ? createError(
        `An earlier try was not answered, and this one: ${error.message}`,
        Object.assign({}, error, { money: "retry_same_key" as const, cause: error }),
      )
    : error;

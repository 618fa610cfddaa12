import type { Json } from "../ports/table.ts";

/** The state of the money, which a client must know before it retries. Every failure states it; there is no default. */
export type MoneyOutcome =
  | "nothing_charged"
  | "nothing_more"
  | "refunded"
  | "kept"
  | "retry_same_key"
  | "repeat_search"
  | "unknown";

const FAILURE_SENTENCES: Readonly<Record<MoneyOutcome, string>> = {
  nothing_charged: "Nothing was charged.",
  nothing_more: "Nothing more was charged.",
  refunded: "The charge was refunded.",
  kept: "The charge stands; it was not refunded.",
  retry_same_key: "Retry with the same Idempotency-Key; it will not be charged twice.",
  repeat_search: "The same search sent again within its two minutes will not be charged twice.",
  unknown: "Do not assume a refund; check {lookAt} before sending this again.",
};

const SUCCESS_SENTENCES = {
  partly_refunded: "Their charge was refunded.",
  partly_held: "Their credits are held until it is known.",
  repeat_charges: "Sending this request again without the same Idempotency-Key charges it again.",
} as const;

const SENTENCES = { ...FAILURE_SENTENCES, ...SUCCESS_SENTENCES };

export const MONEY_OUTCOMES = Object.keys(FAILURE_SENTENCES) as MoneyOutcome[];

/** The operation that shows whether a request was carried out, by its id. */
export type LookUpOperation = "listJobs" | "listChecks" | "listMailTests";

const DEFAULT_LOOK_AT: LookUpOperation = "listJobs";

/** The only source of sentences about money. `lookAt` is the operation's name in the client's protocol. */
export const getMoneySentence = (
  outcome: keyof typeof SENTENCES,
  lookAt: string = DEFAULT_LOOK_AT,
): string => SENTENCES[outcome].replace("{lookAt}", lookAt);

export const withMoneySentence = (
  text: string,
  outcome: keyof typeof SENTENCES,
  lookAt?: string,
): string => `${text} ${getMoneySentence(outcome, lookAt)}`;

/** Every failure code. Each protocol's package maps these codes to its own. */
export const FAILURE_CODES = [
  "INVALID_REQUEST",
  "INVALID_IDEMPOTENCY_KEY",
  "UNAUTHORIZED",
  "INSUFFICIENT_CREDITS",
  "FORBIDDEN",
  "NOT_FOUND",
  "METHOD_NOT_ALLOWED",
  "IDEMPOTENCY_KEY_CONFLICT",
  "REQUEST_IN_PROGRESS",
  "LIMIT_REACHED",
  "NOT_READY",
  "JOB_ENDED",
  "JOB_OPEN",
  "RESULT_DELETED",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "RATE_LIMITED",
  "NOT_CONFIGURED",
  "INTERNAL",
  "UNAVAILABLE",
] as const;

export type FailureCode = (typeof FAILURE_CODES)[number];

const RETRYABLE_CODES: readonly FailureCode[] = ["RATE_LIMITED", "UNAVAILABLE"];

export type FailureOptions = ErrorOptions & {
  /** Machine-readable details: the invalid fields, or the missing scope. */
  readonly details?: Json;
  /** The same request may succeed later. Default: true for RATE_LIMITED and UNAVAILABLE. */
  readonly retryable?: boolean;
  /** How long the client should wait before it sends the same request again, if known. */
  readonly retryAfterMs?: number | undefined;
  /** The service does not log this failure's response as a fault: its cause is logged elsewhere, or is a setting. */
  readonly isExpected?: true;
  /** The operation that shows whether the request was carried out. Absent: `listJobs`. */
  readonly lookAt?: LookUpOperation | undefined;
};

/** The only error that clients see. Any other thrown error is a bug and becomes an INTERNAL without details. */
export class Failure extends Error {
  readonly code: FailureCode;
  readonly money: MoneyOutcome;
  readonly what: string;
  readonly details: Json | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly lookAt: LookUpOperation;
  readonly isExpected: boolean;

  constructor(code: FailureCode, money: MoneyOutcome, text: string, options: FailureOptions = {}) {
    super(withMoneySentence(text, money, options.lookAt), options);
    this.name = "Failure";
    this.code = code;
    this.money = money;
    this.what = text;
    this.details = options.details;
    this.retryable = options.retryable ?? RETRYABLE_CODES.includes(code);
    this.retryAfterMs = options.retryAfterMs;
    this.lookAt = options.lookAt ?? DEFAULT_LOOK_AT;
    this.isExpected = options.isExpected ?? false;
  }
}

/** A request that costs nothing and may be sent again. */
export const createUnavailableFailure = (what: string): Failure =>
  new Failure("UNAVAILABLE", "nothing_charged", what);

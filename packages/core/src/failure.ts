import type { Json } from "./table.ts";

/** What a caller must know before deciding whether to retry. There is no default: every failure says it. */
export type MoneyOutcome =
  | "nothing_charged"
  | "refunded"
  | "kept"
  | "retry_same_key"
  | "repeat_search"
  | "unknown";

const SENTENCE: Record<MoneyOutcome, (lookAt: string) => string> = {
  nothing_charged: () => "Nothing was charged.",
  refunded: () => "The charge was refunded.",
  kept: () => "The charge stands; the refund did not succeed.",
  retry_same_key: () => "Retry with the same Idempotency-Key; it will not be charged twice.",
  repeat_search: () =>
    "The same search sent again within its two minutes will not be charged twice.",
  unknown: (lookAt) => `Do not assume a refund; check ${lookAt} before sending this again.`,
};

export const MONEY_OUTCOMES = Object.keys(SENTENCE) as MoneyOutcome[];

/** Every way an answer can fail, and its status. */
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
  PAYLOAD_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const;

export type FailureCode = keyof typeof STATUS;

const LATER: readonly FailureCode[] = ["RATE_LIMITED", "UNAVAILABLE"];

type More = ErrorOptions & {
  /** For programs: which fields were wrong, which scope is missing. */
  readonly details?: Json;
  /** Whether the same request may succeed later. Understood for 429 and 503. */
  readonly retryable?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** Where it shows whether something was done of which we do not know. */
  readonly lookAt?: string | undefined;
};

const JOBS = "GET /v1/jobs";

/** The one error class. Anything else that is thrown is a bug and becomes an opaque 500. */
export class Failure extends Error {
  readonly code: FailureCode;
  readonly money: MoneyOutcome;
  readonly details: Json | undefined;
  readonly retryable: boolean;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: FailureCode, money: MoneyOutcome, what: string, more: More = {}) {
    super(`${what} ${SENTENCE[money](more.lookAt ?? JOBS)}`, more);
    this.name = "Failure";
    this.code = code;
    this.money = money;
    this.details = more.details;
    this.retryable = more.retryable ?? LATER.includes(code);
    this.headers = more.headers ?? {};
  }

  get status(): number {
    return STATUS[this.code];
  }
}

import type { Json } from "../ports/table.ts";

/** What a caller must know before deciding whether to retry. There is no default: every failure says it. */
export type MoneyOutcome =
  | "nothing_charged"
  | "refunded"
  | "kept"
  | "retry_same_key"
  | "repeat_search"
  | "unknown";

const FAILURE_SENTENCES: Readonly<Record<MoneyOutcome, string>> = {
  nothing_charged: "Nothing was charged.",
  refunded: "The charge was refunded.",
  kept: "The charge stands; it was not refunded.",
  retry_same_key: "Retry with the same Idempotency-Key; it will not be charged twice.",
  repeat_search: "The same search sent again within its two minutes will not be charged twice.",
  unknown: "Do not assume a refund; check {lookAt} before sending this again.",
};

/** What the `message` of a successful answer says about the money. */
const SUCCESS_SENTENCES = {
  nothing_more: "Nothing more was charged.",
  partly_refunded: "Their charge was refunded.",
  partly_held: "Their credits are held until it is known.",
  repeat_charges: "Sending this request again without the same Idempotency-Key charges it again.",
} as const;

const SENTENCES = { ...FAILURE_SENTENCES, ...SUCCESS_SENTENCES };

export const MONEY_OUTCOMES = Object.keys(FAILURE_SENTENCES) as MoneyOutcome[];

const DEFAULT_LOOK_AT = "GET /v1/jobs";

/** The only author of sentences about money. `lookAt`: where a caller sees whether the request was carried out. */
export const getMoneySentence = (
  outcome: keyof typeof SENTENCES,
  lookAt: string = DEFAULT_LOOK_AT,
): string => SENTENCES[outcome].replace("{lookAt}", lookAt);

/** A text for people that ends with its money sentence. */
export const withMoneySentence = (
  text: string,
  outcome: keyof typeof SENTENCES,
  lookAt?: string,
): string => `${text} ${getMoneySentence(outcome, lookAt)}`;

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

const RETRYABLE_CODES: readonly FailureCode[] = ["RATE_LIMITED", "UNAVAILABLE"];

type FailureOptions = ErrorOptions & {
  /** For programs: which fields were wrong, which scope is missing. */
  readonly details?: Json;
  /** Whether the same request may succeed later. Understood for 429 and 503. */
  readonly retryable?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** The log hears of its cause in another way, and not once for each answer. */
  readonly isExpected?: true;
  /** Where it shows whether something was done of which we do not know. */
  readonly lookAt?: string | undefined;
};

/** The one error class. Anything else that is thrown is a bug and becomes an opaque 500. */
export class Failure extends Error {
  readonly code: FailureCode;
  readonly money: MoneyOutcome;
  /** The message without its money sentence. */
  readonly what: string;
  readonly details: Json | undefined;
  readonly retryable: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly isExpected: boolean;

  constructor(code: FailureCode, money: MoneyOutcome, text: string, options: FailureOptions = {}) {
    super(withMoneySentence(text, money, options.lookAt), options);
    this.name = "Failure";
    this.code = code;
    this.money = money;
    this.what = text;
    this.details = options.details;
    this.retryable = options.retryable ?? RETRYABLE_CODES.includes(code);
    this.headers = options.headers ?? {};
    this.isExpected = options.isExpected ?? false;
  }

  get status(): number {
    return STATUS[this.code];
  }
}

/** The same failure with another word, and sentence, about the money. */
export const withOutcome = (failure: Failure, money: MoneyOutcome): Failure => {
  const { code, what, details, retryable, headers, isExpected, cause } = failure;
  return new Failure(code, money, what, {
    retryable,
    headers,
    ...(cause !== undefined && { cause }),
    ...(details !== undefined && { details }),
    ...(isExpected && { isExpected }),
  });
};

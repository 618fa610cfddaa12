import { failure, MailproofError, type MoneyOutcome } from "./errors.ts";
import { moneyWhenLost, type Operation } from "./operation.ts";
import type { ServiceErrorCode } from "./types.ts";

export type Try = {
  readonly operation: Operation;
  readonly url: string;
  readonly init: RequestInit;
  readonly idempotencyKey?: string | undefined;
  readonly fetch: typeof globalThis.fetch;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
};

/** Sends a request once. What comes back is read within the time, or thrown as an error that tells of the money. */
export const attempt = async <T>(
  one: Try,
  read: (response: Response) => Promise<T>,
): Promise<T> => {
  const { url, init, signal, timeoutMs } = one;
  if (signal?.aborted) throw aborted(one, "nothing_charged");
  const controller = new AbortController();
  const stop = () => controller.abort();
  const timer = setTimeout(stop, timeoutMs);
  signal?.addEventListener("abort", stop);
  try {
    const response = await one.fetch(url, { ...init, signal: controller.signal });
    if (!response.ok) throw await refusal(one, response);
    return await read(response);
  } catch (cause) {
    if (cause instanceof MailproofError) throw cause;
    throw lost(one, cause, controller.signal.aborted);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
};

export const aborted = (
  { signal, idempotencyKey }: Pick<Try, "signal" | "idempotencyKey">,
  money: MoneyOutcome,
): MailproofError =>
  failure("The call was given up.", {
    code: "ABORTED",
    money,
    idempotencyKey,
    cause: signal?.reason,
  });

/** Errors of connections that were never made, as Node, Deno and Bun call them. Browsers do not tell. */
const NEVER_MADE = [
  "ECONNREFUSED",
  "ConnectionRefused",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
  "ERR_INVALID_URL",
];

/** No answer, or not the whole of it. Whether the work was done is not known, unless nobody was reached at all. */
const lost = (one: Try, cause: unknown, isStopped: boolean): MailproofError => {
  const { operation, signal, timeoutMs, idempotencyKey } = one;
  const money = moneyWhenLost(operation);
  if (signal?.aborted) return aborted(one, money);
  const facts = { money, retryable: operation.repeat !== "never", idempotencyKey, cause };
  if (isStopped)
    return failure(`No answer came within ${timeoutMs} ms.`, { code: "TIMEOUT", ...facts });
  if (!NEVER_MADE.includes(codeOf(cause)))
    return cause instanceof SyntaxError
      ? failure("The answer is not the service's.", { code: "UNREADABLE", ...facts })
      : failure("No whole answer came.", { code: "NETWORK", ...facts });
  return failure("The service could not be reached.", {
    ...facts,
    code: "NETWORK",
    money: "nothing_charged",
    retryable: true,
  });
};

const codeOf = (error: unknown): string => {
  const { code, cause } = (error ?? {}) as { code?: string; cause?: { code?: string } };
  return code ?? cause?.code ?? "";
};

/** What the service says of itself in a failure. */
type Said = {
  readonly code: ServiceErrorCode;
  readonly message: string;
  readonly money: MoneyOutcome;
  readonly details?: unknown;
  readonly retryable?: boolean;
};

const refusal = async (one: Try, response: Response): Promise<MailproofError> => {
  const { operation, idempotencyKey } = one;
  const { status, headers } = response;
  const text = await response.text();
  const facts = {
    status,
    idempotencyKey,
    requestId: headers.get("x-request-id") ?? undefined,
    retryAfterMs: retryAfterMs(headers.get("retry-after")),
  };
  const said = errorIn(text);
  if (!said) return stranger(one, facts);
  const { code, message, money, details } = said;
  const retryable = said.retryable === true && isHarmless(operation, said);
  return new MailproofError(message, { ...facts, code, money, details, retryable });
};

/** Without a key only what certainly did nothing may be sent again. */
const isHarmless = ({ repeat, paid }: Operation, { code, money }: Said): boolean =>
  repeat !== "never" ||
  code === "RATE_LIMITED" ||
  (paid === true && (money === "nothing_charged" || money === "refunded"));

/** Something between us and the service answered in its place. */
const stranger = ({ operation }: Try, facts: { readonly status: number }): MailproofError => {
  const { status } = facts;
  const isLimited = status === 429;
  // Below 500 it was turned away at the door; otherwise it may have been let in before something broke.
  const isInside = status >= 500 || status === 408;
  return failure(`Status ${status}, and not by the service.`, {
    ...facts,
    code: isLimited ? "RATE_LIMITED" : "UNREADABLE",
    money: isInside ? moneyWhenLost(operation) : "nothing_charged",
    retryable: isLimited || (isInside && operation.repeat !== "never"),
  });
};

const errorIn = (text: string): Said | undefined => {
  try {
    const { error } = JSON.parse(text) as { error?: Partial<Said> };
    return error?.code && error.message && error.money ? (error as Said) : undefined;
  } catch {
    return undefined;
  }
};

/** Seconds, as the service says it, or a date, as a gateway may. */
const retryAfterMs = (header: string | null): number | undefined => {
  if (header === null || header === "") return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
};

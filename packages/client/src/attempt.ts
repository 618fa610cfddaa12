import { createError, MailproofError, type MoneyOutcome } from "./errors.ts";
import { getMoneyWhenLost, type Operation } from "./operation.ts";
import type { ServiceErrorCode } from "./types.ts";

export type ClientAttempt = {
  readonly operation: Operation;
  readonly url: string;
  readonly init: RequestInit;
  readonly idempotencyKey?: string | undefined;
  readonly fetch: typeof globalThis.fetch;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
};

/** Sends a request once. Reads the response within the time, or throws an error that states what happened to the money. */
export const attempt = async <T>(
  one: ClientAttempt,
  read: (response: Response) => Promise<T>,
): Promise<T> => {
  const { url, init, signal, timeoutMs } = one;
  if (signal?.aborted) throw createAbortedError(one, "nothing_charged");
  const controller = new AbortController();
  const stop = () => controller.abort();
  const timer = setTimeout(stop, timeoutMs);
  signal?.addEventListener("abort", stop);
  let hasResponse = false;
  try {
    const response = await one.fetch(url, { ...init, signal: controller.signal });
    hasResponse = true;
    if (!response.ok) throw await toRefusalError(one, response);
    return await read(response);
  } catch (cause) {
    if (cause instanceof MailproofError) throw cause;
    throw toLostError(one, { cause, isStopped: controller.signal.aborted, hasResponse });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
};

export const createAbortedError = (
  { signal, idempotencyKey }: Pick<ClientAttempt, "signal" | "idempotencyKey">,
  money: MoneyOutcome,
): MailproofError =>
  createError("The call was aborted.", {
    code: "ABORTED",
    money,
    idempotencyKey,
    cause: signal?.reason,
  });

/** Codes of Node, Bun and Deno for a connection that may succeed at the next attempt; browsers have none. */
const MAY_CONNECT_LATER =
  /ECONNREFUSED|ConnectionRefused|FailedToOpenSocket|ENOTFOUND|EAI_|CONNECT_TIMEOUT|before secure TLS|\(Connect\)/;
/** Connections that fail until a certificate or a setting changes. */
const CANNOT_CONNECT =
  /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|WRONG_VERSION_NUMBER|bad port|unknown scheme/;

type Caught = {
  readonly code?: string;
  readonly message?: string;
  readonly syscall?: string;
  readonly errors?: readonly unknown[];
  readonly cause?: Caught;
};

/** Null when a connection was or may have been made: then the request may have been sent. */
const findConnectFailure = (caught: Caught): { why: string; retryable: boolean } | null => {
  const { code = "", message = "", syscall, errors } = caught.cause ?? caught;
  const text = `${code} ${message}`;
  const isLasting = CANNOT_CONNECT.test(text);
  const isPassing = errors !== undefined || syscall === "connect" || MAY_CONNECT_LATER.test(text);
  return isLasting || isPassing ? { why: code || message, retryable: !isLasting } : null;
};

type Lost = { readonly cause: unknown; readonly isStopped: boolean; readonly hasResponse: boolean };

const BROKEN = "The connection broke before the whole response arrived.";
/** Browsers do not report whether a connection was made. */
const UNANSWERED = "The service did not respond: the connection failed, or broke.";

/** Creates the error for a missing or incomplete response. Whether the work was done is unknown, unless no connection was made. */
const toLostError = (
  one: ClientAttempt,
  { cause, isStopped, hasResponse }: Lost,
): MailproofError => {
  const { operation, signal, timeoutMs, idempotencyKey } = one;
  const money = getMoneyWhenLost(operation);
  if (signal?.aborted) return createAbortedError(one, money);
  const fields = { money, retryable: operation.repeat !== "never", idempotencyKey, cause };
  if (isStopped)
    return createError(`No response within ${timeoutMs} ms.`, { code: "TIMEOUT", ...fields });
  const unconnected = findConnectFailure(cause as Caught);
  if (unconnected)
    return createError(`Could not connect to the service (${unconnected.why}).`, {
      ...fields,
      code: "NETWORK",
      money: "nothing_charged",
      retryable: unconnected.retryable,
    });
  return cause instanceof SyntaxError
    ? createError("The response is not the service's.", { code: "UNREADABLE", ...fields })
    : createError(hasResponse ? BROKEN : UNANSWERED, { code: "NETWORK", ...fields });
};

type ErrorBody = {
  readonly code: ServiceErrorCode;
  readonly message: string;
  readonly money: MoneyOutcome;
  readonly details?: unknown;
  readonly retryable?: boolean;
  readonly doc_url?: string;
};

const toRefusalError = async (one: ClientAttempt, response: Response): Promise<MailproofError> => {
  const { operation, idempotencyKey } = one;
  const { status, headers } = response;
  const text = await response.text();
  const fields = {
    status,
    idempotencyKey,
    requestId: headers.get("x-request-id") ?? undefined,
    retryAfterMs: parseRetryAfter(headers.get("retry-after")),
  };
  const body = parseErrorBody(text);
  if (!body) return toForeignResponseError(one, fields);
  const { code, message, money, details, doc_url: docUrl } = body;
  const retryable = body.retryable === true && isHarmless(operation, body);
  return new MailproofError(message, { ...fields, code, money, details, docUrl, retryable });
};

/** Without a key only a request that certainly did nothing may be repeated. */
const isHarmless = ({ repeat, paid }: Operation, { code, money }: ErrorBody): boolean =>
  repeat !== "never" ||
  code === "RATE_LIMITED" ||
  (paid === true && (money === "nothing_charged" || money === "refunded"));

const toForeignResponseError = (
  { operation }: ClientAttempt,
  fields: { readonly status: number },
): MailproofError => {
  const { status } = fields;
  const isLimited = status === 429;
  // Below 500 the request was rejected; otherwise the service may have processed it.
  const isInside = status >= 500 || status === 408;
  return createError(`The response with status ${status} is not the service's.`, {
    ...fields,
    code: isLimited ? "RATE_LIMITED" : "UNREADABLE",
    money: isInside ? getMoneyWhenLost(operation) : "nothing_charged",
    retryable: isLimited || (isInside && operation.repeat !== "never"),
  });
};

const parseErrorBody = (text: string): ErrorBody | undefined => {
  try {
    const { error } = JSON.parse(text) as { error?: Partial<ErrorBody> };
    return error?.code && error.message && error.money ? (error as ErrorBody) : undefined;
  } catch {
    return undefined;
  }
};

/** Parses seconds, as the service sends them, or a date, which a gateway may send. */
export const parseRetryAfter = (header: string | null): number | undefined => {
  if (header === null || header === "") return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
};

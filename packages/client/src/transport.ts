import { attempt, type ClientAttempt, createAbortedError } from "./attempt.ts";
import { type ClientClock, SYSTEM_CLOCK } from "./clock.ts";
import { MailproofError, toDoubtError } from "./errors.ts";
import { getHostProcess } from "./host-process.ts";
import type { Operation } from "./operation.ts";
import type { CallOptions, ClientOptions, PaidCallOptions } from "./options.ts";
import { createRandomId } from "./random-id.ts";

/** Maximum delay before each retry, with full jitter. The last one applies to all further retries. */
const DELAYS_MS = [500, 1_500, 4_000, 10_000] as const;
const RETRIES = DELAYS_MS.length;

/** The client does not wait for a longer Retry-After; the error reports it. */
const RETRY_AFTER_MS_MAX = 120_000;
/** Jitter, so that clients with the same Retry-After do not return at the same time. */
const JITTER_MS = 250;

/** Tells whether a failed call is retried: only if all attempts together are charged once. */
const mayRepeat = ({ repeat }: Operation, error: MailproofError): boolean =>
  error.code !== "ABORTED" &&
  (error.retryable ||
    (repeat === "keyed" && error.money === "retry_same_key" && !isRefusal(error)));

/** Errors that waiting does not resolve, such as an invalid API key. */
const isRefusal = ({ status = 500 }: MailproofError): boolean => status >= 400 && status < 500;

const getRetryDelay = (
  tries: number,
  { retryAfterMs }: MailproofError,
  random: () => number,
): number | null => {
  const backoffMs = random() * (DELAYS_MS[Math.min(tries, RETRIES - 1)] ?? 0);
  if (retryAfterMs === undefined) return backoffMs;
  if (retryAfterMs > RETRY_AFTER_MS_MAX) return null;
  return Math.max(backoffMs, retryAfterMs + random() * JITTER_MS);
};

type Exchange = ClientAttempt & { readonly retries: number; readonly clock: ClientClock };

/** Sends a request until it succeeds or may not be retried. The last failure covers the money of all attempts. */
const sendWithRetries = async <T>(
  one: Exchange,
  read: (response: Response) => Promise<T>,
): Promise<T> => {
  let isInDoubt = false;
  for (let tries = 0; ; tries++) {
    let error: MailproofError;
    let waitMs: number | null = null;
    try {
      return await attempt(one, read);
    } catch (thrown) {
      if (!(thrown instanceof MailproofError)) throw thrown;
      error = isInDoubt ? toDoubtError(thrown) : thrown;
      if (tries < one.retries && mayRepeat(one.operation, thrown))
        waitMs = getRetryDelay(tries, thrown, one.clock.random);
    }
    if (waitMs === null) throw error;
    // The service refused before any work. If the key was used before this call, the service reports it.
    const isRefused = error.code === "RATE_LIMITED";
    isInDoubt ||= !isRefused && error.money === "retry_same_key";
    await one.clock.sleep(waitMs, one.signal);
    if (one.signal?.aborted) throw createAbortedError(one, error.money);
  }
};

/** Explicit options come first. The environment is read only for a missing option. */
const readSetting = (name: string, variable: string, given: string | undefined): string => {
  const value = given ?? getHostProcess()?.env?.[variable];
  if (value === undefined) throw new TypeError(`${name} is missing: pass it, or set ${variable}.`);
  return value;
};

/** A wrong URL would fail in every attempt of every call, long after its cause. */
const readBaseUrl = (given: string | undefined): string => {
  const text = readSetting("baseUrl", "MAILPROOF_API", given);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:\/\/[^?#@]+$/.test(url.href)) return trimTrailingSlashes(url.href);
  throw new TypeError(
    "baseUrl must be an http or https URL such as https://api.example.com, without user name, query or fragment.",
  );
};

/** The function counts slashes, because a pattern that ends with $ would be tried at every slash. */
const trimTrailingSlashes = (text: string): string => {
  let length = text.length;
  while (text[length - 1] === "/") length--;
  return text.slice(0, length);
};

const readKey = (given: string | undefined): string =>
  assertHeaderValue("key", readSetting("key", "MAILPROOF_KEY", given));

/** The message does not repeat the value, which may be a secret. */
const assertHeaderValue = (name: string, value: string): string => {
  if (/^[!-~]+$/.test(value)) return value;
  throw new TypeError(`${name} must be printable ASCII characters without spaces.`);
};

type Values = Readonly<Record<string, unknown>>;

type RequestParts = {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
};

const toRequestParts = ({ route, fixed, inQuery }: Operation, input: Values = {}): RequestParts => {
  const [method = "", pattern = ""] = route.split(" ");
  const fields: Record<string, unknown> = { ...input, ...fixed };
  const path = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = fields[name];
    if (typeof value !== "string" || value === "") throw new TypeError(`${name} is required`);
    delete fields[name];
    return encodeURIComponent(value);
  });
  if ((method === "POST" || method === "PUT") && !inQuery)
    return {
      method,
      path,
      // Each PUT needs a body: without a field it takes every limit away.
      ...((method === "PUT" || Object.keys(fields).length > 0) && { body: JSON.stringify(fields) }),
    };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields as Record<string, string | undefined>))
    if (value !== undefined) query.set(name, value);
  const search = query.toString();
  return { method, path: search === "" ? path : `${path}?${search}` };
};

const TIMEOUT_MS = 60_000;
/** The time suffices for fifty megabytes over a slow line. All attempts of one upload end before its URL expires. */
const UPLOAD_TIMEOUT_MS = 600_000;

const UPLOAD: Operation = { route: "PUT upload_url" };

export type ClientTransport = {
  /** Calls an operation and reads the response with `read`; by default as the service's JSON. */
  readonly call: <T>(
    operation: Operation,
    input: object | undefined,
    options?: PaidCallOptions,
    read?: (response: Response) => Promise<T>,
  ) => Promise<T>;
  readonly put: (url: string, file: Blob, options?: CallOptions) => Promise<void>;
  readonly clock: ClientClock;
};

export const createTransport = (
  options: ClientOptions = {},
  clock: ClientClock = SYSTEM_CLOCK,
): ClientTransport => {
  const { retries = RETRIES, timeoutMs = TIMEOUT_MS } = options;
  const [baseUrl, key] = [readBaseUrl(options.baseUrl), readKey(options.key)];
  // Reads `fetch` at each call, and calls it without `this`, as browsers require.
  const fetch: typeof globalThis.fetch = (...of) => (options.fetch ?? globalThis.fetch)(...of);
  const defaults = { fetch, retries, clock };

  return {
    clock,
    call: async (
      operation,
      input,
      { signal, idempotencyKey: own } = {},
      read = createJsonReader(operation),
    ) => {
      const { method, path, body } = toRequestParts(operation, { ...input });
      const idempotencyKey =
        operation.repeat === "keyed"
          ? assertHeaderValue("idempotencyKey", own ?? createRandomId())
          : undefined;
      const headers = {
        // A bearer token is not sent on when a response redirects to another host.
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      };
      const init = { method, headers, ...(body !== undefined && { body }) };
      const url = `${baseUrl}${path}`;
      const one = { operation, url, init, idempotencyKey, signal, timeoutMs };
      return sendWithRetries({ ...one, ...defaults }, read);
    },
    put: (url, file, { signal } = {}) => {
      const init = { method: "PUT", body: file };
      const one = { operation: UPLOAD, url, init, signal, timeoutMs: UPLOAD_TIMEOUT_MS };
      return sendWithRetries(
        { ...one, ...defaults },
        async (response) => void (await response.text()),
      );
    },
  };
};

const createJsonReader =
  <T>(operation: Operation) =>
  async (response: Response): Promise<T> => {
    const body = JSON.parse(await response.text()) as { success?: boolean; data: T };
    if (operation.unwrapped) return body as T;
    if (body.success) return body.data;
    // The client handles such a response like a body that is not JSON.
    throw new SyntaxError("not the service's envelope");
  };

import { type ClientClock, SYSTEM_CLOCK } from "./clock.ts";
import type { Operation } from "./operation.ts";
import type { CallOptions, ClientOptions, PaidCallOptions } from "./options.ts";
import { createRandomId } from "./random-id.ts";
import { toRequestParts } from "./request.ts";
import { RETRIES } from "./retry.ts";
import { sendWithRetries } from "./send-with-retries.ts";
import { assertHeaderValue, readBaseUrl, readKey } from "./settings.ts";

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

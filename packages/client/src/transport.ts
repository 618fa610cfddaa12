import { CLOCK, type Clock } from "./clock.ts";
import { exchange } from "./exchange.ts";
import type { Operation } from "./operation.ts";
import type { CallOptions, ClientOptions, PaidCallOptions } from "./options.ts";
import { outgoing } from "./request.ts";
import { RETRIES } from "./retry.ts";
import { asHeader, readBaseUrl, readKey } from "./settings.ts";

const TIMEOUT_MS = 60_000;
/** Fifty megabytes over a slow line. All tries of one upload end before its link does. */
const UPLOAD_TIMEOUT_MS = 600_000;

const UPLOAD: Operation = { route: "PUT upload_url" };

/** How anything reaches the service. */
export type Transport = {
  /** Calls an operation, and reads its answer by `read`; by default as the service's JSON. */
  readonly call: <T>(
    operation: Operation,
    input: object | undefined,
    options?: PaidCallOptions,
    read?: (response: Response) => Promise<T>,
  ) => Promise<T>;
  /** Puts a file where an upload link leads. */
  readonly put: (url: string, file: Blob, options?: CallOptions) => Promise<void>;
  readonly clock: Clock;
};

export const transportTo = (options: ClientOptions = {}, clock: Clock = CLOCK): Transport => {
  const { retries = RETRIES, timeoutMs = TIMEOUT_MS } = options;
  const [baseUrl, key] = [readBaseUrl(options.baseUrl), readKey(options.key)];
  // Looked up at each call, and called as a function of nobody: browsers want it so.
  const fetch: typeof globalThis.fetch = (...of) => (options.fetch ?? globalThis.fetch)(...of);
  const usual = { fetch, retries, clock };

  return {
    clock,
    call: async (
      operation,
      input,
      { signal, idempotencyKey: own } = {},
      read = jsonOf(operation),
    ) => {
      const { method, path, body } = outgoing(operation, { ...input });
      const idempotencyKey =
        operation.repeat === "keyed"
          ? asHeader("idempotencyKey", own ?? crypto.randomUUID())
          : undefined;
      const headers = {
        // As a bearer token it is left behind when an answer leads to another host.
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      };
      const init = { method, headers, ...(body !== undefined && { body }) };
      const url = `${baseUrl}${path}`;
      const one = { operation, url, init, idempotencyKey, signal, timeoutMs };
      return exchange({ ...one, ...usual }, read);
    },
    put: (url, file, { signal } = {}) => {
      const init = { method: "PUT", body: file };
      const one = { operation: UPLOAD, url, init, signal, timeoutMs: UPLOAD_TIMEOUT_MS };
      return exchange({ ...one, ...usual }, async (response) => void (await response.text()));
    },
  };
};

const jsonOf =
  <T>(operation: Operation) =>
  async (response: Response): Promise<T> => {
    const said = JSON.parse(await response.text()) as { success?: boolean; data: T };
    if (operation.unwrapped) return said as T;
    if (said.success) return said.data;
    // As what is no JSON at all does.
    throw new SyntaxError("not the service's envelope");
  };

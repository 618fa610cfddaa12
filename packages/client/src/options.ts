/** Options of a client. In Node, Deno and Bun, environment variables can replace URL and key. */
export interface ClientOptions {
  /** The service's URL, such as `https://api.example.com`. Default: the environment variable `MAILPROOF_API`. */
  baseUrl?: string | undefined;
  /**
   * An API key, or an OAuth access token. Default: the environment variable `MAILPROOF_KEY`. Never put a live key into
   * a page that others can read.
   */
  key?: string | undefined;
  /** Maximum number of retries. Default: 4. */
  retries?: number | undefined;
  /** Timeout of one attempt in milliseconds. Default: 60,000. */
  timeoutMs?: number | undefined;
  /** Replaces the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined;
}

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call. The error states what happened to the money. */
  signal?: AbortSignal | undefined;
}

/** Options of calls that may charge credits. */
export interface PaidCallOptions extends CallOptions {
  /**
   * Requests with the same key are charged once. Default: a new key for each call. Pass your own when another process may repeat the call.
   */
  idempotencyKey?: string | undefined;
}

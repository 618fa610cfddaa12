export interface ClientOptions {
  /** Where the service is, such as `https://api.example.com`. */
  baseUrl: string;
  /** An API key. Never put a live one into a page that others can read. */
  key: string;
  /** How often a call is sent again, at most. 4 when left out. */
  retries?: number | undefined;
  /** How long one try may take. A minute when left out. */
  timeoutMs?: number | undefined;
  /** In the place of the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined;
}

export interface CallOptions {
  /** Gives the call up. What that means for the money stands on the error. */
  signal?: AbortSignal | undefined;
}

export interface PaidCallOptions extends CallOptions {
  /**
   * Under one key a request is paid for once, however often it is sent. Made anew for each call when left out; give
   * your own when a repeat may come from another process.
   */
  idempotencyKey?: string | undefined;
}

import { send, type TestResponse } from "../send.ts";
import type { Process } from "./process.ts";

/**
 * What somebody wants done. With a key, whoever sends the same key wants the same thing once. A search is its own key: the
 * first name that is looked for.
 */
export type ClientRequest = { readonly key: string | null } & (
  | ({ readonly kind: "verify"; readonly email: string; readonly waitMs: number } & Depth)
  | ({
      readonly kind: "batch" | "file";
      readonly emails: readonly string[];
      /** Left out: the default. */
      readonly maxWaitMinutes?: number;
    } & Depth)
  | { readonly kind: "check"; readonly domain: string; readonly refresh: boolean }
  | { readonly kind: "find" }
);

/** `isShallow`: no mail server is to be asked. */
type Depth = { readonly isShallow?: boolean };

/** The same key for something else is another request. */
export const toRequestId = (request: ClientRequest): string => JSON.stringify(request);

/** One try, and what was heard of it. */
export type ClientOutcome = ClientResponse | "lost";
/** `during`: which of the balances that the account had were its balance at some time of the try. */
type ClientResponse = TestResponse & { readonly during: readonly [first: number, last: number] };

/** Everything that was heard of one wish, in order. */
export type RequestHistory = {
  readonly request: ClientRequest;
  readonly outcomes: readonly ClientOutcome[];
};

export type Client = {
  readonly apiKey: string;
  readonly startProcess: () => Process;
  readonly sleep: (ms: number) => Promise<void>;
  /** Puts a file, always the same one under the same key, and says which key that is. */
  readonly upload: (emails: readonly string[]) => Promise<string>;
  /** How many balances the account had until now. */
  readonly countBalances: () => number;
};

const ATTEMPTS_MAX = 12;

/** A client that does what the messages say: it tries again where that is safe, and nowhere else. */
export const sendUntilDone = async (
  client: Client,
  request: ClientRequest,
): Promise<RequestHistory> => {
  const outcomes: ClientOutcome[] = [];
  while (outcomes.length < ATTEMPTS_MAX) {
    const outcome = await attempt(client, request);
    outcomes.push(outcome);
    const waitMs = getRetryDelay(outcome, request);
    if (waitMs === undefined) break;
    await client.sleep(waitMs);
  }
  return { request: request, outcomes };
};

const attempt = async (client: Client, request: ClientRequest): Promise<ClientOutcome> => {
  const { world, crashed } = client.startProcess();
  const first = Math.max(0, client.countBalances() - 1);
  const [route, body] = await toHttpRequest(client, request);
  const response = send(world, route, {
    key: client.apiKey,
    ...(request.key !== null && { headers: { "idempotency-key": request.key } }),
    body,
  });
  const outcome = await Promise.race([response, crashed]);
  if (outcome === "crashed") return "lost";
  return { ...outcome, during: [first, client.countBalances()] };
};

const toHttpRequest = async (
  { upload }: Client,
  request: ClientRequest,
): Promise<[string, unknown]> => {
  switch (request.kind) {
    case "verify":
      return [
        "POST /v1/verify",
        {
          email: request.email,
          options: { timeout_ms: request.waitMs, ...toDepthOptions(request) },
        },
      ];
    case "check":
      return [
        "POST /v1/deliverability/check",
        { domain: request.domain, refresh: request.refresh },
      ];
    case "find":
      return [
        "POST /v1/find",
        { first_name: request.key, last_name: "Lee", domain: "example.com" },
      ];
    case "batch":
      return ["POST /v1/verify/batch", { emails: request.emails, options: toJobOptions(request) }];
    case "file": {
      const file_key = await upload(request.emails);
      return [
        "POST /v1/verify/file",
        { action: "process", file_key, options: toJobOptions(request) },
      ];
    }
  }
};

type JobOptions = Depth & { readonly maxWaitMinutes?: number };

const toJobOptions = ({ maxWaitMinutes: minutes, ...depth }: JobOptions) => ({
  ...toDepthOptions(depth),
  ...(minutes !== undefined && { max_wait_minutes: minutes }),
});

const toDepthOptions = ({ isShallow = false }: Depth) => ({ deep_verify: !isShallow });

const CLIENT_TIMEOUT_MS = 2_000;

/** Undefined: it is over, or a repeat might be charged again. */
const getRetryDelay = (outcome: ClientOutcome, { key }: ClientRequest): number | undefined => {
  if (outcome === "lost") return key === null ? undefined : CLIENT_TIMEOUT_MS;
  if (outcome.statusCode < 300) return undefined;
  const { message, retryable } = outcome.error as { message: string; retryable?: boolean };
  const seconds = Number(outcome.headers["retry-after"] ?? 1);
  if (/same (?:Idempotency-Key; it|search sent again) .*will not/.test(message))
    return seconds * 1000;
  // Nothing was charged and it may work later: anybody may ask again.
  return retryable && message.includes("Nothing was charged.") ? seconds * 1000 : undefined;
};

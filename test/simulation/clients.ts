import { send, type TestResponse } from "../send.ts";
import type { Process } from "./process.ts";

/**
 * What somebody wants done. With a key, whoever sends the same key wants the same thing once. A search is its own key: the
 * first name that is looked for.
 */
export type ClientRequest = { readonly key: string | null } & Cancelling &
  (
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

/** How long after its acceptance the job of the request is cancelled, and whether by two at once. Absent: it is not. */
type Cancelling = { readonly cancelAfterMs?: number; readonly isCancelledTwice?: boolean };

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
  /** Of those who cancelled its job: everything that each heard. */
  readonly cancels?: readonly (readonly ClientOutcome[])[];
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

/** The same, and then its job, if it has one, is cancelled. */
export const sendAndCancel = async (
  client: Client,
  request: ClientRequest,
): Promise<RequestHistory> => {
  const history = await sendUntilDone(client, request);
  const last = history.outcomes.at(-1);
  const id = last === undefined || last === "lost" ? undefined : last.data?.job_id;
  if (request.cancelAfterMs === undefined || id === undefined) return history;
  await client.sleep(request.cancelAfterMs);
  const cancels = Array.from({ length: request.isCancelledTwice ? 2 : 1 }, () =>
    cancelUntilDone(client, String(id)),
  );
  return { ...history, cancels: await Promise.all(cancels) };
};

const cancelUntilDone = async (client: Client, id: string): Promise<readonly ClientOutcome[]> => {
  const outcomes: ClientOutcome[] = [];
  while (outcomes.length < ATTEMPTS_MAX) {
    const outcome = await sendOnce(client, [`POST /v1/jobs/${id}/cancel`, undefined]);
    outcomes.push(outcome);
    const isDecided = outcome !== "lost" && outcome.statusCode < 500 && !outcome.error?.retryable;
    if (isDecided) break;
    await client.sleep(CLIENT_TIMEOUT_MS);
  }
  return outcomes;
};

const attempt = async (client: Client, request: ClientRequest): Promise<ClientOutcome> =>
  sendOnce(client, await toHttpRequest(client, request), request.key);

const sendOnce = async (
  client: Client,
  [route, body]: readonly [string, unknown],
  idempotencyKey: string | null = null,
): Promise<ClientOutcome> => {
  const { world, crashed } = client.startProcess();
  const first = Math.max(0, client.countBalances() - 1);
  const response = send(world, route, {
    key: client.apiKey,
    ...(idempotencyKey !== null && { headers: { "idempotency-key": idempotencyKey } }),
    ...(body !== undefined && { body }),
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

import type { Readable } from "node:stream";

// The clients of AWS's SDK as every adapter uses them: one attempt, over our transport, with one of four outcomes. Only
// an adapter knows which of its commands may be repeated (docs/design/aws.md).

export type AwsService = "dynamodb" | "lambda" | "s3" | "sqs";

export type AwsCredentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** The time at which AWS stops accepting the credentials. Lambda does not report it. */
  readonly expiration?: Date;
};

export type Aws = {
  readonly region: string;
  readonly credentials: AwsCredentials;
  /** Endpoints that replace those of AWS: emulators. */
  readonly endpoints: Partial<Record<AwsService, string>>;
  readonly transport: AwsTransport;
  readonly now: () => Date;
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<void>;
};

export type SignedRequest = {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly query: Record<string, string>;
  readonly headers: Record<string, string>;
  readonly body?: string | Uint8Array;
};

export type AwsResponse = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Readable;
};

/** Tests inject faults here: below all our code and the SDK's, above the socket. */
export type AwsTransport = (request: SignedRequest, timeoutMs: number) => Promise<AwsResponse>;

export type AwsReply<T> =
  | { readonly kind: "ok"; readonly output: T }
  /** AWS refused the command: nothing was done. */
  | AwsRefusal
  /** Nothing was done, and the command may be repeated. */
  | { readonly kind: "busy"; readonly cause: Error }
  /** AWS sent no reply or an inconclusive reply: it may have executed the command. */
  | { readonly kind: "lost"; readonly cause: Error };

export type AwsRefusal = {
  readonly kind: "refused";
  readonly status: number;
  readonly code: string;
  /** The error in the form of the SDK's client: an instance of the class in the service's model. */
  readonly error: Error;
};

/** No caller waits longer for AWS, and no socket is closed sooner. */
export const AWS_TIMEOUT_MS = 30_000;

export const getEndpoint = ({ endpoints, region }: Aws, service: AwsService): string =>
  endpoints[service] ?? `https://${service}.${region}.amazonaws.com`;

/** The options of every client. `timeoutMs`: how long one attempt waits for the start of its response. */
export const createClientOptions = (
  aws: Aws,
  service: AwsService,
  timeoutMs: (request: SignedRequest) => number,
) => ({
  region: aws.region,
  // Given, so that no client looks for credentials: bundles have no chain of providers (packages/functions/bundle.ts).
  credentials: aws.credentials,
  ...(aws.endpoints[service] && { endpoint: aws.endpoints[service] }),
  // The SDK would repeat every failed call; the adapters repeat only harmless calls (retryAwsCall).
  maxAttempts: 1,
  requestHandler: {
    handle: (request: SignedRequest) =>
      overTransport(async () => ({ response: await aws.transport(request, timeoutMs(request)) })),
  } as never,
});

/** Signs by the clock of the world. The SDK would correct its own clock by the dates of responses. */
export const withClock = <C extends { readonly config: { systemClockOffset: number } }>(
  { now }: Pick<Aws, "now">,
  client: C,
): C => {
  const get = () => now().getTime() - Date.now();
  Object.defineProperty(client.config, "systemClockOffset", { get, set: () => {} });
  return client;
};

class NoResponseError extends Error {}

/** Runs `use`, and marks its failure as a missing response: the outcome of the request is then unknown. */
export const overTransport = async <T>(use: () => Promise<T>): Promise<T> => {
  try {
    return await use();
  } catch (cause) {
    throw new NoResponseError("no response from AWS", { cause });
  }
};

/** The outcome of a command. Throws if it was not sent: then it is a bug, and nothing was done. */
export const toReply = async <T>(command: Promise<T>): Promise<AwsReply<T>> => {
  try {
    return { kind: "ok", output: await command };
  } catch (error) {
    return classify(error as CommandError);
  }
};

/** An error of the SDK. `$fault` is set if it is the service's own: the client could read the whole response. */
export type CommandError = Error & {
  readonly $fault?: "client" | "server";
  readonly $metadata?: { readonly httpStatusCode?: number };
};

const classify = (error: CommandError): Exclude<AwsReply<never>, { readonly kind: "ok" }> => {
  if (error instanceof NoResponseError)
    return { kind: isNeverSent(error.cause) ? "busy" : "lost", cause: error };
  const status = error.$metadata?.httpStatusCode;
  if (status === undefined) throw error;
  if (isBusy(error.name)) return { kind: "busy", cause: error };
  return error.$fault === undefined || status >= 500
    ? { kind: "lost", cause: error }
    : { kind: "refused", status, code: error.name, error };
};

const NEVER_SENT = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
]);

const isNeverSent = (cause: unknown): boolean =>
  cause instanceof Error &&
  (NEVER_SENT.has((cause as NodeJS.ErrnoException).code ?? "") ||
    cause.message.includes("did not establish a connection"));

const BUSY = new Set([
  "ProvisionedThroughputExceeded",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "RequestThrottled",
  "SlowDown",
  "ThrottlingError",
  "ThrottlingException",
  "TooManyRequestsException",
  "TransactionConflict",
  "TransactionConflictException",
  "TransactionInProgressException",
]);

/** The code of a reply, or of one write in a transaction. */
export const isBusy = (code: string): boolean => BUSY.has(code);

/** The retry policy: one entry per retry, with its maximum delay. */
const RETRY_DELAYS_MS = [50, 150, 400, 900];

/**
 * Retries with random delays while AWS is busy, and after a lost reply if executing the command twice is harmless.
 * `wasLost`: the outcome of an earlier attempt is unknown.
 */
export const retryAwsCall = async <T>(
  { sleep, random }: Pick<Aws, "random" | "sleep">,
  lostMax: number,
  attempt: () => Promise<AwsReply<T>>,
): Promise<{ readonly reply: AwsReply<T>; readonly wasLost: boolean }> => {
  let lostCount = 0;
  for (const ms of RETRY_DELAYS_MS) {
    const reply = await attempt();
    if (reply.kind !== "busy" && (reply.kind !== "lost" || lostCount >= lostMax))
      return { reply, wasLost: lostCount > 0 };
    if (reply.kind === "lost") lostCount++;
    await sleep(random() * ms);
  }
  return { reply: await attempt(), wasLost: lostCount > 0 };
};

/** The error of a failed command, for the log. */
export const toAwsError = (
  what: string,
  reply: Exclude<AwsReply<unknown>, { readonly kind: "ok" }>,
): Error => {
  if (reply.kind !== "refused")
    return new Error(`${what}: no answer from AWS (${reply.kind})`, { cause: reply.cause });
  const { status, code, error } = reply;
  return new Error(`${what}: AWS answered ${status} ${code} ${error.message.slice(0, 300)}`);
};

/** The output, or an error with the reason why it is missing. */
export const requireOk = <T>(what: string, reply: AwsReply<T>): T => {
  if (reply.kind !== "ok") throw toAwsError(what, reply);
  return reply.output;
};

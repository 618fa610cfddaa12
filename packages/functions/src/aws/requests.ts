import { createHash, createHmac } from "node:crypto";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { SignatureV4 } from "@smithy/signature-v4";

// One signed request to AWS and its reply. The signature and the sockets are those of AWS's own SDK; its clients are not
// used, because one of them is most of a bundle's size (docs/decisions/0024).

export type AwsService = "dynamodb" | "lambda" | "s3" | "sqs";

export type AwsCredentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
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

export type AwsRequest = {
  readonly method: "DELETE" | "GET" | "HEAD" | "POST" | "PUT";
  /** Escaped. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Default: the service's endpoint. */
  readonly url?: string;
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

/** Tests inject faults here: below all our code, above the socket. */
export type AwsTransport = (request: SignedRequest, timeoutMs: number) => Promise<AwsResponse>;

export type AwsReply =
  | ({ readonly kind: "ok" } & AwsResponse)
  /** AWS refused: nothing was done. */
  | AwsRefusal
  /** Nothing was done, and the request may be repeated. */
  | { readonly kind: "busy"; readonly cause: unknown }
  /** No reply, or an inconclusive one: the request may have been executed. */
  | { readonly kind: "lost"; readonly cause: unknown };

export type AwsRefusal = {
  readonly kind: "refused";
  readonly status: number;
  readonly code: string;
  readonly headers: AwsResponse["headers"];
  readonly text: string;
};

/** No caller waits longer for AWS, and no socket is closed sooner. */
export const AWS_TIMEOUT_MS = 30_000;

export const sendRequest = async (
  aws: Aws,
  service: AwsService,
  awsRequest: AwsRequest,
  timeoutMs: number,
): Promise<AwsReply> => {
  if (timeoutMs > AWS_TIMEOUT_MS)
    throw new RangeError(`no socket stays silent for ${timeoutMs} ms`);
  const { method, body, headers } = awsRequest;
  const withLength = {
    ...awsRequest,
    headers: { ...headers, ...createLengthHeader(method, body) },
  };
  const signed = await createSigner(aws, service).sign(toSignable(aws, service, withLength), {
    signingDate: aws.now(),
  });
  let response: AwsResponse;
  try {
    response = await aws.transport(signed as SignedRequest, timeoutMs);
  } catch (cause) {
    return { kind: isNeverSent(cause) ? "busy" : "lost", cause };
  }
  return response.statusCode < 300 ? { kind: "ok", ...response } : readRefusal(response);
};

/** A presigned URL for exactly this request: every part of it is signed. */
export const createSignedLink = async (
  aws: Aws,
  service: AwsService,
  awsRequest: AwsRequest,
  expiresInSeconds: number,
): Promise<string> => {
  const headers = { ...awsRequest.headers, "x-amz-content-sha256": "UNSIGNED-PAYLOAD" };
  const request = toSignable(aws, service, { ...awsRequest, headers });
  const {
    protocol,
    headers: signedHeaders,
    path,
    query,
  } = (await createSigner(aws, service).presign(request, {
    signingDate: aws.now(),
    expiresIn: expiresInSeconds,
  })) as SignedRequest;
  return `${protocol}//${signedHeaders["host"]}${path}?${encodeQuery(query)}`;
};

const encodeQuery = (query: Readonly<Record<string, string>>): string =>
  Object.entries(query)
    .map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`)
    .join("&");

/** The encoding of signatures (RFC 3986): encodeURIComponent leaves some characters unescaped. */
export const percentEncode = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const toSignable = (aws: Aws, service: AwsService, awsRequest: AwsRequest): SignedRequest => {
  const { method, path, query = {}, headers = {}, body, url } = awsRequest;
  const base = new URL(url ?? getEndpoint(aws, service));
  return {
    method,
    protocol: base.protocol,
    hostname: base.hostname,
    ...(base.port && { port: Number(base.port) }),
    path: `${base.pathname.replace(/\/$/, "")}${path}`,
    query: { ...query },
    headers: { host: base.host, ...headers },
    ...(body !== undefined && { body }),
  };
};

export const getEndpoint = ({ endpoints, region }: Aws, service: AwsService): string =>
  endpoints[service] ?? `https://${service}.${region}.amazonaws.com`;

const createLengthHeader = (
  method: string,
  body: AwsRequest["body"],
): Readonly<Record<string, string>> =>
  body === undefined && method !== "POST" && method !== "PUT"
    ? {}
    : { "content-length": String(Buffer.byteLength(body ?? "")) };

const createSigner = ({ region, credentials }: Aws, service: AwsService) =>
  new SignatureV4({
    service,
    region,
    credentials,
    sha256: Sha256 as never,
    // Only S3 signs the path unchanged.
    uriEscapePath: service !== "s3",
  });

/** The hash that the signer requires, in place of a class; with a secret an HMAC. */
function Sha256(secret?: Uint8Array) {
  const hash = secret ? createHmac("sha256", secret) : createHash("sha256");
  return {
    update: (bytes: Uint8Array) => void hash.update(bytes),
    digest: async () => hash.digest(),
  };
}

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

const readRefusal = async (response: AwsResponse): Promise<AwsReply> => {
  const { statusCode: status, headers } = response;
  try {
    const text = (await buffer(response.body)).toString();
    const code = parseErrorCode(text, headers);
    const cause = new Error(`AWS answered ${status} ${code}`);
    if (isBusy(code)) return { kind: "busy", cause };
    return status >= 500
      ? { kind: "lost", cause }
      : { kind: "refused", status, code, headers, text };
  } catch (cause) {
    return { kind: "lost", cause };
  }
};

/** S3 sends the code in XML, the others in JSON, and Lambda in a header. */
const parseErrorCode = (text: string, headers: AwsResponse["headers"]): string => {
  if (!text.startsWith("{")) return /<Code>([^<]+)<\/Code>/.exec(text)?.[1] ?? "";
  const { __type: type = headers["x-amzn-errortype"] ?? "" } = JSON.parse(text) as {
    __type?: string;
  };
  // "com.amazonaws.dynamodb.v20120810#Code", or "Code:http://…".
  return (type.split("#").at(-1) ?? "").split(":")[0] ?? "";
};

/** A reply whose body was read. */
export type AwsTextReply =
  | Exclude<AwsReply, { readonly kind: "ok" }>
  | ({ readonly kind: "ok" } & AwsTextResponse);

export type AwsTextResponse = Pick<AwsResponse, "headers" | "statusCode"> & {
  readonly text: string;
};

export const sendForText = async (
  ...args: Parameters<typeof sendRequest>
): Promise<AwsTextReply> => {
  const reply = await sendRequest(...args);
  if (reply.kind !== "ok") return reply;
  try {
    const { statusCode, headers } = reply;
    return { kind: "ok", statusCode, headers, text: (await buffer(reply.body)).toString() };
  } catch (cause) {
    return { kind: "lost", cause };
  }
};

/** The retry policy: one entry per retry, with its maximum delay. */
export const RETRY_DELAYS_MS = [50, 150, 400, 900];

type Outcome = { readonly kind: AwsReply["kind"] };

/**
 * Retries with random delays while AWS is busy, and after a lost reply if executing the request twice is harmless.
 * `wasLost`: the outcome of an earlier attempt is unknown.
 */
export const retryAwsCall = async <O extends Outcome>(
  { sleep, random }: Pick<Aws, "random" | "sleep">,
  lostMax: number,
  attempt: () => Promise<O>,
): Promise<{ readonly reply: O; readonly wasLost: boolean }> => {
  let lostCount = 0;
  for (const ms of RETRY_DELAYS_MS) {
    const reply = await attempt();
    if (reply.kind !== "busy" && (reply.kind !== "lost" || lostCount >= lostMax))
      return { reply: reply, wasLost: lostCount > 0 };
    if (reply.kind === "lost") lostCount++;
    await sleep(random() * ms);
  }
  return { reply: await attempt(), wasLost: lostCount > 0 };
};

/** The error of a failed request, for the log. */
export const toAwsError = (what: string, reply: Outcome): Error => {
  if (reply.kind === "refused") {
    const { status, code, text } = reply as AwsRefusal;
    return new Error(`${what}: AWS answered ${status} ${code} ${text.slice(0, 300)}`);
  }
  const { cause } = reply as { readonly cause?: unknown };
  return new Error(`${what}: no answer from AWS (${reply.kind})`, { cause });
};

type OkReply<H> = Extract<H, { readonly kind: "ok" }>;

/** The reply, or an error with the reason why there is none. */
export const requireOk = <H extends AwsReply | AwsTextReply>(
  what: string,
  reply: H,
): OkReply<H> => {
  if (reply.kind !== "ok") throw toAwsError(what, reply);
  return reply as OkReply<H>;
};

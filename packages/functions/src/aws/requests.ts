import { createHash, createHmac } from "node:crypto";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { SignatureV4 } from "@smithy/signature-v4";

// One signed request to AWS, and what came of it. The signature and the sockets are those of AWS's own SDK; its
// clients are not here, because one of them is most of what a Lambda may weigh (docs/decisions/0024).

export type AwsService = "dynamodb" | "lambda" | "s3" | "sqs";

export type AwsCredentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
};

export type Aws = {
  readonly region: string;
  readonly credentials: AwsCredentials;
  /** Where a service is that is not where AWS has it: an emulator. */
  readonly endpoints: Partial<Record<AwsService, string>>;
  readonly transport: AwsTransport;
  readonly now: () => Date;
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<void>;
};

export type AwsRequest = {
  readonly method: "DELETE" | "GET" | "HEAD" | "POST" | "PUT";
  /** As it goes out: escaped. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Without it, where the service is. */
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

/** Where faults are injected: below everything of ours, above the socket. */
export type AwsTransport = (request: SignedRequest, timeoutMs: number) => Promise<AwsResponse>;

export type AwsReply =
  | ({ readonly kind: "ok" } & AwsResponse)
  /** AWS said no: nothing was done. */
  | AwsRefusal
  /** Nothing was done, and it may be asked again. */
  | { readonly kind: "busy"; readonly cause: unknown }
  /** No answer, or none that tells: it was done, or it was not. */
  | { readonly kind: "lost"; readonly cause: unknown };

export type AwsRefusal = {
  readonly kind: "refused";
  readonly status: number;
  readonly code: string;
  readonly headers: AwsResponse["headers"];
  readonly text: string;
};

/** Nobody waits for AWS for longer, and no socket is given up sooner. */
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

/** A link that asks so for whoever holds it, and for nobody else: every part of it is signed. */
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

/** As signatures count letters (RFC 3986): encodeURIComponent leaves some more as they are. */
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
    // S3 alone signs a path as it goes out.
    uriEscapePath: service !== "s3",
  });

/** What the signer asks for in the place of a class: a hash, or with a secret a keyed one. */
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

/** Said by the service, or as the reason of one of several writes. */
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

/** S3 says it in XML; the others in JSON, and Lambda in a header. */
const parseErrorCode = (text: string, headers: AwsResponse["headers"]): string => {
  if (!text.startsWith("{")) return /<Code>([^<]+)<\/Code>/.exec(text)?.[1] ?? "";
  const { __type: type = headers["x-amzn-errortype"] ?? "" } = JSON.parse(text) as {
    __type?: string;
  };
  // "com.amazonaws.dynamodb.v20120810#Code", or "Code:http://…".
  return (type.split("#").at(-1) ?? "").split(":")[0] ?? "";
};

/** What was read to its end. */
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

/** The list is the policy: how often it is asked again, and at most how long before each time. */
export const RETRY_DELAYS_MS = [50, 150, 400, 900];

type Outcome = { readonly kind: AwsReply["kind"] };

/**
 * Asks again while AWS is busy, always after a while that chance decides, and after a lost answer if it does no harm
 * to be heard twice. `wasLost`: of an earlier try it is not known what became of it.
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

/** For what came to nothing: what the log should know. */
export const toAwsError = (what: string, reply: Outcome): Error => {
  if (reply.kind === "refused") {
    const { status, code, text } = reply as AwsRefusal;
    return new Error(`${what}: AWS answered ${status} ${code} ${text.slice(0, 300)}`);
  }
  const { cause } = reply as { readonly cause?: unknown };
  return new Error(`${what}: no answer from AWS (${reply.kind})`, { cause });
};

type OkReply<H> = Extract<H, { readonly kind: "ok" }>;

/** What was asked for, or an error that says why there is none. */
export const requireOk = <H extends AwsReply | AwsTextReply>(
  what: string,
  reply: H,
): OkReply<H> => {
  if (reply.kind !== "ok") throw toAwsError(what, reply);
  return reply as OkReply<H>;
};

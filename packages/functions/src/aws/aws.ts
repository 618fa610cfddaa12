import { createHash, createHmac } from "node:crypto";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { SignatureV4 } from "@smithy/signature-v4";

// One signed request to AWS, and what came of it. The signature and the sockets are those of AWS's own SDK; its
// clients are not here, because one of them is most of what a Lambda may weigh (docs/decisions/0024).

export type Service = "dynamodb" | "lambda" | "s3" | "sqs";

export type Credentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
};

export type Aws = {
  readonly region: string;
  readonly credentials: Credentials;
  /** Where a service is that is not where AWS has it: an emulator. */
  readonly endpoints: Partial<Record<Service, string>>;
  readonly transport: Transport;
  readonly now: () => Date;
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<void>;
};

export type Asking = {
  readonly method: "DELETE" | "GET" | "HEAD" | "POST" | "PUT";
  /** As it goes out: escaped. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Without it, where the service is. */
  readonly url?: string;
};

export type Signed = {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly query: Record<string, string>;
  readonly headers: Record<string, string>;
  readonly body?: string | Uint8Array;
};

export type Response = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Readable;
};

/** Where faults are injected: below everything of ours, above the socket. */
export type Transport = (request: Signed, timeoutMs: number) => Promise<Response>;

export type Heard =
  | ({ readonly kind: "ok" } & Response)
  /** AWS said no: nothing was done. */
  | Refusal
  /** Nothing was done, and it may be asked again. */
  | { readonly kind: "busy"; readonly cause: unknown }
  /** No answer, or none that tells: it was done, or it was not. */
  | { readonly kind: "lost"; readonly cause: unknown };

export type Refusal = {
  readonly kind: "refused";
  readonly status: number;
  readonly code: string;
  readonly headers: Response["headers"];
  readonly text: string;
};

/** Nobody waits for AWS for longer, and no socket is given up sooner. */
export const PATIENCE_MS = 30_000;

export const ask = async (
  aws: Aws,
  service: Service,
  asking: Asking,
  timeoutMs: number,
): Promise<Heard> => {
  if (timeoutMs > PATIENCE_MS) throw new RangeError(`no socket stays silent for ${timeoutMs} ms`);
  const { method, body, headers } = asking;
  const counted = { ...asking, headers: { ...headers, ...lengthOf(method, body) } };
  const signed = await signerFor(aws, service).sign(toSign(aws, service, counted), {
    signingDate: aws.now(),
  });
  let response: Response;
  try {
    response = await aws.transport(signed as Signed, timeoutMs);
  } catch (cause) {
    return { kind: neverSent(cause) ? "busy" : "lost", cause };
  }
  return response.statusCode < 300 ? { kind: "ok", ...response } : refusalOf(response);
};

/** A link that asks so for whoever holds it, and for nobody else: every part of it is signed. */
export const signedLink = async (
  aws: Aws,
  service: Service,
  asking: Asking,
  expiresInSeconds: number,
): Promise<string> => {
  const headers = { ...asking.headers, "x-amz-content-sha256": "UNSIGNED-PAYLOAD" };
  const request = toSign(aws, service, { ...asking, headers });
  const {
    protocol,
    headers: sent,
    path,
    query,
  } = (await signerFor(aws, service).presign(request, {
    signingDate: aws.now(),
    expiresIn: expiresInSeconds,
  })) as Signed;
  return `${protocol}//${sent["host"]}${path}?${queryOf(query)}`;
};

const queryOf = (query: Readonly<Record<string, string>>): string =>
  Object.entries(query)
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .join("&");

/** As signatures count letters (RFC 3986): encodeURIComponent leaves some more as they are. */
export const escaped = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const toSign = (aws: Aws, service: Service, asking: Asking): Signed => {
  const { method, path, query = {}, headers = {}, body, url } = asking;
  const base = new URL(url ?? endpointOf(aws, service));
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

export const endpointOf = ({ endpoints, region }: Aws, service: Service): string =>
  endpoints[service] ?? `https://${service}.${region}.amazonaws.com`;

const lengthOf = (method: string, body: Asking["body"]): Readonly<Record<string, string>> =>
  body === undefined && method !== "POST" && method !== "PUT"
    ? {}
    : { "content-length": String(Buffer.byteLength(body ?? "")) };

const signerFor = ({ region, credentials }: Aws, service: Service) =>
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

const neverSent = (cause: unknown): boolean =>
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

const refusalOf = async (response: Response): Promise<Heard> => {
  const { statusCode: status, headers } = response;
  try {
    const text = (await buffer(response.body)).toString();
    const code = codeIn(text, headers);
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
const codeIn = (text: string, headers: Response["headers"]): string => {
  if (!text.startsWith("{")) return /<Code>([^<]+)<\/Code>/.exec(text)?.[1] ?? "";
  const { __type: type = headers["x-amzn-errortype"] ?? "" } = JSON.parse(text) as {
    __type?: string;
  };
  // "com.amazonaws.dynamodb.v20120810#Code", or "Code:http://…".
  return (type.split("#").at(-1) ?? "").split(":")[0] ?? "";
};

/** What was read to its end. */
export type Read = Exclude<Heard, { readonly kind: "ok" }> | ({ readonly kind: "ok" } & Whole);

export type Whole = Pick<Response, "headers" | "statusCode"> & { readonly text: string };

export const askWhole = async (...asked: Parameters<typeof ask>): Promise<Read> => {
  const heard = await ask(...asked);
  if (heard.kind !== "ok") return heard;
  try {
    const { statusCode, headers } = heard;
    return { kind: "ok", statusCode, headers, text: (await buffer(heard.body)).toString() };
  } catch (cause) {
    return { kind: "lost", cause };
  }
};

/** The list is the policy: how often it is asked again, and at most how long before each time. */
export const DELAYS_MS = [50, 150, 400, 900];

type Outcome = { readonly kind: Heard["kind"] };

/**
 * Asks again while AWS is busy, always after a while that chance decides, and after a lost answer if it does no harm
 * to be heard twice. `wasLost`: of an earlier try it is not known what became of it.
 */
export const persist = async <O extends Outcome>(
  { sleep, random }: Pick<Aws, "random" | "sleep">,
  lostMax: number,
  attempt: () => Promise<O>,
): Promise<{ readonly heard: O; readonly wasLost: boolean }> => {
  let lost = 0;
  for (const ms of DELAYS_MS) {
    const heard = await attempt();
    if (heard.kind !== "busy" && (heard.kind !== "lost" || lost >= lostMax))
      return { heard, wasLost: lost > 0 };
    if (heard.kind === "lost") lost++;
    await sleep(random() * ms);
  }
  return { heard: await attempt(), wasLost: lost > 0 };
};

/** For what came to nothing: what the log should know. */
export const asError = (what: string, heard: Outcome): Error => {
  if (heard.kind === "refused") {
    const { status, code, text } = heard as Refusal;
    return new Error(`${what}: AWS answered ${status} ${code} ${text.slice(0, 300)}`);
  }
  const { cause } = heard as { readonly cause?: unknown };
  return new Error(`${what}: no answer from AWS (${heard.kind})`, { cause });
};

type Sure<H> = Extract<H, { readonly kind: "ok" }>;

/** What was asked for, or an error that says why there is none. */
export const certain = <H extends Heard | Read>(what: string, heard: H): Sure<H> => {
  if (heard.kind !== "ok") throw asError(what, heard);
  return heard as Sure<H>;
};

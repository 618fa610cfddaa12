import { createHash, createHmac } from "node:crypto";
import { buffer } from "node:stream/consumers";
import type { Json } from "@mailproof/core/ports/table";
import { NoCapacityError } from "@mailproof/core/verify/engine";
import { SignatureV4 } from "@smithy/signature-v4";
import {
  AWS_TIMEOUT_MS,
  type Aws,
  type AwsResponse,
  type CommandError,
  getEndpoint,
  overTransport,
  requireOk,
  retryAwsCall,
  type SignedRequest,
  toReply,
} from "./requests.ts";

// The one command that is signed here: the SDK's client for Lambda would be 89 KB in every bundle that verifies
// (docs/design/aws.md).

/** Calls another Lambda and returns its response. */
export type InvokeLambda = (payload: Json) => Promise<Json>;

export const createInvoke = (aws: Aws, name: string): InvokeLambda => {
  const path = `/2015-03-31/functions/${encodeURIComponent(name)}/invocations`;
  return async (payload) => {
    // No retry after a lost reply: a mail server may have been contacted.
    const { reply } = await retryAwsCall(aws, 0, () =>
      toReply(postSigned(aws, path, JSON.stringify(payload))),
    );
    if (reply.kind === "busy")
      throw new NoCapacityError(`all instances of ${name} are busy`, { cause: reply.cause });
    const { headers, text } = requireOk(`calling ${name}`, reply);
    if (headers["x-amz-function-error"]) throw new Error(`${name} failed: ${text.slice(0, 300)}`);
    return JSON.parse(text) as Json;
  };
};

/** Continues the trace of the calling Lambda, as the SDK does for its commands. Lambda sets the variable for each invocation. */
const readTraceHeader = ({ _X_AMZN_TRACE_ID: trace }: NodeJS.ProcessEnv) =>
  trace === undefined ? {} : { "x-amzn-trace-id": trace };

type TextResponse = Pick<AwsResponse, "headers"> & { readonly text: string };

const postSigned = async (aws: Aws, path: string, body: string): Promise<TextResponse> => {
  const { protocol, hostname, port, host } = new URL(getEndpoint(aws, "lambda"));
  const request = {
    method: "POST",
    protocol,
    hostname,
    ...(port && { port: Number(port) }),
    path,
    query: {},
    headers: {
      host,
      "content-length": String(Buffer.byteLength(body)),
      ...readTraceHeader(process.env),
    },
    body,
  };
  const signed = await createSigner(aws).sign(request, { signingDate: aws.now() });
  const { response, text } = await overTransport(async () => {
    // Longer than any HTTP Lambda runs.
    const response = await aws.transport(signed as SignedRequest, AWS_TIMEOUT_MS);
    return { response, text: (await buffer(response.body)).toString() };
  });
  const { statusCode, headers } = response;
  if (statusCode >= 300) throw createCommandError(response, text);
  return { headers, text };
};

/** Builds the error as the SDK's clients do. The header is the code, with a colon and an address after it or without. */
const createCommandError = ({ statusCode, headers }: AwsResponse, text: string): CommandError =>
  Object.assign(new Error(text), {
    name: headers["x-amzn-errortype"]?.split(":")[0] ?? "",
    $fault: statusCode < 500 ? ("client" as const) : ("server" as const),
    $metadata: { httpStatusCode: statusCode },
  });

const createSigner = ({ region, credentials }: Aws) =>
  new SignatureV4({ service: "lambda", region, credentials, sha256: Sha256 as never });

/** The hash that the signer requires, instead of a class; with a secret an HMAC. */
function Sha256(secret?: Uint8Array) {
  const hash = secret ? createHmac("sha256", secret) : createHash("sha256");
  return {
    update: (bytes: Uint8Array) => void hash.update(bytes),
    digest: async () => hash.digest(),
  };
}

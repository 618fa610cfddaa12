import type { Json } from "@mailproof/core/ports/table";
import { NoCapacityError } from "@mailproof/core/smtp-pool/slots/no-capacity-error";
import { AWS_TIMEOUT_MS, type Aws, requireOk, retryAwsCall, sendForText } from "./requests.ts";

/** Calls another Lambda and returns its response. */
export type InvokeLambda = (payload: Json) => Promise<Json>;

export const createInvoke =
  (aws: Aws, name: string): InvokeLambda =>
  async (payload) => {
    const path = `/2015-03-31/functions/${encodeURIComponent(name)}/invocations`;
    // Longer than any caller waits: an HTTP Lambda ends after 29 s.
    const request = { method: "POST", path, body: JSON.stringify(payload) } as const;
    // No retry after a lost reply: a mail server may have been contacted.
    const { reply } = await retryAwsCall(aws, 0, () =>
      sendForText(aws, "lambda", request, AWS_TIMEOUT_MS),
    );
    if (reply.kind === "busy")
      throw new NoCapacityError(`all instances of ${name} are busy`, { cause: reply.cause });
    const { headers, text } = requireOk(`calling ${name}`, reply);
    if (headers["x-amz-function-error"]) throw new Error(`${name} failed: ${text.slice(0, 300)}`);
    return JSON.parse(text) as Json;
  };

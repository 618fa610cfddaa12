import {
  type Aws,
  type AwsReply,
  type AwsService,
  type AwsTextResponse,
  sendForText,
} from "./requests.ts";

export type JsonReply<T> =
  | Exclude<AwsReply, { readonly kind: "ok" }>
  | (Pick<AwsTextResponse, "headers"> & { readonly kind: "ok"; readonly output: T });

/** DynamoDB and SQS: an operation's name in a header, JSON in and out. */
export const createJsonService =
  (aws: Aws, service: AwsService, prefix: string, timeoutMs: number) =>
  async <T = unknown>(operation: string, input: object): Promise<JsonReply<T>> => {
    const reply = await sendForText(
      aws,
      service,
      {
        method: "POST",
        path: "/",
        headers: {
          "content-type": "application/x-amz-json-1.0",
          "x-amz-target": `${prefix}.${operation}`,
        },
        body: JSON.stringify(input),
      },
      timeoutMs,
    );
    if (reply.kind !== "ok") return reply;
    try {
      return { kind: "ok", headers: reply.headers, output: JSON.parse(reply.text) as T };
    } catch (cause) {
      return { kind: "lost", cause };
    }
  };

export type JsonService = ReturnType<typeof createJsonService>;

import { type Aws, askWhole, type Heard, type Service, type Whole } from "./aws.ts";

export type Answered<T> =
  | Exclude<Heard, { readonly kind: "ok" }>
  | (Pick<Whole, "headers"> & { readonly kind: "ok"; readonly output: T });

/** DynamoDB and SQS: an operation's name in a header, JSON in and out. */
export const jsonService =
  (aws: Aws, service: Service, prefix: string, timeoutMs: number) =>
  async <T = unknown>(operation: string, input: object): Promise<Answered<T>> => {
    const heard = await askWhole(
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
    if (heard.kind !== "ok") return heard;
    try {
      return { kind: "ok", headers: heard.headers, output: JSON.parse(heard.text) as T };
    } catch (cause) {
      return { kind: "lost", cause };
    }
  };

export type JsonService = ReturnType<typeof jsonService>;

import { Readable } from "node:stream";
import type { AwsResponse, AwsTransport } from "@mailproof/functions/aws/requests";

/** At most so long before each further attempt. */
export const RETRY_DELAYS_MS = [50, 150, 400, 900];

// What the emulators never do, done between us and them.

type Fault = (next: () => Promise<AwsResponse>) => Promise<AwsResponse>;

/** Each request to an operation, in order, meets the next of these; when they are used up, nothing is wrong. */
export const injectFaults =
  (operation: string, faults: readonly Fault[], met: string[] = []) =>
  (next: AwsTransport): AwsTransport => {
    const left = [...faults];
    return async (request, timeoutMs) => {
      const target = request.headers["x-amz-target"] ?? `${request.method} ${request.path}`;
      if (!target.includes(operation)) return next(request, timeoutMs);
      met.push(String(request.body ?? ""));
      const fault = left.shift();
      return fault ? fault(() => next(request, timeoutMs)) : next(request, timeoutMs);
    };
  };

const createConnectionError = (code: string) =>
  Object.assign(new Error(`the line broke: ${code}`), { code });

export const loseBefore: Fault = () => Promise.reject(createConnectionError("ECONNRESET"));
export const loseAfter: Fault = async (next) => {
  const { body } = await next();
  // A response that is not read keeps its connection.
  body.resume();
  throw createConnectionError("ECONNRESET");
};
export const refuseConnection: Fault = () => Promise.reject(createConnectionError("ECONNREFUSED"));

export const answerWith =
  (statusCode: number, body: object | string): Fault =>
  async () => ({
    statusCode,
    headers: {},
    body: Readable.from([Buffer.from(typeof body === "string" ? body : JSON.stringify(body))]),
  });

export const refuseWith = (code: string, status = 400): Fault =>
  answerWith(status, { __type: `com.amazonaws#${code}`, message: "no" });

export const cancelWith = (...codes: readonly string[]): Fault =>
  answerWith(400, {
    __type: "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
    CancellationReasons: codes.map((Code) => ({ Code })),
  });

export const repeatFault = (count: number, fault: Fault): Fault[] => Array(count).fill(fault);

import { Readable } from "node:stream";
import type { Response, Transport } from "@mailproof/functions/aws/aws";

// What the emulators never do, done between us and them.

type Fault = (next: () => Promise<Response>) => Promise<Response>;

/** Each request to an operation, in order, meets the next of these; when they are used up, nothing is wrong. */
export const meeting =
  (operation: string, faults: readonly Fault[], met: string[] = []) =>
  (next: Transport): Transport => {
    const left = [...faults];
    return async (request, timeoutMs) => {
      const target = request.headers["x-amz-target"] ?? `${request.method} ${request.path}`;
      if (!target.includes(operation)) return next(request, timeoutMs);
      met.push(String(request.body ?? ""));
      const fault = left.shift();
      return fault ? fault(() => next(request, timeoutMs)) : next(request, timeoutMs);
    };
  };

const broken = (code: string) => Object.assign(new Error(`the line broke: ${code}`), { code });

export const lostBefore: Fault = () => Promise.reject(broken("ECONNRESET"));
export const lostAfter: Fault = async (next) => {
  await next();
  throw broken("ECONNRESET");
};
export const unreachable: Fault = () => Promise.reject(broken("ECONNREFUSED"));

export const answering =
  (statusCode: number, body: object | string): Fault =>
  async () => ({
    statusCode,
    headers: {},
    body: Readable.from([Buffer.from(typeof body === "string" ? body : JSON.stringify(body))]),
  });

export const refusing = (code: string, status = 400): Fault =>
  answering(status, { __type: `com.amazonaws#${code}`, message: "no" });

export const cancelled = (...codes: readonly string[]): Fault =>
  answering(400, {
    __type: "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
    CancellationReasons: codes.map((Code) => ({ Code })),
  });

export const times = (count: number, fault: Fault): Fault[] => Array(count).fill(fault);

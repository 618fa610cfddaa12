import { createClient } from "@mailproof/client/client";
import type { ClientOptions } from "@mailproof/client/options";

/** What the other end does with one request: an answer, or an error as fetch throws it. */
export type AnswerStep = Response | Error | ((signal: AbortSignal) => Promise<Response>);

export const createRefusedConnection = (code: string): Error =>
  new TypeError("fetch failed", { cause: Object.assign(new Error(code), { code }) });

export const createRefusal = (
  status: number,
  error: Readonly<Record<string, unknown>>,
  headers: Record<string, string> = {},
): Response =>
  Response.json({ success: false, error: { message: "It is so.", ...error } }, { status, headers });

export const createDataResponse = (body: unknown): Response =>
  Response.json({ success: true, data: body });

/** A client whose other end answers so, one after the other, and that remembers how long it waited. */
export const whenAnswered = (
  answers: readonly AnswerStep[],
  options: Partial<ClientOptions> = {},
) => {
  const sent: { readonly url: string; readonly init: RequestInit }[] = [];
  const waitsMs: number[] = [];
  const left = [...answers];
  const fetch = async (url: string | URL | Request, init: RequestInit = {}) => {
    sent.push({ url: String(url as string), init });
    const next = left.shift();
    if (next === undefined) throw new Error("this request was not expected");
    if (next instanceof Error) throw next;
    return typeof next === "function" ? next(init.signal as AbortSignal) : next;
  };
  const clock = {
    sleep: async (ms: number) => void waitsMs.push(ms),
    random: () => 1,
  };
  const client = createClient(
    { baseUrl: "https://api.example.com/", key: "mp_test_x", fetch, ...options },
    clock,
  );
  return { client, sent, waitsMs };
};

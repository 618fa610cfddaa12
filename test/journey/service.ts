import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { createJudge, type Judge } from "../api/judge.ts";

// A customer's program: it knows a base URL, a key and the service's own /openapi.json, and nothing of the sources.

export type Asked = {
  /** Fields of the route's path, such as `id`. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: object | FormData;
  readonly headers?: Readonly<Record<string, string>>;
  /** Another key than the account's. */
  readonly key?: string;
  readonly idempotencyKey?: string;
};

/** Any: each step states the fields that it is about; the judge has checked all of them. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  readonly text: string;
  readonly data: any;
  readonly error: any;
};

/** `route` as /openapi.json writes it: "GET /v1/jobs/{id}". */
export type Ask = (route: string, asked?: Asked) => Promise<Answer>;

/** A busy service refuses work and says when to come back; so long a program returns. */
const REFUSALS_MAX = 60;

/** Every answer is compared with the document: one that it does not promise is an error that names the route. */
export const openService = async (baseUrl: string, key: string): Promise<Ask> => {
  const judge = await fetchJudge(baseUrl);

  const send = async (route: string, asked: Asked): Promise<Answer> => {
    const response = await fetch(toUrl(baseUrl, route, asked), toRequest(route, key, asked));
    const bytes = Buffer.from(await response.arrayBuffer());
    const text = bytes.toString();
    const headers = Object.fromEntries(response.headers);
    const [method = "", path = ""] = route.split(" ");
    const faults = judge(method, path, { status: response.status, headers, text });
    if (faults.length > 0)
      throw new Error(
        `${route}: the document allows no such answer. ${faults.join("; ")}: ${text.slice(0, 500)}`,
      );
    const json = headers["content-type"]?.startsWith("application/json") ? JSON.parse(text) : {};
    return {
      status: response.status,
      headers,
      bytes,
      text,
      data: json.data ?? json,
      error: json.error,
    };
  };

  return async (route, asked = {}) => {
    // A program that may repeat a paid request has a key for it.
    const isPaid = asked.idempotencyKey !== undefined;
    for (let refusals = 0; ; refusals++) {
      const answer = await send(route, asked);
      const { "retry-after": after } = answer.headers;
      const isBusy =
        [429, 503].includes(answer.status) &&
        after !== undefined &&
        (isPaid || answer.error?.money === "nothing_charged");
      if (!isBusy || refusals === REFUSALS_MAX) return answer;
      await setTimeout(Number(after) * 1_000);
    }
  };
};

export const createKey = (): string => randomUUID();

const fetchJudge = async (baseUrl: string): Promise<Judge> => {
  const response = await fetch(`${baseUrl}/openapi.json`);
  if (response.status !== 200) throw new Error(`GET /openapi.json is ${response.status}`);
  return createJudge(await response.json());
};

const toUrl = (baseUrl: string, route: string, { path = {}, query = {} }: Asked): string => {
  const [, template = ""] = route.split(" ");
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(path[name] ?? ""),
  );
  const search = new URLSearchParams(query).toString();
  return `${baseUrl}${filled}${search && `?${search}`}`;
};

const toRequest = (
  route: string,
  accountKey: string,
  { body, headers = {}, key = accountKey, idempotencyKey }: Asked,
): RequestInit => ({
  method: route.split(" ")[0] ?? "",
  headers: {
    "x-api-key": key,
    ...(body && !(body instanceof FormData) && { "content-type": "application/json" }),
    ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
    ...headers,
  },
  ...(body && { body: body instanceof FormData ? body : JSON.stringify(body) }),
});

import { endpoints } from "@mailproof/api/endpoints";
import type { Endpoint } from "@mailproof/api/http/endpoint";
import { createRouter } from "@mailproof/api/http/router";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";

/** The host name of the gateway. */
export const DOMAIN_NAME = "api.execute-api.eu-central-1.amazonaws.com";

/** A request as the client sends it. */
export type WireRequest = {
  readonly method: string;
  /** Path and query, as sent. */
  readonly url: string;
  /** The headers in the order of the request. A name may occur twice. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Buffer;
  readonly clientIp?: string | undefined;
};

/**
 * Builds the event that API Gateway sends for a request (payload format 2.0): it writes header names in small letters, joins
 * values of one name by a comma, lists cookies separately, decodes path parameters, and encodes a binary body as base64.
 */
export const toEvent = (
  sent: WireRequest,
  listed: readonly Endpoint[] = endpoints,
): APIGatewayProxyEventV2 => {
  const route = createRouter(listed);
  const [rawPath = "", rawQueryString = ""] = sent.url.split(/\?(.*)/s, 2);
  const headers = joinValues(
    (sent.headers ?? []).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const { cookie, ...others } = headers;
  const query = joinValues([...new URLSearchParams(rawQueryString)]);
  const isBase64Encoded = Buffer.isBuffer(sent.body);
  return {
    version: "2.0",
    ...findRoute(route, sent.method, rawPath),
    rawPath: decodeURIComponent(rawPath),
    rawQueryString,
    ...(cookie !== undefined && { cookies: cookie.split("; ") }),
    headers: others,
    ...(rawQueryString !== "" && { queryStringParameters: query }),
    requestContext: createContext(sent, rawPath),
    ...(sent.body !== undefined && {
      body: sent.body.toString(isBase64Encoded ? "base64" : "utf8"),
    }),
    isBase64Encoded,
  };
};

/** The headers that API Gateway sends on to the caller. No response of ours sets two cookies. */
export const toHeaders = ({
  headers = {},
  cookies = [],
}: APIGatewayProxyStructuredResultV2): Readonly<Record<string, string>> => ({
  ...(headers as Readonly<Record<string, string>>),
  ...(cookies[0] !== undefined && { "set-cookie": cookies[0] }),
});

/** The bytes that API Gateway sends on to the caller. */
export const toBytes = ({ body = "", isBase64Encoded }: APIGatewayProxyStructuredResultV2) =>
  Buffer.from(body, isBase64Encoded ? "base64" : "utf8");

type Route = ReturnType<typeof createRouter>;

const joinValues = (pairs: readonly (readonly [string, string])[]): Record<string, string> => {
  const all = Object.groupBy(pairs, ([name]) => name);
  return Object.fromEntries(
    Object.entries(all).map(([name, same = []]) => [
      name,
      same.map(([, value]) => value).join(","),
    ]),
  );
};

const UNROUTED = { routeKey: "$default" };
const COMPAT = { routeKey: "ANY /compat/{vendor}/{path+}" };

const findRoute = (route: Route, method: string, rawPath: string) => {
  try {
    const { endpoint, path, movedTo } = route(method, rawPath);
    if (movedTo !== undefined) return UNROUTED;
    return {
      routeKey: endpoint.route,
      ...(Object.keys(path).length > 0 && { pathParameters: { ...path } }),
    };
  } catch {
    return /^\/compat\/[^/]+\/./.test(rawPath) ? COMPAT : UNROUTED;
  }
};

const createContext = (
  { method, clientIp = "192.0.2.1" }: WireRequest,
  path: string,
): APIGatewayProxyEventV2["requestContext"] => ({
  accountId: "123456789012",
  apiId: "api",
  domainName: DOMAIN_NAME,
  domainPrefix: "api",
  http: { method, path, protocol: "HTTP/1.1", sourceIp: clientIp, userAgent: "test" },
  requestId: "JKJaXmPLvHcESHA=",
  routeKey: "",
  stage: "$default",
  time: "21/Nov/2026:00:00:00 +0000",
  timeEpoch: 1_795_219_200_000,
});

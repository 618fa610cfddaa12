import { Failure } from "@mailproof/core/lib/failure";
import type { Endpoint } from "./endpoint.ts";
import { createMethodFailure } from "./http-failure.ts";
import type { HttpAnswer } from "./respond.ts";

export type Routed<E> = {
  readonly endpoint: E;
  readonly path: Readonly<Record<string, string>>;
  /** The route's own path. Present when the request had slashes after it. */
  readonly movedTo?: string;
};

/** Routes as API Gateway does on AWS, where API Gateway also makes the 404 and 405 responses. */
export const createRouter = <E extends Pick<Endpoint, "route">>(endpoints: readonly E[]) => {
  const routes = endpoints
    .map((endpoint) => {
      const [method = "", pattern = ""] = endpoint.route.split(" ");
      return { endpoint, method, pattern: pattern.split("/") };
    })
    // The more exact route, without braces, comes first: /v1/activity/batch before /v1/activity/{email}.
    .toSorted((a, b) => countBraces(a.pattern) - countBraces(b.pattern));

  return (method: string, rawPath: string): Routed<E> => {
    const path = withoutSlashes(rawPath);
    const segments = path.split("/").map(decode);
    const there = routes.flatMap((route) => {
      const filled = match(route.pattern, segments);
      return filled ? [{ ...route, path: filled }] : [];
    });
    // HEAD is GET without the body (RFC 9110 §9.3.2).
    const wanted = method === "HEAD" ? "GET" : method;
    const found = there.find((route) => route.method === wanted);
    if (found) {
      const { endpoint, pattern, path: filled } = found;
      const moved = path !== rawPath && { movedTo: toPath(pattern, filled) };
      return { endpoint, path: filled, ...moved };
    }
    throw there.length > 0 ? wrongMethod(method, there) : noSuchRoute();
  };
};

const countBraces = (pattern: readonly string[]): number =>
  pattern.filter((part) => part.startsWith("{")).length;

const match = (pattern: string[], segments: string[]): Record<string, string> | undefined => {
  if (pattern.length !== segments.length) return undefined;
  const path: [string, string][] = [];
  for (const [position, part] of pattern.entries()) {
    const segment = segments[position] ?? "";
    if (!part.startsWith("{") && part !== segment) return undefined;
    if (part.startsWith("{") && segment === "") return undefined;
    if (part.startsWith("{")) path.push([part.slice(1, -1), segment]);
  }
  return Object.fromEntries(path);
};

/** A loop, because a regular expression for trailing slashes takes quadratic time. */
export const withoutSlashes = (path: string): string => {
  let length = path.length;
  while (path[length - 1] === "/") length--;
  return path.slice(0, length);
};

/** Derives the path from the route and not from the request: //host would point to another server. */
const toPath = (pattern: readonly string[], filled: Readonly<Record<string, string>>): string =>
  pattern
    .map((part) =>
      part.startsWith("{") ? encodeURIComponent(filled[part.slice(1, -1)] ?? "") : part,
    )
    .join("/");

/** 308 keeps the method and the body. API Gateway matches no route for a path with an additional slash. */
export const permanentRedirect = (path: string, search = ""): HttpAnswer<string> => ({
  statusCode: 308,
  headers: { location: search === "" ? path : `${path}?${search}` },
  body: "",
});

const decode = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Failure("INVALID_REQUEST", "nothing_charged", "path: is not valid percent-encoding.");
  }
};

const noSuchRoute = () =>
  new Failure("NOT_FOUND", "nothing_charged", "No such route. See /docs for all routes.");

const wrongMethod = (method: string, there: readonly { method: string }[]) => {
  const allow = there
    .flatMap((route) => (route.method === "GET" ? ["GET", "HEAD"] : [route.method]))
    .join(", ");
  return createMethodFailure(method, allow);
};

import { Failure } from "@mailproof/core/failure";
import type { Endpoint } from "./endpoint.ts";

/** Where a request goes: an endpoint, and what the braces of its route stand for. */
export type Routed<E> = {
  readonly endpoint: E;
  readonly path: Readonly<Record<string, string>>;
};

/** API Gateway does this on AWS; here it is done the same way, and for its 404 and 405 on AWS too. */
export const routerOf = <E extends Pick<Endpoint, "route">>(endpoints: readonly E[]) => {
  const routes = endpoints.map((endpoint) => {
    const [method = "", pattern = ""] = endpoint.route.split(" ");
    return { endpoint, method, pattern: pattern.split("/") };
  });

  return (method: string, rawPath: string): Routed<E> => {
    const segments = rawPath.split("/").map(decode);
    const there = routes
      .map((route) => ({ ...route, path: match(route.pattern, segments) }))
      // A route without braces is the more exact one: /v1/activity/batch before /v1/activity/{email}.
      .toSorted((a, b) => Object.keys(a.path ?? {}).length - Object.keys(b.path ?? {}).length)
      .filter((route) => route.path !== undefined);
    const found = there.find((route) => route.method === method);
    if (found?.path) return { endpoint: found.endpoint, path: found.path };
    throw there.length > 0 ? wrongMethod(method, there) : noSuchRoute();
  };
};

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

const decode = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Failure("INVALID_REQUEST", "nothing_charged", "path: is not valid percent-encoding.");
  }
};

const noSuchRoute = () =>
  new Failure("NOT_FOUND", "nothing_charged", "There is no such route: /docs tells of all.");

const wrongMethod = (method: string, there: readonly { method: string }[]) => {
  const allow = there.map((route) => route.method).join(", ");
  const what = `${method} is not possible here, but ${allow}.`;
  return new Failure("METHOD_NOT_ALLOWED", "nothing_charged", what, { headers: { allow } });
};

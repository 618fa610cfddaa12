import type { HttpAnswer, HttpRequest } from "./respond.ts";

// Some requests have an answer before the router looks for their endpoint: tools, the operator's commands, files, pages.

/** A request that has no endpoint yet. */
export type UnroutedRequest = Pick<HttpRequest, "id" | "baseUrl"> & {
  readonly method: string;
  readonly rawPath: string;
  /** The query, without its question mark. */
  readonly search: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
};

type Found<Body> = HttpAnswer<Body> | undefined;

/** Undefined: the request is for something else. */
export type Answerer<Request = UnroutedRequest, Body = string | Uint8Array> = (
  request: Request,
) => Found<Body> | Promise<Found<Body>>;

/** The answerers in their order, each with the route that the request log names. */
const ROUTES = {
  mcp: "POST /mcp",
  operator: "operator",
  // Before the documents: a browser's root is the dashboard where there is one.
  dashboard: "dashboard",
  clients: "document",
  status: "document",
  documents: "document",
} as const;

type AnswererName = keyof typeof ROUTES;

/** Puts the answerers that a runtime has into their order. */
export const orderAnswerers = <Request, Body>(
  answerers: Readonly<Partial<Record<AnswererName, Answerer<Request, Body> | undefined>>>,
) =>
  (Object.keys(ROUTES) as AnswererName[]).flatMap((name) => {
    const answer = answerers[name];
    return answer ? [{ route: ROUTES[name], answer }] : [];
  });

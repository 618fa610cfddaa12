import type { HttpAnswer, HttpRequest } from "./respond.ts";

// Answerers respond to requests before the router looks for an endpoint: tools, the operator's commands, files, pages.

export type UnroutedRequest = Pick<HttpRequest, "id" | "baseUrl"> & {
  readonly method: string;
  readonly rawPath: string;
  /** The query, without its question mark. */
  readonly search: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
};

type Found<Body> = HttpAnswer<Body> | undefined;

export type Answerer<Request = UnroutedRequest, Body = string | Uint8Array> = (
  request: Request,
) => Found<Body> | Promise<Found<Body>>;

/** The answerers in their order, each with its route in the request log. */
const ROUTES = {
  mcp: "POST /mcp",
  compat: "ANY /compat/{vendor}/{path+}",
  operator: "operator",
  // The dashboard precedes the documents: in a browser the root path opens the dashboard, if there is one.
  dashboard: "dashboard",
  clients: "document",
  status: "document",
  documents: "document",
} as const;

type AnswererName = keyof typeof ROUTES;

/** Puts a runtime's answerers into their order. */
export const orderAnswerers = <Request, Body>(
  answerers: Readonly<Partial<Record<AnswererName, Answerer<Request, Body> | undefined>>>,
) =>
  (Object.keys(ROUTES) as AnswererName[]).flatMap((name) => {
    const answer = answerers[name];
    return answer ? [{ route: ROUTES[name], answer }] : [];
  });

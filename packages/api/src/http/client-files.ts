import { Failure } from "@mailproof/core/lib/failure";
import type { UnroutedRequest } from "./answerers.ts";
import type { HttpAnswer } from "./respond.ts";

// Every server of the service offers the clients for npm, pip and go.

/** The path of the files. The manual's page about them has the same path without the slash. */
const CLIENTS_PATH = "/docs/clients/";

export type ClientArchives = Readonly<Record<string, string>>;

/** Go's proxies request .info, .mod and the list; a download program needs no more exact type. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  tgz: "application/gzip",
  whl: "application/zip",
  zip: "application/zip",
  info: "application/json; charset=utf-8",
};

const getContentType = (path: string): string =>
  CONTENT_TYPES[path.slice(path.lastIndexOf(".") + 1)] ?? "text/plain; charset=utf-8";

const createNoFileFailure = (): Failure =>
  new Failure(
    "NOT_FOUND",
    "nothing_charged",
    "No client has such a file. /docs/clients lists the clients of this version.",
  );

/** Loads the archives at the first request for a file, because most servers never need them. Undefined for other requests. */
export const createClientFiles = (load: () => Promise<ClientArchives>) => {
  let loading: Promise<ClientArchives> | undefined;
  return ({
    method,
    rawPath,
  }: Pick<UnroutedRequest, "method" | "rawPath">): Promise<HttpAnswer<Buffer>> | undefined => {
    const isRead = method === "GET" || method === "HEAD";
    if (!isRead || !rawPath.startsWith(CLIENTS_PATH) || rawPath === CLIENTS_PATH) return undefined;
    loading ??= load();
    return loading.then((archives) => answer(archives, rawPath.slice(CLIENTS_PATH.length)));
  };
};

const answer = (archives: ClientArchives, path: string): HttpAnswer<Buffer> => {
  const found = Object.hasOwn(archives, path) ? archives[path] : undefined;
  if (found === undefined) throw createNoFileFailure();
  return {
    statusCode: 200,
    headers: {
      "content-type": getContentType(path),
      // The server's next release may have another file of the same name.
      "cache-control": "no-cache",
      "x-content-type-options": "nosniff",
    },
    body: Buffer.from(found, "base64"),
  };
};

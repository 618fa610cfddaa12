import { Failure } from "@mailproof/core/lib/failure";

// The clients that scripts/build/clients.ts makes of this service, for npm, pip and go.

/** Where they are. The page of the manual about them has the same path without the slash. */
export const CLIENTS_PATH = "/docs/clients/";

/** Go's proxies request .info, .mod and the list; a program that fetches a file needs no more exact type. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  tgz: "application/gzip",
  whl: "application/zip",
  zip: "application/zip",
  info: "application/json; charset=utf-8",
};

export const getClientFileType = (path: string): string =>
  CONTENT_TYPES[path.slice(path.lastIndexOf(".") + 1)] ?? "text/plain; charset=utf-8";

export const createNoClientFailure = (): Failure =>
  new Failure(
    "NOT_FOUND",
    "nothing_charged",
    "This server has no such file of a client. On one machine it has those that were built: in a clone by npx node scripts/build/clients.ts, for a package or an executable by npm run build. On AWS there are none.",
  );

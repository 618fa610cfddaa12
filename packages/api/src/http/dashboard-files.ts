import { Failure } from "@mailproof/core/lib/failure";
import type { UnroutedRequest } from "./answerers.ts";
import { createMethodFailure } from "./http-failure.ts";
import type { HttpAnswer } from "./respond.ts";
import { permanentRedirect } from "./router.ts";

// Serves the dashboard's files: from the server on one machine, and from the Lambda of $default on AWS.

export const DASHBOARD_PATH = "/app/";

export const PAGE_FILE = "index.html";
export const ASSETS_FOLDER = "assets/";

/**
 * Allows content only from this server, no text as code, and no frame around the page. `files`: the other origin of presigned
 * links, if this server does not serve files.
 */
export const createPagePolicy = (files?: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ["connect-src 'self'", ...(files === undefined ? [] : [files])].join(" "),
    "img-src 'self' data:",
    "require-trusted-types-for 'script'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

export const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  // The page refers to the files of one build, and the next release has other files.
  "cache-control": "no-cache",
  "content-security-policy": createPagePolicy(),
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
} as const;

/** The name of an asset contains the hash of its content. */
export const ASSET_CACHE_CONTROL = "public, max-age=31536000, immutable";

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: PAGE_HEADERS["content-type"],
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

export const getContentType = (path: string): string =>
  CONTENT_TYPES[path.slice(path.lastIndexOf(".") + 1)] ?? "application/octet-stream";

export type DashboardRequest = Pick<UnroutedRequest, "method" | "rawPath" | "headers">;

/** The root path is the dashboard for browsers; programs get the API's document. */
export const isForDashboard = ({ method, rawPath, headers }: DashboardRequest): boolean =>
  rawPath === "/"
    ? (method === "GET" || method === "HEAD") && /\btext\/html\b/i.test(headers["accept"] ?? "")
    : rawPath.startsWith(DASHBOARD_PATH) || rawPath === DASHBOARD_PATH.slice(0, -1);

/** Redirects a request for a path without a file. `prefix` is the base path. */
export const redirectToDashboard = (
  { method, rawPath }: DashboardRequest,
  prefix = "",
): HttpAnswer<string> | undefined => {
  if (method !== "GET" && method !== "HEAD") throw createMethodFailure(method, "GET, HEAD");
  if (rawPath === "/") return redirectBrowser(prefix);
  return rawPath.startsWith(DASHBOARD_PATH)
    ? undefined
    : permanentRedirect(prefix + DASHBOARD_PATH);
};

const redirectBrowser = (prefix: string): HttpAnswer<string> => ({
  statusCode: 302,
  headers: { location: prefix + DASHBOARD_PATH, vary: "accept", "cache-control": "no-cache" },
  body: "",
});

/** Every address that is not a file is a screen, which the page opens. */
export const findDashboardFile = <File>(
  files: ReadonlyMap<string, File>,
  { rawPath }: DashboardRequest,
): File => {
  const path = rawPath.slice(DASHBOARD_PATH.length);
  const file =
    files.get(path) ?? (path.startsWith(ASSETS_FOLDER) ? undefined : files.get(PAGE_FILE));
  if (file === undefined)
    throw new Failure("NOT_FOUND", "nothing_charged", "The dashboard has no such file.");
  return file;
};

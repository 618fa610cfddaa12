import { Failure } from "@mailproof/core/lib/failure";
import type { UnroutedRequest } from "./answerers.ts";
import { HttpFailure } from "./http-failure.ts";
import type { HttpAnswer } from "./respond.ts";
import { permanentRedirect } from "./router.ts";

// How the dashboard's files are served: by the server on one machine, and by the Lambda of $default on AWS.

/** Where the dashboard is, below the base path. */
export const DASHBOARD_PATH = "/app/";

/** Below it. */
export const PAGE_FILE = "index.html";
export const ASSETS_FOLDER = "assets/";

/**
 * Everything from this server, no text as code, and no frame around it. `files`: where else a presigned link leads, if
 * files are not on this server.
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
  // It names the files of one build. The next release has others.
  "cache-control": "no-cache",
  "content-security-policy": createPagePolicy(),
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
} as const;

/** A file is named by its content. */
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

/** The root is for browsers; programs get what the API says there. */
export const isForDashboard = ({ method, rawPath, headers }: DashboardRequest): boolean =>
  rawPath === "/"
    ? (method === "GET" || method === "HEAD") && /\btext\/html\b/i.test(headers["accept"] ?? "")
    : rawPath.startsWith(DASHBOARD_PATH) || rawPath === DASHBOARD_PATH.slice(0, -1);

/** Where a request leads that has no file: `prefix` is the base path. */
export const redirectToDashboard = (
  { method, rawPath }: DashboardRequest,
  prefix = "",
): HttpAnswer<string> | undefined => {
  if (method !== "GET" && method !== "HEAD") throw createMethodError(method);
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

const createMethodError = (method: string) =>
  new HttpFailure(
    "METHOD_NOT_ALLOWED",
    "nothing_charged",
    `Method ${method} not allowed; use GET, HEAD.`,
    {
      headers: { allow: "GET, HEAD" },
    },
  );

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

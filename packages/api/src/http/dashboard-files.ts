// How the dashboard's files are served: by the server on one machine, and by CloudFront on AWS.

/** Where the dashboard is, below the base path. */
export const DASHBOARD_PATH = "/app/";

/** Below it. Every address that is not a file is a screen, which this page opens. */
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

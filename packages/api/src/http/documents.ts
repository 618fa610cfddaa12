import type { TrustedIssuer } from "@mailproof/core/accounts/access-tokens";
import type { UnroutedRequest } from "./answerers.ts";
import { METADATA_PATH, toResourceMetadata } from "./challenge.ts";
import type { HttpAnswer } from "./respond.ts";
import { withoutSlashes } from "./router.ts";

/**
 * Pages about the API, for people and programs. They are not operations: they have no key, no envelope and no input, and need
 * only this package.
 */
type Document = {
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Clients derive the address for a resource below a path themselves (RFC 9728 §3.1). Our resource is /mcp. */
const METADATA_PATHS = [METADATA_PATH, `${METADATA_PATH}/mcp`];

/** The page that shows the service's state. One machine writes it for each request; on AWS it redirects to /health. */
export const STATUS_PATH = "/status";

/** No content from another origin, no inline content, and no text as code. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; require-trusted-types-for 'script'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const TEXT: Document = { contentType: "text/plain; charset=utf-8" };
const JSON_DOCUMENT: Document = { contentType: "application/json; charset=utf-8" };
const PAGE: Document = {
  contentType: "text/html; charset=utf-8",
  headers: { "content-security-policy": PAGE_POLICY, "referrer-policy": "no-referrer" },
};
/** The response depends on the Accept header, so shared caches must distinguish the documents. */
const BY_ACCEPT = { vary: "accept" };
const MARKDOWN: Document = { contentType: "text/markdown; charset=utf-8", headers: BY_ACCEPT };
const MANUAL_PAGE: Document = { ...PAGE, headers: { ...PAGE.headers, ...BY_ACCEPT } };

export const ROOT_PAGE = "/index.html";

const documents: Readonly<Record<string, Document>> = {
  "/": { ...JSON_DOCUMENT, headers: BY_ACCEPT },
  [ROOT_PAGE]: MANUAL_PAGE,
  "/openapi.json": JSON_DOCUMENT,
  "/postman.json": JSON_DOCUMENT,
  "/llms.txt": TEXT,
  "/llms-full.txt": TEXT,
  "/robots.txt": TEXT,
  // Browsers request this when a page has no icon.
  "/favicon.ico": { contentType: "image/svg+xml" },
  "/docs/style.css": { contentType: "text/css; charset=utf-8" },
  "/docs/search.json": JSON_DOCUMENT,
  "/docs/script.js": { contentType: "text/javascript; charset=utf-8" },
  ...Object.fromEntries(METADATA_PATHS.map((path) => [path, JSON_DOCUMENT])),
};

/** The form guard, which other people's pages include by its hash. The bytes of a version never change, so browsers cache it forever. */
const GUARD: Document = {
  contentType: "text/javascript; charset=utf-8",
  headers: {
    "cache-control": "public, max-age=31536000, immutable",
    "cross-origin-resource-policy": "cross-origin",
  },
};
const GUARD_PATH = /^\/guard-[\d.]+\.m?js$/;

const MANUAL_PATH = /^\/docs(?:\/[a-z][a-z-]*)?(\.md)?$/;

/** The key of the page that a browser gets for a page that the manual does not have. No address leads to it. */
export const MISSING_PAGE = "/missing-page.html";

const findDocument = (path: string): Document | undefined => {
  if (Object.hasOwn(documents, path)) return documents[path];
  if (GUARD_PATH.test(path)) return GUARD;
  const [isManual, markdown] = MANUAL_PATH.exec(path) ?? [];
  return isManual ? (markdown ? MARKDOWN : MANUAL_PAGE) : undefined;
};

/** Placeholder for the base URL. No syntax escapes its characters, or those of a host. */
export const HERE = "https://here.invalid";

/** Placeholder for the path of the base URL, for links between pages: a proxy may have changed the rest. HERE does not contain it. */
export const HERE_PATH = "/path.here.invalid";

/** The writer of each document, by path. Writing all documents at once would delay every other request by 0.2 s. */
export type Writers = Readonly<Record<string, () => string>>;

/** `baseUrl` is the service's own setting: a request header would create a document for each caller. */
type Asked = Pick<UnroutedRequest, "method" | "rawPath" | "headers" | "baseUrl">;

const mayBeShown = (accept = ""): boolean => /\btext\/html\b/i.test(accept);

/** A browser accepts text/html, an agent may accept text/markdown. A final slash changes nothing. */
const pathFor = (rawPath: string, accept = ""): string => {
  const path = withoutSlashes(rawPath) || "/";
  const isForBrowser = mayBeShown(accept);
  if (path === "/") return isForBrowser ? ROOT_PAGE : path;
  const isPage = findDocument(path) === MANUAL_PAGE;
  return isPage && !isForBrowser && /\btext\/markdown\b/i.test(accept) ? `${path}.md` : path;
};

/** Writes each document at its first request; equal requests get the same value. Undefined when no such document exists. */
export const documentsFrom = (openWriters: () => Writers) => {
  let writers: Writers | undefined;
  const texts = new Map<string, string>();
  /** Null for a document that exists only with an issuer. */
  const textAt = (path: string, trust: TrustedIssuer | null): string | null | undefined => {
    if (METADATA_PATHS.includes(path)) return trust && JSON.stringify(toResourceMetadata(trust));
    writers ??= openWriters();
    const text = texts.get(path) ?? (Object.hasOwn(writers, path) ? writers[path]?.() : undefined);
    if (text !== undefined) texts.set(path, text);
    return text;
  };

  // One response per document and per base URL, of which the operator sets only a few.
  const made = new Map<string, HttpAnswer<string>>();

  return (
    { method, rawPath, headers, baseUrl }: Asked,
    trust: TrustedIssuer | null,
  ): HttpAnswer<string> | undefined => {
    const path = pathFor(rawPath, headers["accept"]);
    const isRead = method === "GET" || method === "HEAD";
    const document = isRead ? findDocument(path) : undefined;
    const isForBrowser = mayBeShown(headers["accept"]);
    const isMissing = document === MANUAL_PAGE && isForBrowser && textAt(path, trust) === undefined;
    const key = isMissing ? MISSING_PAGE : path;
    const text = document && textAt(key, trust);
    if (!document || !text) return undefined;
    const name = [key, baseUrl].join("\n");
    const existing = made.get(name);
    if (existing) return existing;
    const answer: HttpAnswer<string> = {
      statusCode: isMissing ? 404 : 200,
      headers: {
        "content-type": document.contentType,
        // The next release may return another document at this address.
        "cache-control": "no-cache",
        "x-content-type-options": "nosniff",
        ...document.headers,
      },
      body: text.replaceAll(`${HERE_PATH}/`, `${toPath(baseUrl)}/`).replaceAll(HERE, baseUrl),
    };
    made.set(name, answer);
    return answer;
  };
};

export const toPath = (baseUrl: string): string => baseUrl.replace(/^https?:\/\/[^/]+/, "");

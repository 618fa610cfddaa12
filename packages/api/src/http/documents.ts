import type { TrustedIssuer } from "@mailproof/core/accounts/access-tokens";
import type { UnroutedRequest } from "./answerers.ts";
import { METADATA_PATH, toResourceMetadata } from "./challenge.ts";
import type { HttpAnswer } from "./respond.ts";
import { withoutSlashes } from "./router.ts";

/**
 * Pages about the API, for people and programs. They are not operations: they have no key, no
 * envelope and no input, and touch nothing but this package.
 */
type Document = {
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** For a resource below a path, clients derive the address themselves (RFC 9728 §3.1). Ours is /mcp. */
const METADATA_PATHS = [METADATA_PATH, `${METADATA_PATH}/mcp`];

/** The page that says what works now. The server on one machine writes it for each request; on AWS it leads to /health. */
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
/** The address answers some clients with another document than others: shared caches must tell them apart. */
const BY_ACCEPT = { vary: "accept" };
const MARKDOWN: Document = { contentType: "text/markdown; charset=utf-8", headers: BY_ACCEPT };
const MANUAL_PAGE: Document = { ...PAGE, headers: { ...PAGE.headers, ...BY_ACCEPT } };

/** Where the root's page stands among the texts. */
export const ROOT_PAGE = "/index.html";

const documents: Readonly<Record<string, Document>> = {
  "/": { ...JSON_DOCUMENT, headers: BY_ACCEPT },
  [ROOT_PAGE]: MANUAL_PAGE,
  "/openapi.json": JSON_DOCUMENT,
  "/postman.json": JSON_DOCUMENT,
  "/llms.txt": TEXT,
  "/llms-full.txt": TEXT,
  "/robots.txt": TEXT,
  // Browsers ask for it where no page names an icon.
  "/favicon.ico": { contentType: "image/svg+xml" },
  "/docs/style.css": { contentType: "text/css; charset=utf-8" },
  "/docs/search.json": JSON_DOCUMENT,
  "/docs/script.js": { contentType: "text/javascript; charset=utf-8" },
  ...Object.fromEntries(METADATA_PATHS.map((path) => [path, JSON_DOCUMENT])),
};

/** What other people's pages include, by its hash: the bytes of a version never change, and a browser asks for them once. */
const GUARD: Document = {
  contentType: "text/javascript; charset=utf-8",
  headers: {
    "cache-control": "public, max-age=31536000, immutable",
    "cross-origin-resource-policy": "cross-origin",
  },
};
const GUARD_PATH = /^\/guard-[\d.]+\.m?js$/;

/** A page of the manual, or the same as Markdown. */
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

/** Placeholder for the path of the base URL, for links between pages: a proxy may have changed the rest. No part of HERE. */
export const HERE_PATH = "/path.here.invalid";

/** By path: how each document is written. All of them together would hold up every other request for 0.2 s. */
export type Writers = Readonly<Record<string, () => string>>;

/** `baseUrl` is the service's own word: a header of the request would make a document for each caller. */
type Asked = Pick<UnroutedRequest, "method" | "rawPath" | "headers" | "baseUrl">;

const mayBeShown = (accept = ""): boolean => /\btext\/html\b/i.test(accept);

/** A browser asks for text/html, an agent may ask for text/markdown; a slash at the end changes nothing. */
const pathFor = (rawPath: string, accept = ""): string => {
  const path = withoutSlashes(rawPath) || "/";
  const isForBrowser = mayBeShown(accept);
  if (path === "/") return isForBrowser ? ROOT_PAGE : path;
  const isPage = findDocument(path) === MANUAL_PAGE;
  return isPage && !isForBrowser && /\btext\/markdown\b/i.test(accept) ? `${path}.md` : path;
};

/** The documents, each written at its first request; equal requests get the same value. Undefined: no such document. */
export const documentsFrom = (openWriters: () => Writers) => {
  let writers: Writers | undefined;
  const texts = new Map<string, string>();
  /** Null: without an issuer the document does not exist. */
  const textAt = (path: string, trust: TrustedIssuer | null): string | null | undefined => {
    if (METADATA_PATHS.includes(path)) return trust && JSON.stringify(toResourceMetadata(trust));
    writers ??= openWriters();
    const text = texts.get(path) ?? (Object.hasOwn(writers, path) ? writers[path]?.() : undefined);
    if (text !== undefined) texts.set(path, text);
    return text;
  };

  // One for each document and each of the few names that the operator gave this process.
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
        // The same address may serve another version tomorrow.
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

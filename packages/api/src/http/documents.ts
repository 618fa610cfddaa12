import type { TrustedIssuer } from "@mailproof/core/accounts/access-tokens";
import { DISCOVERY_PATH, METADATA_PATH, toResourceMetadata } from "./challenge.ts";
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

/** Of a resource below a path clients make the address themselves (RFC 9728 §3.1): ours is /mcp. */
const METADATA_PATHS = [METADATA_PATH, `${METADATA_PATH}/mcp`];

/** No content from another origin, and no inline content. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const JSON_DOCUMENT: Document = { contentType: "application/json; charset=utf-8" };
const PAGE: Document = {
  contentType: "text/html; charset=utf-8",
  headers: { "content-security-policy": PAGE_POLICY, "referrer-policy": "no-referrer" },
};
/** The root answers a program with JSON and a browser with a page: shared caches must tell them apart. */
const BY_ACCEPT = { vary: "accept" };

/** Where the root's page stands among the texts. */
export const ROOT_PAGE = "/index.html";

const documents: Readonly<Record<string, Document>> = {
  "/": { ...JSON_DOCUMENT, headers: BY_ACCEPT },
  [ROOT_PAGE]: { ...PAGE, headers: { ...PAGE.headers, ...BY_ACCEPT } },
  "/openapi.json": JSON_DOCUMENT,
  "/docs": PAGE,
  "/docs/style.css": { contentType: "text/css; charset=utf-8" },
  "/docs/script.js": { contentType: "text/javascript; charset=utf-8" },
  ...Object.fromEntries(METADATA_PATHS.map((path) => [path, JSON_DOCUMENT])),
};

/** Placeholder for the base URL. No syntax escapes its characters, or those of a host. */
export const HERE = "https://here.invalid";

/** Placeholder for the path of the base URL, for links between pages: a proxy may have changed the rest. No part of HERE. */
export const HERE_PATH = "/path.here.invalid";

/** By path: every document, built before the first request. */
export type Texts = Readonly<Record<string, string>>;

type Asked = {
  readonly method: string;
  readonly rawPath: string;
  /** The header Accept. */
  readonly accept: string | undefined;
  readonly baseUrl: string;
  readonly trust: TrustedIssuer | null;
};

/** A browser asks for text/html; a slash at the end changes nothing. */
const pathFor = (rawPath: string, accept = ""): string => {
  const path = withoutSlashes(rawPath) || "/";
  return path === "/" && /\btext\/html\b/i.test(accept) ? ROOT_PAGE : path;
};

/** The documents, written at the first request; equal requests get the same value. Undefined: no such document. */
export const documentsFrom = (write: () => Texts) => {
  let texts: Texts | undefined;
  /** Null: without an issuer the document does not exist. */
  const textAt = (path: string, trust: TrustedIssuer | null): string | null | undefined => {
    if (METADATA_PATHS.includes(path)) return trust && JSON.stringify(toResourceMetadata(trust));
    texts ??= write();
    return texts[path];
  };

  const made = new Map<string, HttpAnswer<string>>();

  return ({ method, rawPath, accept, baseUrl, trust }: Asked): HttpAnswer<string> | undefined => {
    const path = pathFor(rawPath, accept);
    const isRead = method === "GET" || method === "HEAD";
    const document = isRead && Object.hasOwn(documents, path) && documents[path];
    const text = document && textAt(path, trust);
    if (!document || !text) return undefined;
    const name = [path, baseUrl, trust?.issuer].join("\n");
    const existing = made.get(name);
    if (existing) return existing;
    const answer: HttpAnswer<string> = {
      statusCode: 200,
      headers: {
        "content-type": document.contentType,
        // The same address may lead to another version tomorrow.
        "cache-control": "no-cache",
        "x-content-type-options": "nosniff",
        ...document.headers,
      },
      body: text
        .replaceAll(`${HERE}${DISCOVERY_PATH}`, discoveryUrl(trust?.issuer ?? baseUrl))
        .replaceAll(`${HERE_PATH}/`, `${toPath(baseUrl)}/`)
        .replaceAll(`${HERE}/`, `${baseUrl.replace(/\/$/, "")}/`)
        .replaceAll(HERE, baseUrl),
    };
    const [oldest] = made.keys();
    if (made.size >= DOCUMENTS_MAX && oldest !== undefined) made.delete(oldest);
    made.set(name, answer);
    return answer;
  };
};

/** The name of the server stands in some documents, and a client may send any: a few documents under a few names. */
const DOCUMENTS_MAX = 32;

/** Some issuers end with a slash. */
const discoveryUrl = (issuer: string): string => issuer.replace(/\/$/, "") + DISCOVERY_PATH;

const toPath = (baseUrl: string): string =>
  baseUrl.replace(/^https?:\/\/[^/]+/, "").replace(/\/$/, "");

const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i;

/** The base URL for a request, from its Host header. A value that is not a host becomes a path of this server. */
export const toBaseUrl = (protocol: "http" | "https", host: string | undefined): string =>
  host !== undefined && HOST.test(host) ? `${protocol}://${host}` : "/";

import type { Trust } from "@mailproof/core/access/tokens";
import { METADATA_PATH, metadataOf } from "./challenge.ts";
import { docsPage, PAGE_POLICY } from "./docs/page.ts";
import { SCRIPT } from "./docs/script.ts";
import { STYLE } from "./docs/style.ts";
import { openapi } from "./openapi/openapi.ts";
import type { HttpAnswer } from "./respond.ts";

/**
 * Pages for people and programs that want to read about the API. They are no operations: they have no key, no
 * envelope and no input, and touch nothing but this package.
 */
type Document = {
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `baseUrl`: where the reader reaches us. Null: it is not there without an issuer. */
  readonly write: (baseUrl: string, trust: Trust | null) => string | null;
};

const protectedResource: Document = {
  contentType: "application/json; charset=utf-8",
  write: (_baseUrl, trust) => trust && JSON.stringify(metadataOf(trust)),
};

const documents: Readonly<Record<string, Document>> = {
  "/openapi.json": {
    contentType: "application/json; charset=utf-8",
    write: (baseUrl) => JSON.stringify(openapi(baseUrl)),
  },
  "/docs": {
    contentType: "text/html; charset=utf-8",
    headers: { "content-security-policy": PAGE_POLICY, "referrer-policy": "no-referrer" },
    write: docsPage,
  },
  "/docs/style.css": { contentType: "text/css; charset=utf-8", write: () => STYLE },
  "/docs/script.js": { contentType: "text/javascript; charset=utf-8", write: () => SCRIPT },
  [METADATA_PATH]: protectedResource,
  // Of a resource below a path clients make the address themselves (RFC 9728 §3.1): ours is /mcp.
  [`${METADATA_PATH}/mcp`]: protectedResource,
};

/** Undefined where no document is. */
export const documentAt = (
  method: string,
  path: string,
  baseUrl: string,
  trust: Trust | null,
): HttpAnswer<string> | undefined => {
  const document = method === "GET" && Object.hasOwn(documents, path) && documents[path];
  const body = document && document.write(baseUrl, trust);
  if (!document || !body) return undefined;
  return {
    statusCode: 200,
    headers: {
      "content-type": document.contentType,
      // The same address may lead to another version tomorrow.
      "cache-control": "no-cache",
      "x-content-type-options": "nosniff",
      ...document.headers,
    },
    body,
  };
};

const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i;

/** Where a caller reaches us, by what its request says. Whatever is no host is told as a path of this server's. */
export const baseUrlOf = (protocol: "http" | "https", host: string | undefined): string =>
  host !== undefined && HOST.test(host) ? `${protocol}://${host}` : "/";

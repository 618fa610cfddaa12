import { readHealth } from "@mailproof/api/endpoints/get-health";
import type { UnroutedRequest } from "@mailproof/api/http/answerers";
import { STATUS_PATH, toPath } from "@mailproof/api/http/documents";
import type { HttpAnswer } from "@mailproof/api/http/respond";
import { withoutSlashes } from "@mailproof/api/http/router";
import type { AppWorld } from "@mailproof/core/app-world";
import { statusPage } from "@mailproof/docs-site/status-page";

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  // The page loads the manual's style sheet and nothing else.
  "content-security-policy":
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
};

/**
 * What works now, for people. 200 whatever it says: the page itself could be shown, and a proxy may put a page of its own
 * in the place of a 5xx. Programs have /health. Undefined: the request is for something else.
 */
export const answerStatus = async (
  world: AppWorld,
  { method, rawPath, baseUrl }: UnroutedRequest,
): Promise<HttpAnswer<string> | undefined> => {
  const isRead = method === "GET" || method === "HEAD";
  if (!isRead || withoutSlashes(rawPath) !== STATUS_PATH) return undefined;
  const body = statusPage(await readHealth(world), toPath(baseUrl));
  return { statusCode: 200, headers: HEADERS, body };
};

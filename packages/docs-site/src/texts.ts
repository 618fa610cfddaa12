import {
  HERE,
  HERE_PATH,
  ROOT_PAGE,
  STATUS_PATH,
  type Writers,
} from "@mailproof/api/http/documents";
import { openapi } from "@mailproof/api/openapi/openapi";
import { buildPostmanCollection } from "@mailproof/api/openapi/postman";
import { SCRIPT as GUARD, MODULE, MODULE_PATH, SCRIPT_PATH } from "@mailproof/guard/built";
import { html } from "./html.ts";
import { docsPage } from "./page.ts";
import { SCRIPT } from "./script.ts";
import { SEARCH_INDEX_PATH, writeSearchIndex } from "./search-index.ts";
import { STYLE } from "./style.ts";
import { topicWriters } from "./topics.ts";

const FIRST_EMAIL = "ada.lovelace@valid.lab.mailproof.test";

const rootDocument = (baseUrl: string): string =>
  JSON.stringify({
    service: "mailproof",
    docs: `${baseUrl}/docs`,
    openapi: `${baseUrl}/openapi.json`,
    health: `${baseUrl}/health`,
    mcp: `${baseUrl}/mcp`,
  });

const rootPage = (baseUrl: string): string => {
  const curl = `curl -s ${baseUrl}/v1/verify -H "X-Api-Key: $MAILPROOF_KEY" -H 'Content-Type: application/json' -d '{"email": "${FIRST_EMAIL}"}'`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Mailproof</title>
<link rel="stylesheet" href="${HERE_PATH}/docs/style.css">
</head>
<body>
<main>
<h1>Mailproof</h1>
<p>This is an API that verifies email addresses and checks domains that send mail.</p>
<ul>
<li><a href="${HERE_PATH}/docs">Documentation</a>: guides and every operation</li>
<li><a href="${HERE_PATH}/openapi.json">OpenAPI document</a>: the same for programs</li>
<li><a href="${HERE_PATH}${STATUS_PATH}">Status</a>: what works now</li>
</ul>
<h2>Send a first request</h2>
<pre><code>${curl}</code></pre>
<p>The server prints a key when it starts; the operator of a deployed service creates keys.</p>
</main>
</body>
</html>
`.markup;
};

/** Every document that is the same for all deployments, made from the list of endpoints. */
export const openWriters = (): Writers => ({
  "/": () => rootDocument(HERE),
  [ROOT_PAGE]: () => rootPage(HERE),
  "/openapi.json": () => JSON.stringify(openapi(HERE)),
  "/postman.json": () => JSON.stringify(buildPostmanCollection(HERE)),
  "/docs": () => docsPage(HERE),
  ...topicWriters(HERE),
  [SEARCH_INDEX_PATH]: () => writeSearchIndex(docsPage(HERE)),
  "/docs/style.css": () => STYLE,
  "/docs/script.js": () => SCRIPT,
  [SCRIPT_PATH]: () => GUARD,
  [MODULE_PATH]: () => MODULE,
});

export const texts = (): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(openWriters()).map(([path, write]) => [path, write()]));

import { HERE, ROOT_PAGE, type Writers } from "@mailproof/api/http/documents";
import { openapi } from "@mailproof/api/openapi/openapi";
import { buildPostmanCollection } from "@mailproof/api/openapi/postman";
import { SCRIPT as GUARD, MODULE, MODULE_PATH, SCRIPT_PATH } from "@mailproof/guard/built";
import { docsPage } from "./page.ts";
import { SCRIPT } from "./script.ts";
import { SEARCH_INDEX_PATH, writeSearchIndex } from "./search-index.ts";
import { STYLE } from "./style.ts";
import { topicWriters } from "./topics.ts";
import { rootDocument, rootPage } from "./welcome.ts";

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

import { HERE, ROOT_PAGE, type Texts } from "@mailproof/api/http/documents";
import { openapi } from "@mailproof/api/openapi/openapi";
import { docsPage } from "./page.ts";
import { SCRIPT } from "./script.ts";
import { STYLE } from "./style.ts";
import { topicTexts } from "./topics.ts";
import { rootDocument, rootPage } from "./welcome.ts";

/** Every document that is the same for all deployments, made from the list of endpoints. */
export const texts = (): Texts => ({
  "/": rootDocument(HERE),
  [ROOT_PAGE]: rootPage(HERE),
  "/openapi.json": JSON.stringify(openapi(HERE)),
  "/docs": docsPage(HERE),
  ...topicTexts(HERE),
  "/docs/style.css": STYLE,
  "/docs/script.js": SCRIPT,
});

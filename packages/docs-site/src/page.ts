import { HERE_PATH, STATUS_PATH } from "@mailproof/api/http/documents";
import { openapi } from "@mailproof/api/openapi/openapi";
import { TAGS } from "@mailproof/api/openapi/tags";
import type { Guide, WriteSnippets } from "./guide.ts";
import { additions, mark } from "./guide-additions.ts";
import { clients } from "./guide-clients.ts";
import { signUpForms } from "./guide-forms.ts";
import { webhooks } from "./guide-webhooks.ts";
import { errors, idempotency, rateLimits } from "./guides-money.ts";
import { jobs, prices, quickStart, statuses, testAddresses } from "./guides-start.ts";
import { LOGO, openHtml } from "./head.ts";
import { type Html, html } from "./html.ts";
import { type Listed, listShapes, operationPart, operationsIn, shapesPart } from "./reference.ts";
import { fewSnippetsFor } from "./snippets.ts";

export const GUIDES: readonly Guide[] = [
  quickStart,
  statuses,
  testAddresses,
  prices,
  errors,
  idempotency,
  rateLimits,
  jobs,
  webhooks,
  signUpForms,
  clients,
  additions,
];

export const docsPage = (baseUrl: string): string => {
  const document = openapi(baseUrl);
  const operations = operationsIn(document);
  const byTag = Object.entries(TAGS).map(
    ([tag, lead]) => [tag, lead, operations.filter((one) => one.tag === tag)] as const,
  );
  return html`${openPage({ title: "Mailproof API", description: DESCRIPTION, twin: "/docs.md", baseUrl, brand: "#top" })}
<nav class="side" id="side" aria-label="Contents">
${SEARCH}
<div class="contents">
<h2>Guides</h2><ul>${GUIDES.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>
${byTag.map(([tag, , all]) => html`<h2>${tag}</h2><ul>${all.map(linkTo)}</ul>`)}
<h2>Schemas</h2><ul><li><a href="#shapes">All schemas</a></li></ul>
</div>
</nav>
<main id="content">
<h1>Mailproof API</h1>
<p class="tagline">Verify whether an address can receive mail, and check whether a domain is set up to send it. Every verdict has its reason, and no credit is charged twice.</p>
<ul class="facts"><li>base URL <code>${baseUrl}</code></li><li><a href="${HERE_PATH}/openapi.json">OpenAPI 3.1</a></li><li><a href="${HERE_PATH}/llms.txt">llms.txt</a></li><li><a href="${HERE_PATH}${STATUS_PATH}">status</a></li><li>version 1.0.0</li></ul>
<p>Each guide and each operation has a page of its own, with its examples in eight languages, at <code>/docs/</code> and its name, such as <a href="${HERE_PATH}/docs/verify-email">/docs/verify-email</a>; with <code>.md</code> behind it, it is Markdown. Operations with + are <a href="#beyond-the-contract">beyond the contract</a>.</p>
${GUIDES.map((guide) => guidePart(guide, baseUrl, fewSnippetsFor))}
${byTag.map(([tag, lead, all]) => html`<div class="group"><h2 id="tag-${tag}">${tag}</h2><p class="lead">${lead}</p>${all.map((one) => operationPart(document, baseUrl, one, fewSnippetsFor))}</div>`)}
<div class="group"><h2 id="shapes">Schemas</h2><p class="lead">The objects of requests and responses. New fields may be added to responses; none will be removed.</p>${shapesPart(document, listShapes(document))}</div>
</main>
</div>
</body>
</html>
`.markup;
};

/** Searches all pages of the manual; visible only with scripts. */
export const SEARCH = html`<div class="search" role="search"><input type="search" placeholder="Search" aria-label="Search the manual" autocomplete="off" spellcheck="false"><kbd>/</kbd></div>
<ul class="found" aria-live="polite"></ul>`;

const DESCRIPTION = "Mailproof: verify email addresses, and check domains that send mail.";

type Head = {
  readonly title: string;
  readonly description: string;
  readonly twin: string;
  readonly baseUrl: string;
  readonly brand: string;
};

export const openPage = ({ title, description, twin, baseUrl, brand }: Head): Html =>
  html`${openHtml(
    { title, description, path: HERE_PATH },
    html`<link rel="alternate" type="text/markdown" href="${HERE_PATH}${twin}">
<script src="${HERE_PATH}/docs/script.js" defer></script>
`,
  )}
<header class="bar">
<a class="brand" href="${brand}">${LOGO}Mailproof</a>
<span class="base"><code>${baseUrl}</code></span>
<a class="app" href="${HERE_PATH}/app/">Dashboard</a>
<button class="menu" type="button" aria-expanded="false" aria-controls="side">Menu</button>
</header>
<div class="frame" id="top">`;

export const guidePart = (
  { id, title, write }: Guide,
  baseUrl: string,
  snippets: WriteSnippets,
): Html => html`
<section class="part" id="${id}">
<h2>${title}<a class="anchor" href="#${id}" aria-label="Link to ${title}">#</a></h2>
${write(baseUrl, snippets)}
</section>`;

const linkTo = ({ id, title, method, isAddition }: Listed): Html =>
  html`<li><a href="#${id}"><span class="method ${method}">${method === "delete" ? "DEL" : method.toUpperCase()}</span>${title}${mark(isAddition)}</a></li>`;

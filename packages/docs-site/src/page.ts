import { HERE_PATH, STATUS_PATH } from "@mailproof/api/http/documents";
import { EVENTS } from "@mailproof/api/openapi/components";
import { openapi } from "@mailproof/api/openapi/openapi";
import { getDescription } from "@mailproof/api/openapi/schema";
import { TAGS } from "@mailproof/api/openapi/tags";
import { clientsAt } from "./clients/programs.ts";
import type { Guide, WriteSnippets } from "./guide.ts";
import { additions, mark } from "./guide-additions.ts";
import { signUpForms } from "./guide-forms.ts";
import { errors, idempotency, rateLimits } from "./guides-money.ts";
import { jobs, prices, quickStart, statuses, testAddresses } from "./guides-start.ts";
import { LOGO, openHtml } from "./head.ts";
import { block, code, type Html, html, inLanguages, table } from "./html.ts";
import { VERIFYING } from "./programs.ts";
import { type Listed, listShapes, operationPart, operationsIn, shapesPart } from "./reference.ts";
import { fewSnippetsFor } from "./snippets.ts";

const clients: Guide = {
  id: "clients",
  title: "Clients and agents",
  summary:
    "Clients for TypeScript, Python and Go from this server, the OpenAPI document, and the tools for agents.",
  write: (baseUrl) => {
    const all = clientsAt(baseUrl);
    return html`
<p class="lead">Use plain HTTP, or a client that this server has:</p>
${all.map(({ language, install }) => html`<h3>${language}</h3>${block(install, "shell")}`)}
<p>None of them needs another package. The client for TypeScript and JavaScript runs in Node, Deno, Bun and browsers, the others need Python 3.11 and Go 1.24. Each sends every paid call with an Idempotency-Key and sends it again under the same key, after the time that <code>Retry-After</code> names, so a lost response is never charged twice. Each reads lists page by page.</p>
<h3>A file in three steps</h3>
<p>Each program uploads <code>customers.csv</code>, has it verified, and writes <code>results.csv</code>.</p>
${inLanguages(all.map(({ language, program }) => ({ language, text: program })))}
<h3>Any other language</h3>
<p><a href="${HERE_PATH}/openapi.json">openapi.json</a> is an OpenAPI 3.1 document with a name for every operation and schema. <a href="${HERE_PATH}/postman.json">postman.json</a> is a collection for Postman and Bruno, with a new Idempotency-Key for each request.</p>
<h3>Agents</h3>
<p>Every operation is also a tool of the Model Context Protocol, with the same keys, scopes, prices and repeats. Connect with a key as a bearer token:</p>
${block(`${baseUrl}/mcp`, "shell")}
<p>Ten tools are listed; <code>/mcp?tools=all</code> lists all. A client that starts a program runs <code>mailproof mcp</code>. <a href="${HERE_PATH}/llms.txt">llms.txt</a> lists every page of this manual as Markdown.</p>`;
  },
};

const SENT = `POST /mailproof HTTP/1.1
Content-Type: application/json
webhook-id: evt_2f1c0d6e-5a0b-4a8e-9c55-0a4c6f3f7d11
webhook-timestamp: 1795219200
webhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=

{"id": "evt_2f1c0d6e-5a0b-4a8e-9c55-0a4c6f3f7d11", "type": "job.completed",
 "created_at": "2026-11-21T00:00:00.000Z",
 "data": {"job_id": "job_7b1e…", "status": "completed", "progress": {…}}}`;

const webhooks: Guide = {
  id: "webhooks",
  title: "Webhooks",
  summary: "Events, their signatures, and how deliveries are retried.",
  write: () => html`
<p class="lead">Get notified instead of polling. <a href="#createWebhook">Subscribe</a> an HTTPS address to events; store the secret from the response; it is shown only once.</p>
${table(
  ["Event", "Meaning"],
  EVENTS.map(([event, schema]) => [code(event), html`${getDescription(schema) ?? ""}`]),
)}
<h3>What arrives</h3>
${block(SENT, "http")}
<h3>Is it from us?</h3>
<p>The signature is that of Standard Webhooks, so any library of that standard can check it. Without a library:</p>
${inLanguages(VERIFYING)}
<h3>What to expect</h3>
<ul>
<li><strong>Respond with 2xx within 10 seconds</strong>, then do the work. Any other response is retried for a day, with increasing pauses.</li>
<li><strong>At least once.</strong> An event may arrive twice, with the same <code>webhook-id</code>. Remember the ids for two days.</li>
<li><strong>In no order.</strong> <code>created_at</code> is the time of the event.</li>
<li><strong>410 disables</strong> the webhook at once; so do five days without a successful delivery. <a href="#updateWebhook">Enable</a> it again afterwards.</li>
<li><a href="#testWebhook">Send a test event</a>, <a href="#listDeliveries">list deliveries</a> with their responses, <a href="#retryDelivery">send one again</a>, or <a href="#replayDeliveries">all that failed since a time</a>.</li>
<li><strong>While you develop</strong>, <code>mailproof listen http://localhost:3000/hooks</code> brings the events to your machine, by <a href="#listEvents">reading them</a>.</li>
<li>The callback of a batch (<code>webhook_url</code>) is signed when you send a <code>webhook_secret</code>: use <code>whsec_</code> and base64 for a library, or any other text, whose bytes are then the key. The callback of a file is never signed: treat it as a hint to read the job. <a href="#listCallbacks">List its deliveries</a> by job.</li>
</ul>`,
};

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

import { HERE_PATH, MISSING_PAGE, type Writers } from "@mailproof/api/http/documents";
import { ERRORS } from "@mailproof/api/openapi/errors";
import { type OpenApi, openapi } from "@mailproof/api/openapi/openapi";
import { TAGS } from "@mailproof/api/openapi/tags";
import { mark } from "./guide-additions.ts";
import { errors } from "./guides-money.ts";
import { ICON } from "./head.ts";
import { type Html, html, NOTHING } from "./html.ts";
import { toMarkdown } from "./markdown.ts";
import { GUIDES, guidePart, openPage, SEARCH } from "./page.ts";
import { findShapes, listShapes, operationPart, operationsIn, shapesPart } from "./reference.ts";
import { toName } from "./search-index.ts";
import { snippetsFor } from "./snippets.ts";

// A page for each guide and each operation at its own URL, and the same as Markdown for programs.

type Topic = {
  readonly name: string;
  readonly id: string;
  readonly title: string;
  readonly group: string;
  readonly summary: string;
  /** An operation beyond the contract. */
  readonly isAddition?: boolean;
  readonly content: () => Html;
};

const GUIDES_GROUP = "Guides";
const SCHEMAS: Omit<Topic, "content"> = {
  name: "schemas",
  id: "shapes",
  title: "Schemas",
  group: "Schemas",
  summary: "The objects of requests and responses.",
};

const MISSING: Topic = {
  name: "",
  id: "missing",
  title: "Page not found",
  group: "",
  summary: "The manual has no page with this address.",
  content: () => html`
<section class="part" id="missing"><h2>Page not found</h2><p class="lead">The manual has no page with this address. The list beside this text has all of them, and the field above it searches them.</p></section>`,
};

const listTopics = (baseUrl: string): readonly Topic[] => {
  const document = openapi(baseUrl);
  const guides = GUIDES.map((guide) => ({
    ...guide,
    name: guide.id,
    group: GUIDES_GROUP,
    content: () => guidePart(guide, baseUrl, snippetsFor),
  }));
  const operations = operationsIn(document).map((one) => ({
    name: toName(one.id),
    id: one.id,
    title: one.title,
    group: one.tag,
    summary: `${one.operation.summary}.`,
    isAddition: one.isAddition,
    content: () => withShapes(document, operationPart(document, baseUrl, one, snippetsFor)),
  }));
  return [...guides, ...operations, { ...SCHEMAS, content: () => schemasPart(document) }];
};

const withShapes = (document: OpenApi, part: Html): Html => {
  const names = findShapes(document, part);
  return names.length === 0
    ? part
    : html`${part}<h2 id="shapes">Schemas</h2>${shapesPart(document, names)}`;
};

const schemasPart = (document: OpenApi): Html => html`
<section class="part" id="${SCHEMAS.id}"><h2>${SCHEMAS.title}</h2><p class="lead">${SCHEMAS.summary}</p></section>
${shapesPart(document, listShapes(document))}`;

/** `end` is an anchor with its #, a suffix of the name, or empty. */
type ToAddress = (name: string, end: string) => string;

/** Rewrites links within the page of everything to the URLs of the topics' own pages. */
const withAddresses = ({ markup }: Html, topics: readonly Topic[], toAddress: ToAddress): Html => {
  const own = new Set([...markup.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  return {
    markup: markup.replaceAll(/href="#([^"]+)"/g, (link, id: string) => {
      if (own.has(id)) return link;
      const within = findTopicOfPart(id);
      if (within !== undefined) return `href="${toAddress(within, `#${id}`)}"`;
      const name = topics.find((one) => one.id === id)?.name;
      return `href="${name === undefined ? `${HERE_PATH}/docs#${id}` : toAddress(name, "")}"`;
    }),
  };
};

const findTopicOfPart = (id: string): string | undefined => {
  if (id.startsWith("shape-")) return SCHEMAS.name;
  return Object.hasOwn(ERRORS, id) ? errors.id : undefined;
};

const topicPage = (topic: Topic, topics: readonly Topic[], baseUrl: string): string => {
  const toAddress: ToAddress = (name, end) => `${HERE_PATH}/docs/${name}${end}`;
  const head = {
    title: `${topic.title} · Mailproof API`,
    description: topic.summary,
    twin: topic === MISSING ? "/docs.md" : `/docs/${topic.name}.md`,
    baseUrl,
    brand: `${HERE_PATH}/docs`,
  };
  return html`${openPage(head)}
<nav class="side" id="side" aria-label="Contents">
${SEARCH}
<div class="contents">
<ul><li><a href="${HERE_PATH}/docs">Everything on one page</a></li></ul>
${listGroups(topics).map(
  ([group, all]) =>
    html`<h2>${group}</h2><ul>${all.map(
      ({ name, title, isAddition = false }) =>
        html`<li><a href="${toAddress(name, "")}"${name === topic.name ? html` class="here" aria-current="page"` : NOTHING}>${title}${mark(isAddition)}</a></li>`,
    )}</ul>`,
)}
</div>
</nav>
<main id="content">
${topic === MISSING ? NOTHING : html`<p><a href="${toAddress(topic.name, ".md")}">As Markdown</a></p>`}
${withAddresses(toOwnPage(topic.content()), topics, toAddress)}
</main>
</div>
</body>
</html>
`.markup;
};

/** A topic begins with h2 on the page of everything, or an operation with h3. On its own page it begins with h1, and no level is skipped. */
const toOwnPage = ({ markup }: Html): Html => {
  const first = Number(/<h([23])/.exec(markup)?.[1]);
  const setLevel = (from: number, to: number) => (text: string) =>
    text
      .replaceAll(`<h${from} `, `<h${to} class="h${from}" `)
      .replaceAll(`<h${from}>`, `<h${to} class="h${from}">`)
      .replaceAll(`</h${from}>`, `</h${to}>`);
  const own = markup.replace(/<h[23]/, "<h1").replace(/<\/h[23]>/, "</h1>");
  return {
    markup: first === 2 ? setLevel(4, 3)(setLevel(3, 2)(own)) : setLevel(4, 2)(own),
  };
};

const listGroups = (topics: readonly Topic[]): readonly (readonly [string, readonly Topic[]])[] =>
  [GUIDES_GROUP, ...Object.keys(TAGS), SCHEMAS.group].map((group) => [
    group,
    topics.filter((one) => one.group === group),
  ]);

const topicMarkdown = (topic: Topic, topics: readonly Topic[], baseUrl: string): string => {
  const toAddress: ToAddress = (name, end) => `${baseUrl}/docs/${name}${end || ".md"}`;
  return toMarkdown(withAddresses(topic.content(), topics, toAddress))
    .replaceAll("](#", `](${baseUrl}/docs/${topic.name}#`)
    .replace(/^#+ /, "# ")
    .replaceAll(`](${HERE_PATH}/`, `](${baseUrl}/`);
};

const listLinks = (topics: readonly Topic[], baseUrl: string): string =>
  topics
    .map(
      ({ name, title, summary, isAddition }) =>
        `- [${title}](${baseUrl}/docs/${name}.md): ${toPlain(summary)}${isAddition ? " (Beyond the contract.)" : ""}`,
    )
    .join("\n");

const toPlain = (text: string): string => text.replaceAll(/\s+/g, " ");

/** The entry page for programs: https://llmstxt.org. */
const llmsText = (topics: readonly Topic[], baseUrl: string): string => `# Mailproof

> An API that verifies whether email addresses can receive mail, finds a person's address, and checks whether a domain is set up to send mail. Calls cost credits, and no credit is charged twice.

- Base URL: ${baseUrl}
- Send the key in the header \`X-Api-Key\`, or as a bearer token. A key that starts with \`mp_test_\` is free and returns simulated results.
- A successful response is \`{"success": true, "data": …}\`. A failure has \`error.code\`, and \`error.money\` says what happened to the credits.
- Send an \`Idempotency-Key\` with every call that is charged, and repeat it with the same key if the response was lost.
- Every page below is Markdown; without \`.md\` it is a page for people.

${listGroups(topics)
  .map(([group, all]) => `## ${group}\n\n${listLinks(all, baseUrl)}`)
  .join("\n\n")}

## Optional

- [Everything on one page](${baseUrl}/docs.md): all guides, operations and schemas
- [OpenAPI 3.1 document](${baseUrl}/openapi.json): for client generators
- [Tools for agents](${baseUrl}/mcp): the same operations over the Model Context Protocol, with a key as a bearer token
`;

/** Search engines may index the pages, but not the API and the dashboard. */
const ROBOTS = "User-agent: *\nDisallow: /v1/\nDisallow: /app/\nDisallow: /mcp\n";

export const topicWriters = (baseUrl: string): Writers => {
  const topics = listTopics(baseUrl);
  const writeMarkdown = (topic: Topic) => topicMarkdown(topic, topics, baseUrl);
  return {
    "/llms.txt": () => llmsText(topics, baseUrl),
    "/docs.md": () => topics.map(writeMarkdown).join("\n"),
    "/llms-full.txt": () => topics.map(writeMarkdown).join("\n"),
    "/robots.txt": () => ROBOTS,
    "/favicon.ico": () => ICON,
    [MISSING_PAGE]: () => topicPage(MISSING, topics, baseUrl),
    ...Object.fromEntries(
      topics.flatMap((topic) => [
        [`/docs/${topic.name}`, () => topicPage(topic, topics, baseUrl)],
        [`/docs/${topic.name}.md`, () => writeMarkdown(topic)],
      ]),
    ),
  };
};

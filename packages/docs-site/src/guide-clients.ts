import { HERE_PATH } from "@mailproof/api/http/documents";
import { clientsAt } from "./clients/programs.ts";
import type { Guide } from "./guide.ts";
import { block, html, inLanguages } from "./html.ts";

export const clients: Guide = {
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

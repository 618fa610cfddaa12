import { KEYED_ERRORS } from "@mailproof/api/http/endpoint";
import { EXAMPLES } from "@mailproof/api/openapi/examples";
import type { OpenApi } from "@mailproof/api/openapi/openapi";
import type { WriteSnippets } from "./guide.ts";
import { block, type Html, html, inLanguages, inline, NOTHING } from "./html.ts";

// Every operation and schema, made only from the OpenAPI document.

// `any`, because this project writes the document, and this module reads it part by part.
type Json = any;

export type Listed = {
  readonly id: string;
  readonly title: string;
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  /** An operation beyond the contract. */
  readonly isAddition: boolean;
  readonly operation: Json;
};

export const operationsIn = ({ paths }: OpenApi): readonly Listed[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]: [string, Json]) => ({
      id: operation.operationId,
      title: toTitle(operation.operationId),
      method,
      path,
      tag: operation.tags[0],
      isAddition: operation["x-addition"] !== undefined,
      operation,
    })),
  );

/** verifyEmail → Verify email */
const toTitle = (id: string): string => {
  const words = id.replaceAll(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`);
  return (words.charAt(0).toUpperCase() + words.slice(1)).replace(/\bapi\b/, "API");
};

const badge = (method: string): Html =>
  html`<span class="method ${method}">${method.toUpperCase()}</span>`;

export const operationPart = (
  document: OpenApi,
  baseUrl: string,
  of: Listed,
  snippets: WriteSnippets,
): Html => {
  const { id, title, method, path, operation, isAddition } = of;
  return html`
<section class="part operation" id="${id}">
<div class="talk">
<h3>${title}<a class="anchor" href="#${id}" aria-label="Link to ${title}">#</a></h3>
<p class="route">${badge(method)}<code>${path}</code>${isAddition ? html` <a class="more" href="#beyond-the-contract">beyond the contract</a>` : NOTHING}</p>
<p>${inline(operation.summary)}.</p>
${renderKeyAndPrice(operation)}
${renderParameters(document, operation)}
${renderBody(document, operation)}
${renderResponses(document, operation)}
</div>
<div class="show">${renderExamples(baseUrl, of, snippets)}</div>
</section>`;
};

const renderKeyAndPrice = (operation: Json): Html => {
  const scope = operation["x-scope"];
  const key =
    scope === undefined
      ? html`<li>no key needed</li>`
      : scope === "unrestricted"
        ? html`<li>unrestricted key</li>`
        : html`<li>scope <code>${scope}</code>${operation["x-public-key"] ? " or a public key" : ""}</li>`;
  return html`<ul class="facts"><li class="price">${inline(operation["x-price"] ?? "Free.")}</li> ${key} <li><a href="#clients">clients</a></li></ul>`;
};

const renderParameters = (document: OpenApi, { parameters = [] }: Json): Html => {
  if (parameters.length === 0) return NOTHING;
  const all = parameters.map((one: Json) =>
    one.$ref ? document.components["parameters"]?.[one.$ref.split("/").at(-1)] : one,
  );
  return html`<h4>Parameters</h4><ul class="fields">${all.map((one: Json) =>
    renderField(
      document,
      one.name,
      { ...one.schema, description: one.description },
      {
        isRequired: one.required,
        note: one.in,
      },
    ),
  )}</ul>`;
};

const renderBody = (document: OpenApi, { requestBody }: Json): Html => {
  if (!requestBody) return NOTHING;
  const { "application/json": json, "multipart/form-data": form } = requestBody.content;
  return html`<h4>Body</h4>${renderFields(document, json.schema)}
${form ? html`<h4>Or as a form</h4><p>${form.schema.description}</p>${renderFields(document, form.schema)}` : NOTHING}`;
};

const nameIn = (ref: string): string => ref.split("/").at(-1) ?? "";

const resolve = (document: OpenApi, schema: Json): Json =>
  schema.$ref ? document.components["schemas"]?.[nameIn(schema.$ref)] : schema;

const renderFields = (document: OpenApi, sent: Json): Html => {
  const schema = resolve(document, sent);
  const options: Json[] | undefined = schema.oneOf ?? schema.anyOf;
  if (options)
    return html`${options.map((one, at) => html`${at > 0 ? html`<p>or</p>` : NOTHING}${renderFields(document, one)}`)}`;
  return html`<ul class="fields">${Object.entries<Json>(schema.properties ?? {}).map(
    ([name, one]) =>
      renderField(document, name, one, { isRequired: schema.required?.includes(name) ?? false }),
  )}</ul>`;
};

type Beside = { readonly isRequired: boolean; readonly note?: string };

const renderField = (document: OpenApi, name: string, schema: Json, beside: Beside): Html => {
  const inside = schema.items ?? schema;
  const values: Json[] | undefined = resolve(document, inside)?.enum;
  return html`<li><b>${name}</b> <i>${renderType(schema)}${beside.note ? ` · ${beside.note}` : ""}${formatBounds(schema)}</i>${beside.isRequired ? html` <em>required</em>` : NOTHING}
${schema.description ? html`<p>${inline(schema.description)}</p>` : NOTHING}
${values ? html`<p class="values">${values.map((one, at) => html`${at > 0 ? " " : ""}<code>${String(one)}</code>`)}</p>` : NOTHING}
${inside.properties ? renderFields(document, inside) : NOTHING}</li>`;
};

const renderType = (schema: Json): Html => {
  if (schema.$ref) return linkTo(nameIn(schema.$ref));
  if (schema.anyOf) return renderUnion(schema);
  if (schema.type === "array") return html`list of ${renderType(schema.items)}`;
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  const kind =
    schema.format ?? [schema.type].flat().filter((one) => one !== "null")[0] ?? "anything";
  return html`${kind}${[schema.type].flat().includes("null") ? " or null" : ""}`;
};

const linkTo = (name: string): Html => html`<a href="#shape-${name}">${name}</a>`;

const formatBounds = (schema: Json): string => {
  const { minimum, maximum, minLength, maxLength, maxItems } = schema;
  const bounds = [
    minimum !== undefined && maximum !== undefined
      ? `${minimum} to ${maximum}`
      : minimum === undefined
        ? undefined
        : `from ${minimum}`,
    maxLength === undefined
      ? undefined
      : `${minLength === undefined ? "at most" : `${minLength} to`} ${maxLength} characters`,
    maxItems === undefined ? undefined : `at most ${maxItems}`,
    schema.default === undefined || typeof schema.default === "object"
      ? undefined
      : `default ${schema.default}`,
  ].filter((one) => one !== undefined);
  return bounds.map((one) => ` · ${one}`).join("");
};

/** Errors that every operation with a key can return are listed only once, with the errors. */
const isOwn = (code: string): boolean => !KEYED_ERRORS.some((one) => one === code);

const renderResponses = (document: OpenApi, { responses, security }: Json): Html => {
  const all = Object.entries<Json>(responses);
  const withKey = security.length > 0;
  const fails = all
    .filter(([, { $ref }]) => $ref)
    .map(([status, { $ref }]) => {
      const codes = codesOf(document, nameIn($ref));
      return { status, codes: withKey ? codes.filter(isOwn) : codes };
    })
    .filter(({ codes }) => codes.length > 0);
  return html`
<h4>Answers</h4>
${all.filter(([, { $ref }]) => !$ref).map(([status, answer]) => renderSuccess(document, status, answer))}
<h4><a href="#errors">Refusals</a></h4>
<ul class="fails">${fails.map(renderFailure)}${withKey ? html`<li>and those of every operation</li>` : NOTHING}</ul>`;
};

const renderSuccess = (document: OpenApi, status: string, answer: Json): Html => {
  const schema = answer.content?.["application/json"]?.schema;
  const data = schema?.properties?.data ?? schema;
  return html`<details><summary><span class="answer-status">${status}</span>${inline(answer.description)}</summary>
<div class="inside">${data ? renderData(document, data) : NOTHING}</div></details>`;
};

const codesOf = (document: OpenApi, name: string): readonly string[] => {
  const answer: Json = document.components["responses"]?.[name];
  return resolve(document, answer.content["application/json"].schema).properties.error.properties
    .code.enum;
};

type Refusals = { readonly status: string; readonly codes: readonly string[] };

const renderFailure = ({ status, codes }: Refusals): Html =>
  html`<li><b>${status}</b>${codes.map((one) => html` <a href="#${one}">${one}</a>`)}</li>`;

const renderData = (document: OpenApi, data: Json): Html => {
  const shape = resolve(document, data);
  if (shape.anyOf) return html`<p>${renderUnion(shape)}</p>`;
  return data.$ref && isShared(nameIn(data.$ref))
    ? html`<p>${linkTo(nameIn(data.$ref))}</p>`
    : renderFields(document, data);
};

const renderUnion = ({ anyOf: all }: Json): Html =>
  html`${all
    .filter((one: Json) => one.pattern === undefined)
    .map((one: Json, at: number) => html`${at > 0 ? " or " : ""}${renderType(one)}`)}`;

const renderExamples = (
  baseUrl: string,
  { method, path, operation }: Listed,
  snippets: WriteSnippets,
): Html => {
  const route = `${method.toUpperCase()} ${path}`;
  const isPublic = operation.security.length === 0;
  return html`${EXAMPLES.filter((one) => one.route === route).map(
    (one, at) => html`<h4>${one.title}</h4>
${inLanguages(snippets(baseUrl, { ...one, isPublic }))}
<details${at === 0 ? html` open` : NOTHING}><summary><span class="answer-status">${one.status}</span>Response</summary>${block(JSON.stringify(one.answer, null, 1), "json")}</details>`,
  )}`;
};

const isShared = (name: string): boolean => !/(?:Request|Output|Error|Event)$/.test(name);

export const listShapes = (document: OpenApi): readonly string[] =>
  Object.keys(document.components["schemas"] ?? {}).filter(isShared);

export const shapesPart = (document: OpenApi, names: readonly string[]): Html =>
  html`${names.map((name) => {
    const schema: Json = document.components["schemas"]?.[name];
    return html`
<section class="part shape" id="shape-${name}">
<h3>${name}<a class="anchor" href="#shape-${name}" aria-label="Link to ${name}">#</a></h3>
${schema.description ? html`<p>${schema.description}</p>` : NOTHING}
${schema.enum ? html`<p class="values">${schema.enum.map((one: string, at: number) => html`${at > 0 ? " " : ""}<code>${one}</code>`)}</p>` : renderFields(document, schema)}
</section>`;
  })}`;

export const findShapes = (
  document: OpenApi,
  { markup }: Html,
  found: readonly string[] = [],
): readonly string[] => {
  const linked = new Set([...markup.matchAll(/href="#shape-(\w+)"/g)].map(([, name = ""]) => name));
  const added = [...linked].filter((name) => !found.includes(name));
  const all = [...found, ...added];
  return added.length === 0 ? all : findShapes(document, shapesPart(document, added), all);
};

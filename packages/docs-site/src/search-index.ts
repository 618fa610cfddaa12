import { decode, type Element, type Node, parse } from "./markup.ts";

// What the search of every page and Ctrl K of the dashboard find. It is made from the page of everything, and from nothing
// else: a Lambda carries that page, and not this in addition.

export const SEARCH_INDEX_PATH = "/docs/search.json";

type SearchEntry = {
  /** Its anchor on the page of everything. */
  readonly id: string;
  /** Its own page, below /docs/. */
  readonly page: string;
  readonly title: string;
  readonly kind: "Guide" | "Operation" | "Schema" | "Error";
  readonly route?: string;
  readonly text: string;
};

/** verifyEmail → verify-email */
export const toName = (id: string): string =>
  id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Examples, code and pictures: they would be the most of it, and the fields in them have their own words. */
const isShown = ({ tag, attributes }: Element): boolean =>
  tag === "pre" || tag === "svg" || / class="(?:show|anchor)"/.test(attributes);

const toWords = (node: Node): string => {
  if (typeof node === "string") return decode(node);
  if (isShown(node)) return " ";
  const inner = node.children.map(toWords).join("");
  return /^(?:a|b|code|em|strong|wbr)$/.test(node.tag) ? inner : ` ${inner} `;
};

/** Its sentences alone. */
const toText = (markup: string): string =>
  parse(markup).children.map(toWords).join("").replaceAll(/\s+/g, " ").trim();

const PART = /<section class="part([^"]*)" id="([^"]+)">([\s\S]*?)<\/section>/g;
const TITLE = /<h[23]>([^<]*)/;
const ROUTE = /<p class="route"><span[^>]*>(\w+)<\/span><code>([^<]+)/;
const ERROR = /<h4 id="(\w+)"><code>[\s\S]*?<\/h4>\s*<p>([\s\S]*?)<\/p>/g;

const toSearchEntry = ([, classes = "", id = "", markup = ""]: RegExpExecArray): SearchEntry => {
  const title = decode(TITLE.exec(markup)?.[1] ?? id);
  const text = toText(markup);
  if (classes.includes("shape")) return { id, page: `schemas#${id}`, title, kind: "Schema", text };
  const [, method, path] = ROUTE.exec(markup) ?? [];
  return method === undefined
    ? { id, page: id, title, kind: "Guide", text }
    : { id, page: toName(id), title, kind: "Operation", route: `${method} ${path}`, text };
};

export const writeSearchIndex = (page: string): string =>
  JSON.stringify([
    ...page.matchAll(PART).map(toSearchEntry),
    ...page.matchAll(ERROR).map(
      ([, id = "", markup = ""]): SearchEntry => ({
        id,
        page: `errors#${id}`,
        title: id,
        kind: "Error",
        text: toText(markup),
      }),
    ),
  ]);

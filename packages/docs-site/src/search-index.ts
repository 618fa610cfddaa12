import { decode, type Element, type Node, parse } from "./markup.ts";

// The entries for the manual's search and the dashboard's Ctrl K, made only from the page of everything: a Lambda carries that page, and no
// second copy.

export const SEARCH_INDEX_PATH = "/docs/search.json";

type SearchEntry = {
  readonly id: string;
  /** The topic's own page, below /docs/. */
  readonly page: string;
  readonly title: string;
  readonly kind: "Guide" | "Operation" | "Schema" | "Error";
  readonly route?: string;
  readonly text: string;
};

/** verifyEmail → verify-email */
export const toName = (id: string): string =>
  id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Skips examples, code and pictures: they would be the largest part, and the fields in them have their own entries. */
const isShown = ({ tag, attributes }: Element): boolean =>
  tag === "pre" || tag === "svg" || / class="(?:show|anchor)"/.test(attributes);

const toWords = (node: Node): string => {
  if (typeof node === "string") return decode(node);
  if (isShown(node)) return " ";
  const inner = node.children.map(toWords).join("");
  return /^(?:a|b|code|em|strong|wbr)$/.test(node.tag) ? inner : ` ${inner} `;
};

const toText = (nodes: readonly Node[]): string =>
  nodes.map(toWords).join("").replaceAll(/\s+/g, " ").trim();

const readAttribute = ({ attributes }: Element, name: string): string =>
  attributes.split(` ${name}="`)[1]?.split('"', 1)[0] ?? "";

const isElement = (node: Node | undefined): node is Element => typeof node === "object";

function* walk(element: Element): Generator<Element> {
  yield element;
  for (const child of element.children) if (isElement(child)) yield* walk(child);
}

const readStart = ({ children: [first] }: Element): string =>
  typeof first === "string" ? decode(first) : "";

const readRoute = (part: Element): string | undefined => {
  const route = walk(part).find((one) => readAttribute(one, "class") === "route");
  const [method, path] = route?.children.filter(isElement) ?? [];
  return method && path && `${readStart(method)} ${readStart(path)}`;
};

const toSearchEntry = (part: Element): SearchEntry => {
  const id = readAttribute(part, "id");
  const heading = walk(part).find(({ tag }) => tag === "h2" || tag === "h3");
  const title = heading ? readStart(heading) : id;
  const text = toText(part.children);
  if (readAttribute(part, "class").includes("shape"))
    return { id, page: `schemas#${id}`, title, kind: "Schema", text };
  const route = readRoute(part);
  return route === undefined
    ? { id, page: id, title, kind: "Guide", text }
    : { id, page: toName(id), title, kind: "Operation", route, text };
};

function* listErrors({ children }: Element): Generator<SearchEntry> {
  const elements = children.filter(isElement);
  for (const [at, one] of elements.entries()) {
    yield* listErrors(one);
    const id = readAttribute(one, "id");
    const [code] = one.children;
    const below = elements[at + 1];
    if (one.tag !== "h4" || id === "" || !isElement(code) || code.tag !== "code") continue;
    if (below?.tag === "p")
      yield { id, page: `errors#${id}`, title: id, kind: "Error", text: toText(below.children) };
  }
}

export const writeSearchIndex = (page: string): string => {
  const tree = parse(page);
  const parts = walk(tree).filter(
    (one) => one.tag === "section" && /^part\b/.test(readAttribute(one, "class")),
  );
  return JSON.stringify([...parts.map(toSearchEntry), ...listErrors(tree)]);
};

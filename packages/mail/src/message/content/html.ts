export type HtmlLink = {
  readonly href: string;
  readonly text: string;
};

export type HtmlContent = {
  readonly links: readonly HtmlLink[];
  readonly images: readonly string[];
  readonly hasScript: boolean;
  readonly hasForm: boolean;
  readonly textLength: number;
};

/** The limit of links in one text. A mail has some dozens. */
export const LINKS_MAX = 500;
const SHOWN_MAX = 300;
/** The reader stops after this number of characters in a tag: a hostile tag may never close. */
const TAG_LENGTH_MAX = 20_000;
const SILENT = ["script", "style", "title"];

/** Reads HTML in one pass, as far as a report about a mail needs it. It never fails, because mail may contain any HTML. */
export const readHtml = (html: string): HtmlContent => {
  const links: { href: string; text: string }[] = [];
  const images: string[] = [];
  let [hasScript, hasForm, textLength] = [false, false, 0];
  let open: { href: string; text: string } | undefined;
  const lower = html.toLowerCase();
  let at = 0;
  while (at < html.length) {
    const tagAt = html.indexOf("<", at);
    const text = html.slice(at, tagAt < 0 ? html.length : tagAt);
    textLength += countVisible(text);
    if (open && open.text.length < SHOWN_MAX) open.text += text.slice(0, SHOWN_MAX);
    if (tagAt < 0) break;
    if (html.startsWith("<!--", tagAt)) {
      const end = html.indexOf("-->", tagAt + 4);
      at = end < 0 ? html.length : end + 3;
      continue;
    }
    const tag = readTag(html, tagAt);
    at = tag.end;
    const attributes = tag.attributes;
    if (tag.name === "script" || hasHandler(attributes)) hasScript = true;
    if (tag.name === "form") hasForm = true;
    if (tag.name === "img" && images.length < LINKS_MAX) images.push(attributes.get("src") ?? "");
    if (tag.name === "/a") open = undefined;
    const href = attributes.get("href");
    if ((tag.name === "a" || tag.name === "area") && href !== undefined) {
      if (/^\s*javascript:/i.test(href)) hasScript = true;
      open = { href: decodeEntities(href.trim()), text: "" };
      if (links.length < LINKS_MAX) links.push(open);
    }
    if (SILENT.includes(tag.name)) {
      const end = lower.indexOf(`</${tag.name}`, at);
      at = end < 0 ? html.length : end;
    }
  }
  const shown = links.map(({ href, text }) => ({ href, text: toShown(text) }));
  return { links: shown, images, hasScript, hasForm, textLength };
};

const countVisible = (text: string): number => {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x20) count += 1;
  return count;
};

const toShown = (text: string): string =>
  decodeEntities(text.slice(0, SHOWN_MAX)).replaceAll(/\s+/g, " ").trim();

/** An attribute on…: a script that runs on an event. */
const hasHandler = (attributes: ReadonlyMap<string, string>): boolean =>
  [...attributes.keys()].some((name) => /^on[a-z]{3}/.test(name));

type HtmlTag = {
  /** The name in lower case, with "/" in front for an end tag. */
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly end: number;
};

const NAME = /\/?[a-z][a-z\d:-]{0,30}/iy;
const ATTRIBUTE_NAME = /[^\s=>"'/]{1,200}/y;

const readTag = (html: string, from: number): HtmlTag => {
  NAME.lastIndex = from + 1;
  const name = NAME.exec(html)?.[0]?.toLowerCase();
  const attributes = new Map<string, string>();
  if (name === undefined) return { name: "", attributes, end: from + 1 };
  const endMax = Math.min(html.length, from + TAG_LENGTH_MAX);
  let at = from + 1 + name.length;
  while (at < endMax && html[at] !== ">") {
    ATTRIBUTE_NAME.lastIndex = at;
    const attribute = ATTRIBUTE_NAME.exec(html)?.[0];
    if (attribute === undefined) {
      at += 1;
      continue;
    }
    at = skipSpace(html, at + attribute.length);
    const value =
      html[at] === "="
        ? readAttributeValue(html, skipSpace(html, at + 1), endMax)
        : { text: "", end: at };
    const key = attribute.toLowerCase();
    if (!attributes.has(key)) attributes.set(key, value.text);
    at = Math.max(value.end, at);
  }
  return { name, attributes, end: Math.min(at + 1, html.length) };
};

const SPACES_MAX = 200;

const skipSpace = (html: string, from: number): number => {
  let at = from;
  while (at - from < SPACES_MAX && html.charCodeAt(at) <= 0x20) at += 1;
  return at;
};

const readAttributeValue = (
  html: string,
  from: number,
  endMax: number,
): { readonly text: string; readonly end: number } => {
  const quote = html[from];
  if (quote === '"' || quote === "'") {
    const found = html.slice(from + 1, endMax).indexOf(quote);
    const end = found < 0 ? endMax : from + 1 + found;
    return { text: html.slice(from + 1, end), end: end + 1 };
  }
  let end = from;
  while (end < endMax && html[end] !== ">" && html.charCodeAt(end) > 0x20) end += 1;
  return { text: html.slice(from, end), end };
};

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
};
const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,6}));/gi;

const decodeEntities = (text: string): string =>
  text.replaceAll(ENTITY, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  });

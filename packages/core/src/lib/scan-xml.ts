/** Why a text is no XML that is read here. */
export class XmlFault extends Error {}

/** What a scan reports, in the order of the document. Names are without the prefix of their namespace. */
export type XmlHandler = {
  /** `tag` is what stands between the brackets, for `readAttribute`. */
  readonly open: (name: string, tag: string) => void;
  readonly close: (name: string) => void;
  /** Decoded. A text may come in several pieces. */
  readonly text: (text: string) => void;
};

const TAG_LENGTH_MAX = 1_000_000;

/**
 * Reads XML as it arrives and holds a tag at the most. There are no entities but the five of XML: a document type is
 * refused, since it could define others, which grow without end or read other files.
 */
export const createXmlScanner = (handler: XmlHandler) => {
  let pending = "";
  return {
    write: (text: string): void => {
      pending = scanText(pending + text, handler);
    },
    end: (): void => {
      if (pending.trim() !== "") throw new XmlFault("its XML ends too early");
    },
  };
};

/** Returns what is incomplete. */
const scanText = (text: string, handler: XmlHandler): string => {
  let at = 0;
  for (;;) {
    const start = text.indexOf("<", at);
    if (start < 0) return keepEntity(text, at, handler);
    if (start > at) handler.text(decodeEntities(text.slice(at, start)));
    const end = findTagEnd(text, start);
    if (end < 0) {
      if (text.length - start > TAG_LENGTH_MAX) throw new XmlFault("a tag without an end");
      return text.slice(start);
    }
    reportTag(text.slice(start + 1, end), handler);
    at = end + 1;
  }
};

/** An entity may be cut in two. */
const keepEntity = (text: string, from: number, handler: XmlHandler): string => {
  const ampersand = text.indexOf("&", Math.max(from, text.length - ENTITY_LENGTH_MAX));
  const end = ampersand < 0 || text.includes(";", ampersand) ? text.length : ampersand;
  if (end > from) handler.text(decodeEntities(text.slice(from, end)));
  return text.slice(end);
};

const COMMENT = "<!--";
const CDATA = "<![CDATA[";
const findTagEnd = (text: string, start: number): number => {
  if (text.startsWith(COMMENT, start)) return addUnlessAbsent(text.indexOf("-->", start), 2);
  if (text.startsWith(CDATA, start)) return addUnlessAbsent(text.indexOf("]]>", start), 2);
  // A value may contain the bracket.
  let quote = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (quote !== 0) quote = code === quote ? 0 : quote;
    else if (code === CLOSING_BRACKET) return at;
    else if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) quote = code;
  }
  return -1;
};

const CLOSING_BRACKET = 0x3e;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;

const addUnlessAbsent = (index: number, more: number): number => (index < 0 ? -1 : index + more);

const reportTag = (tag: string, handler: XmlHandler): void => {
  const first = tag[0];
  if (first === "?") return;
  if (first === "!") {
    if (tag.startsWith("!--")) return;
    if (!tag.startsWith("![CDATA[")) throw new XmlFault("a document type is not allowed");
    handler.text(tag.slice("![CDATA[".length, -"]]".length));
    return;
  }
  if (first === "/") {
    handler.close(getName(tag.slice(1)));
    return;
  }
  const name = getName(tag);
  handler.open(name, tag);
  if (tag.endsWith("/")) handler.close(name);
};

const getName = (tag: string): string => {
  const name = /^[^\s/]+/.exec(tag)?.[0] ?? "";
  return name.slice(name.indexOf(":") + 1);
};

/** The value of an attribute; its name has its prefix, such as `r:id`. */
export const readAttribute = (tag: string, name: string): string | undefined => {
  for (let at = tag.indexOf(name); at >= 0; at = tag.indexOf(name, at + 1)) {
    const quote = tag[at + name.length + 1];
    if (!/\s/.test(tag[at - 1] ?? "") || tag[at + name.length] !== "=") continue;
    if (quote !== '"' && quote !== "'") continue;
    const from = at + name.length + 2;
    return decodeEntities(tag.slice(from, tag.indexOf(quote, from)));
  }
  return undefined;
};

const ENTITY_LENGTH_MAX = 12;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

const decodeEntities = (text: string): string =>
  text.includes("&")
    ? text.replaceAll(/&([^;&]{0,12});?/g, (whole, name: string) => {
        const decoded = ENTITIES[name] ?? decodeNumber(name);
        if (decoded === undefined || !whole.endsWith(";"))
          throw new XmlFault(`the entity ${whole.slice(0, ENTITY_LENGTH_MAX)}`);
        return decoded;
      })
    : text;

const CODE_POINT_MAX = 0x10ffff;

const decodeNumber = (name: string): string | undefined => {
  const [, hex, decimal] = /^#(?:x([\da-f]+)|(\d+))$/i.exec(name) ?? [];
  const code = hex === undefined ? Number(decimal ?? Number.NaN) : Number.parseInt(hex, 16);
  return code <= CODE_POINT_MAX ? String.fromCodePoint(code) : undefined;
};

export class XmlFault extends Error {}

/** Receives the parts of the document in their order. Names keep the prefix of their namespace. */
export type XmlHandler = {
  readonly open: (name: string, tag: string) => void;
  readonly close: (name: string) => void;
  /** Raw text, for `decodeEntities`: callers never use most texts. A text may come in several pieces. */
  readonly text: (text: string) => void;
  /** Absent: the scanner refuses a document type, which could define entities that grow without end or read other files. */
  readonly doctype?: (tag: string) => void;
  readonly instruction?: (tag: string) => void;
};

const TAG_LENGTH_MAX = 1_000_000;

/**
 * Reads XML as it arrives, each character once, and holds at most one tag. It knows only XML's five entities. No library reports pieces
 * within bounds, skips what its caller ignores, and runs in a browser.
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

const scanText = (text: string, handler: XmlHandler): string => {
  let at = 0;
  for (;;) {
    const start = text.indexOf("<", at);
    if (start < 0) return keepEntity(text, at, handler);
    if (start > at) handler.text(text.slice(at, start));
    const end = findTagEnd(text, start);
    if (end < 0) {
      if (text.length - start > TAG_LENGTH_MAX) throw new XmlFault("a tag without an end");
      return text.slice(start);
    }
    reportTag(text.slice(start + 1, end), handler);
    at = end + 1;
  }
};

/** An entity may be cut in two, so the scanner keeps its start for the next piece. */
const keepEntity = (text: string, from: number, handler: XmlHandler): string => {
  const ampersand = text.indexOf("&", Math.max(from, text.length - ENTITY_LENGTH_MAX));
  const end = ampersand < 0 || text.includes(";", ampersand) ? text.length : ampersand;
  if (end > from) handler.text(text.slice(from, end));
  return text.slice(end);
};

const SECTIONS: readonly (readonly [start: string, end: string])[] = [
  ["<!--", "-->"],
  ["<![CDATA[", "]]>"],
  ["<?", "?>"],
];
const isSection = (code: number): boolean => code === EXCLAMATION || code === QUESTION;

/** Returns the position of the tag's last bracket, or -1 when it has not arrived yet. */
const findTagEnd = (text: string, start: number): number => {
  if (isSection(text.charCodeAt(start + 1)))
    for (const [first, last] of SECTIONS) {
      if (!text.startsWith(first, start)) continue;
      const end = text.indexOf(last, start + first.length);
      return end < 0 ? -1 : end + last.length - 1;
    }
  // A quoted value may contain the bracket, and so may the definitions of a document type.
  let quote = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (quote !== 0) quote = code === quote ? 0 : quote;
    else if (code === CLOSING_BRACKET) return at;
    else if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) quote = code;
    else if (code === OPENING_SQUARE) quote = CLOSING_SQUARE;
  }
  return -1;
};

const [EXCLAMATION, QUESTION] = [0x21, 0x3f];
const [CLOSING_BRACKET, OPENING_SQUARE, CLOSING_SQUARE] = [0x3e, 0x5b, 0x5d];
const [DOUBLE_QUOTE, SINGLE_QUOTE] = [0x22, 0x27];

const reportTag = (tag: string, handler: XmlHandler): void => {
  const first = tag[0];
  if (first === "?") handler.instruction?.(tag);
  else if (first === "!") reportSection(tag, handler);
  else if (first === "/") handler.close(getName(tag.slice(1)));
  else {
    const name = getName(tag);
    handler.open(name, tag);
    if (tag.endsWith("/")) handler.close(name);
  }
};

const reportSection = (tag: string, { text, doctype }: XmlHandler): void => {
  if (tag.startsWith("!--")) return;
  if (tag.startsWith("![CDATA[")) text(escapeText(tag.slice("![CDATA[".length, -"]]".length)));
  else if (doctype && tag.startsWith("!DOCTYPE")) doctype(tag);
  else throw new XmlFault("a document type is not allowed");
};

/** CDATA holds literal ampersands. */
const escapeText = (text: string): string => text.replaceAll("&", "&amp;");

const getName = (tag: string): string => /^[^\s/]+/.exec(tag)?.[0] ?? "";

export const toLocalName = (name: string): string => name.slice(name.indexOf(":") + 1);

const ATTRIBUTE = /\s+([^\s<>/="']+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;

/** Returns all attributes with raw values. Throws for a tag that is not well-formed. */
export const readAttributes = (tag: string): ReadonlyMap<string, string> => {
  const attributes = new Map<string, string>();
  let at = getName(tag).length;
  for (ATTRIBUTE.lastIndex = at; ; at = ATTRIBUTE.lastIndex) {
    const found = ATTRIBUTE.exec(tag);
    if (!found) break;
    attributes.set(found[1] ?? "", found[2] ?? found[3] ?? "");
  }
  if (at === 0 || !/^\s*\/?$/.test(tag.slice(at))) throw new XmlFault("a tag");
  return attributes;
};

/** Returns the raw value of an attribute, whose name includes its prefix, such as `r:id`. */
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

export const decodeEntities = (text: string): string =>
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

export type XmlElement = {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  /** Null: the root. */
  readonly parent: XmlElement | null;
  /** Its own text, without that of the elements in it. */
  text: string;
};

export type XmlDocument = {
  /** In their order; the root is the first. */
  readonly elements: readonly XmlElement[];
  /** It defines entities, which can make a document much larger than it is. */
  readonly hasEntities: boolean;
  readonly hasStyleSheet: boolean;
};

/** What begins with "<" and is no element, and how it ends. */
const SECTIONS: readonly (readonly [start: string, end: string])[] = [
  ["<!--", "-->"],
  ["<![CDATA[", "]]>"],
  ["<?", "?>"],
];
const NAME = /[^\s<>/="'!?]+/y;
const ATTRIBUTE = /\s+([^\s<>/="']+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;
const TAG_END = /\s*(\/?)>/y;
const DOCTYPE = /<!DOCTYPE[^[>]*(?:\[([^\]]*)\]\s*)?>/y;

/**
 * An XML document without what no check of a logo needs: entities stay as they are written, and names keep their prefix.
 * Undefined: it is not well-formed. Each character is read once, so a hostile document takes no longer than another.
 */
export const parseXml = (text: string): XmlDocument | undefined => {
  const elements: XmlElement[] = [];
  let open: XmlElement | null = null;
  let [hasEntities, hasStyleSheet] = [false, false];
  let at = 0;
  const read = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match;
  };
  const addText = (to: XmlElement | null, added: string): boolean => {
    if (to) to.text += added;
    return to !== null || added.trim() === "";
  };

  while (at < text.length) {
    const tag = text.indexOf("<", at);
    const end = tag < 0 ? text.length : tag;
    if (!addText(open, text.slice(at, end))) return undefined;
    at = end;
    if (tag < 0) break;

    const [start, last] = SECTIONS.find(([begin]) => text.startsWith(begin, tag)) ?? [];
    if (start !== undefined && last !== undefined) {
      const until = text.indexOf(last, tag + start.length);
      const content = text.slice(tag + start.length, until);
      if (until < 0 || (start === "<![CDATA[" && !addText(open, content))) return undefined;
      if (start === "<?" && content.startsWith("xml-stylesheet")) hasStyleSheet = true;
      at = until + last.length;
      continue;
    }
    const doctype = read(DOCTYPE);
    if (doctype) {
      if (doctype[1]?.includes("<!ENTITY")) hasEntities = true;
      continue;
    }

    const isClosing = text.startsWith("</", tag);
    at = tag + (isClosing ? 2 : 1);
    const name = read(NAME)?.[0];
    const attributes = new Map<string, string>();
    for (let found = read(ATTRIBUTE); found; found = read(ATTRIBUTE))
      attributes.set(found[1] ?? "", found[2] ?? found[3] ?? "");
    const close = read(TAG_END);
    if (name === undefined || !close) return undefined;
    if (isClosing) {
      if (open?.name !== name) return undefined;
      open = open.parent;
      continue;
    }
    // A second root.
    if (!open && elements.length > 0) return undefined;
    const element: XmlElement = { name, attributes, parent: open, text: "" };
    elements.push(element);
    if (close[1] === "") open = element;
  }
  return open || elements.length === 0 ? undefined : { elements, hasEntities, hasStyleSheet };
};

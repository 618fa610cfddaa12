export type XmlElement = {
  readonly kind: "open";
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly isEmpty: boolean;
};

type XmlNode =
  | XmlElement
  | { readonly kind: "close"; readonly name: string }
  | { readonly kind: "text"; readonly text: string }
  /** The document defines an entity, which can make it much larger than it is. */
  | { readonly kind: "entity" }
  /** No more can be read. */
  | { readonly kind: "broken" };

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
 * The elements and texts of an XML document, in order, without what no check of a logo needs: entities stay as they are
 * written, and names keep their prefix. Each character is read once, so a hostile document takes no longer than another.
 */
export function* iterateXml(text: string): Generator<XmlNode> {
  let at = 0;
  const read = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match;
  };

  while (at < text.length) {
    const tag = text.indexOf("<", at);
    const end = tag < 0 ? text.length : tag;
    if (end > at) yield { kind: "text", text: text.slice(at, end) };
    at = end;
    if (tag < 0) return;

    const section = SECTIONS.find(([start]) => text.startsWith(start, tag));
    if (section) {
      const [start, last] = section;
      const until = text.indexOf(last, tag + start.length);
      if (until < 0) return yield { kind: "broken" };
      if (last === "]]>") yield { kind: "text", text: text.slice(tag + start.length, until) };
      at = until + last.length;
      continue;
    }
    const doctype = read(DOCTYPE);
    if (doctype) {
      if (doctype[1]?.includes("<!ENTITY")) yield { kind: "entity" };
      continue;
    }

    const isClosing = text.startsWith("</", tag);
    at = tag + (isClosing ? 2 : 1);
    const name = read(NAME)?.[0];
    const attributes = new Map<string, string>();
    for (let found = read(ATTRIBUTE); found; found = read(ATTRIBUTE))
      attributes.set(found[1] ?? "", found[2] ?? found[3] ?? "");
    const last = read(TAG_END);
    if (name === undefined || !last) return yield { kind: "broken" };
    if (isClosing) yield { kind: "close", name };
    else yield { kind: "open", name, attributes, isEmpty: last[1] === "/" };
  }
}

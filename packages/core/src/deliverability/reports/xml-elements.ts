import {
  createXmlScanner,
  decodeEntities,
  toLocalName,
  XmlFault,
} from "@mailproof/mail/lib/scan-xml";
import { ReportFault } from "./report-fault.ts";
import type { AddNote } from "./report-notes.ts";

export type XmlElement = {
  readonly name: string;
  readonly children: readonly XmlElement[];
  readonly text: string;
};

type OpenElement = { name: string; children: XmlElement[]; text: string; isTooLong: boolean };

/** Elements of a report are at most five levels deep. */
const DEPTH_MAX = 20;
const NAME_LENGTH_MAX = 100;
const TEXT_LENGTH_MAX = 10_000;
/** The most bytes that encode one character, times the limit. Longer text is dropped before it is decoded. */
const WRITTEN_LENGTH_MAX = 12 * TEXT_LENGTH_MAX;
/** Limits one part of a report, such as a record with the results of its signatures. */
const PART_ELEMENTS_MAX = 5_000;
/** The standards define about forty names. The reader searches the whole text once for each name. */
const NAMES_MAX = 200;

export type XmlParts = {
  readonly root: string;
  /** The elements that the sums need. A fault in these elements is a ReportFault, in others a note. */
  readonly needed: ReadonlySet<string>;
  readonly onPart: (part: XmlElement) => void;
  readonly note: AddNote;
};

/**
 * Reads a document of parts: calls `onPart` with each child of the root as soon as it ends, so memory holds one part at a time.
 * Names are in lower case and without their namespace prefix. Reporters write tags that never end (a schema, an address in
 * angle brackets) and forget others: such a tag counts as absent.
 */
export const readXmlParts = (text: string, { root, needed, onPart, note }: XmlParts): void => {
  const stack: OpenElement[] = [];
  const hasEndTag = createEndTagSearch(text, root);
  let first: string | undefined;
  let [hasBegun, hasEnded, elements] = [false, false, 0];
  const reportFault = createFaultReporter(needed, note);

  const isRoot = (name: string): boolean => {
    first ??= name;
    if (name === root && hasEnded) throw new ReportFault(root, "is followed by another report");
    if (name !== root)
      note(
        hasBegun ? root : "file",
        `has the element ${name} ${hasBegun ? "behind" : "before"} it`,
      );
    return name === root;
  };
  const open = (prefixed: string, tag: string): void => {
    const name = toLocalName(prefixed).toLowerCase();
    if (name.length > NAME_LENGTH_MAX)
      throw new ReportFault(root, "has an element with a name that is too long");
    if (stack.length === 0) {
      if (!isRoot(name)) return;
      hasBegun = true;
    } else if (!needed.has(name) && !tag.endsWith("/") && !hasEndTag(prefixed)) return skipTag(tag);
    if (stack.length >= DEPTH_MAX)
      throw new ReportFault(joinNames(stack), `is nested more than ${DEPTH_MAX} levels deep`);
    if (stack.length === 1) elements = 0;
    elements++;
    if (elements > PART_ELEMENTS_MAX)
      throw new ReportFault(joinNames(stack), `has more than ${PART_ELEMENTS_MAX} elements`);
    stack.push({ name, children: [], text: "", isTooLong: false });
  };
  /** A tag without its own bracket may have swallowed the end tag after it. */
  const skipTag = (tag: string): void => {
    note(joinNames(stack), `has a tag <${tag}> that does not end`);
    const swallowed = tag.indexOf("</");
    if (swallowed >= 0) close(tag.slice(swallowed + 2));
  };
  const end = ({ name, children, text: written }: OpenElement): void => {
    const ended = { name, children, text: written.trim() };
    if (stack.length === 1) onPart(ended);
    else if (stack.length === 0) hasEnded = true;
    else stack.at(-1)?.children.push(ended);
  };
  const close = (prefixed: string): void => {
    const name = toLocalName(prefixed).toLowerCase();
    if (stack.length === 0) return note("file", `has a tag </${name}> outside of its elements`);
    const at = stack.findLastIndex((element) => element.name === name);
    const faulty = at < 0 ? [name] : stack.slice(at + 1).map((element) => element.name);
    if (faulty.length > 0)
      reportFault(faulty, joinNames(stack), `ends with </${name.slice(0, NAME_LENGTH_MAX)}>`);
    for (let left = at < 0 ? 0 : stack.length - at; left > 0; left--) {
      const element = stack.pop();
      if (element) end(element);
    }
  };
  const addText = (more: string): void => {
    const element = stack.at(-1);
    if (!element) {
      if (more.trim() !== "") note("file", "has text outside of its elements");
      return;
    }
    // Between the parts only white space is allowed, which nothing stores.
    if (stack.length === 1 || element.isTooLong) return;
    const fault = addDecoded(element, more);
    if (fault !== undefined) reportFault([element.name], joinNames(stack), fault);
  };

  scan(text, { open, close, text: addText }, () =>
    stack.length === 0 ? "file" : joinNames(stack),
  );
  if (!hasBegun && first !== undefined) throw createOtherRoot(first, root);
  if (!hasEnded)
    throw new ReportFault(
      stack.length === 0 ? "file" : joinNames(stack),
      "does not end; the file is cut off",
    );
};

const createFaultReporter =
  (needed: ReadonlySet<string>, note: AddNote) =>
  (names: readonly string[], path: string, what: string): void => {
    if (names.some((name) => needed.has(name))) throw new ReportFault(path, what);
    note(path, what);
  };

const createOtherRoot = (first: string, root: string): ReportFault =>
  new ReportFault("file", `starts with the element ${first}; a DMARC report starts with ${root}`);

const scan = (
  text: string,
  handler: Parameters<typeof createXmlScanner>[0],
  getPath: () => string,
): void => {
  const scanner = createXmlScanner(handler);
  try {
    scanner.write(text.startsWith("\ufeff") ? text.slice(1) : text);
    scanner.end();
  } catch (error) {
    if (!(error instanceof XmlFault)) throw error;
    throw new ReportFault(getPath(), `is no XML that is read (${error.message})`);
  }
};

const addDecoded = (element: OpenElement, more: string): string | undefined => {
  let fault: string | undefined;
  let decoded = more;
  try {
    if (more.length <= WRITTEN_LENGTH_MAX) decoded = decodeEntities(more);
  } catch (error) {
    if (!(error instanceof XmlFault)) throw error;
    fault = `is no XML that is read (${error.message})`;
  }
  element.text += decoded;
  if (element.text.length <= TEXT_LENGTH_MAX) return fault;
  element.isTooLong = true;
  element.text = "";
  return `is over ${TEXT_LENGTH_MAX} characters`;
};

const createEndTagSearch = (text: string, root: string) => {
  const found = new Map<string, boolean>();
  let lower: string | undefined;
  return (prefixed: string): boolean => {
    if (prefixed === "") return false;
    const before = found.get(prefixed);
    if (before !== undefined) return before;
    if (found.size >= NAMES_MAX)
      throw new ReportFault(root, `has elements of more than ${NAMES_MAX} names`);
    const tag = `</${prefixed}`;
    const has = text.includes(tag) || (lower ??= text.toLowerCase()).includes(tag.toLowerCase());
    found.set(prefixed, has);
    return has;
  };
};

const joinNames = (stack: readonly Pick<OpenElement, "name">[]): string =>
  stack.map(({ name }) => name).join(".");

export const findChild = (element: XmlElement | undefined, name: string): XmlElement | undefined =>
  element?.children.find((child) => child.name === name);

export const findText = (element: XmlElement | undefined, name: string): string | undefined => {
  const text = findChild(element, name)?.text;
  return text === "" ? undefined : text;
};

export const listChildren = (element: XmlElement | undefined, name: string): XmlElement[] =>
  element?.children.filter((child) => child.name === name) ?? [];

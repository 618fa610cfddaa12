import { createXmlScanner, decodeEntities, toLocalName, XmlFault } from "../../lib/scan-xml.ts";
import { ReportFault } from "./report-fault.ts";

export type XmlElement = {
  readonly name: string;
  readonly children: readonly XmlElement[];
  /** Without white space at both ends. */
  readonly text: string;
};

type OpenElement = { name: string; children: XmlElement[]; text: string };

/** No element of a report lies deeper than five. */
const DEPTH_MAX = 20;
const NAME_LENGTH_MAX = 100;
const TEXT_LENGTH_MAX = 10_000;
/** A character is written with at most so many. What is longer is refused before it is decoded. */
const WRITTEN_LENGTH_MAX = 12 * TEXT_LENGTH_MAX;
/** In one part of a report, such as a record with the results of its signatures. */
const PART_ELEMENTS_MAX = 5_000;

/**
 * Reads a document of parts: `onPart` gets each element below the root as soon as it ends, so that one part is held at a
 * time. Names are in lower case and without the prefix of their namespace.
 */
export const readXmlParts = (
  text: string,
  root: string,
  onPart: (part: XmlElement) => void,
): void => {
  const stack: OpenElement[] = [];
  let hasEnded = false;
  let elements = 0;
  const scanner = createXmlScanner({
    open: (prefixed) => {
      const name = toLocalName(prefixed).toLowerCase();
      if (hasEnded) throw new ReportFault(root, "is followed by another element");
      if (name.length > NAME_LENGTH_MAX)
        throw new ReportFault(root, "has an element with a name that is too long");
      if (stack.length === 0 && name !== root)
        throw new ReportFault(
          "file",
          `begins with the element ${name}; a DMARC report begins with ${root}`,
        );
      if (stack.length >= DEPTH_MAX)
        throw new ReportFault(joinNames(stack), `is nested more than ${DEPTH_MAX} levels deep`);
      if (stack.length === 1) elements = 0;
      elements++;
      if (elements > PART_ELEMENTS_MAX)
        throw new ReportFault(joinNames(stack), `has more than ${PART_ELEMENTS_MAX} elements`);
      stack.push({ name, children: [], text: "" });
    },
    close: (prefixed) => {
      const name = toLocalName(prefixed).toLowerCase();
      const element = stack.pop();
      if (element?.name !== name)
        throw new ReportFault(
          element ? joinNames([...stack, element]) : root,
          `ends with </${name.slice(0, NAME_LENGTH_MAX)}>`,
        );
      const ended = { ...element, text: element.text.trim() };
      if (stack.length === 1) onPart(ended);
      else if (stack.length === 0) hasEnded = true;
      else stack.at(-1)?.children.push(ended);
    },
    text: (more) => {
      const element = stack.at(-1);
      if (!element) {
        if (more.trim() !== "") throw new ReportFault("file", "has text outside of its elements");
        return;
      }
      // Only white space, which nothing keeps, stands between the parts.
      if (stack.length === 1) return;
      element.text += more.length > WRITTEN_LENGTH_MAX ? more : decodeEntities(more);
      if (element.text.length > TEXT_LENGTH_MAX)
        throw new ReportFault(joinNames(stack), `is over ${TEXT_LENGTH_MAX} characters`);
    },
  });
  try {
    scanner.write(text.startsWith("\ufeff") ? text.slice(1) : text);
    scanner.end();
  } catch (error) {
    if (!(error instanceof XmlFault)) throw error;
    const path = stack.length === 0 ? "file" : joinNames(stack);
    throw new ReportFault(path, `is no XML that is read (${error.message})`);
  }
  if (!hasEnded)
    throw new ReportFault(
      stack.length === 0 ? "file" : joinNames(stack),
      "does not end; the file is cut off",
    );
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

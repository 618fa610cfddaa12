import { createXmlScanner, readAttributes, XmlFault } from "../lib/scan-xml.ts";

// SVG Tiny Portable/Secure (draft-svg-tiny-ps-abrotman), the form that BIMI requires of a logo: a picture without scripts, animation and
// external resources.

/** The limit of the draft's §2.4, and of Gmail. */
export const LOGO_BYTES_MAX = 32_768;

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

/** The draft's §2.1 requires these attributes of the root element. */
const ROOT_ATTRIBUTES: readonly (readonly [name: string, value: string])[] = [
  ["xmlns", SVG_NAMESPACE],
  ["version", "1.2"],
  ["baseProfile", "tiny-ps"],
];

/** The draft's §2.3 allows only one value for these attributes. */
const FIXED_ATTRIBUTES: Readonly<Record<string, string>> = {
  zoomAndPan: "disable",
  externalResourcesRequired: "false",
  focusable: "false",
  snapshotTime: "none",
  playbackOrder: "all",
  timelineBegin: "onLoad",
};

/** The elements of SVG Tiny 1.2 without images, media, links, scripts, animation, conditions and foreign content (the draft's §2.3). */
const ELEMENTS = new Set(
  `svg title desc metadata g defs use path rect circle ellipse line polyline polygon
  text tspan textArea tbreak linearGradient radialGradient stop solidColor
  font font-face font-face-src font-face-uri font-face-name glyph missing-glyph hkern`.split(/\s+/),
);

const REMOTE = "it refers to other documents";

type LogoElement = {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly parent: LogoElement | null;
  text: string;
};

/** Reads the elements, with the root first. Undefined when the text is not well-formed. */
const readLogo = (text: string) => {
  const elements: LogoElement[] = [];
  let parent: LogoElement | null = null;
  let [hasEntities, hasStyleSheet] = [false, false];
  const scanner = createXmlScanner({
    open: (name, tag) => {
      if (!parent && elements.length > 0) throw new XmlFault("a second root");
      parent = { name, attributes: readAttributes(tag), parent, text: "" };
      elements.push(parent);
    },
    close: (name) => {
      if (parent?.name !== name) throw new XmlFault("an end of another element");
      parent = parent.parent;
    },
    text: (more) => {
      if (parent) parent.text += more;
      else if (more.trim() !== "") throw new XmlFault("text outside of its elements");
    },
    doctype: (tag) => {
      hasEntities ||= tag.includes("<!ENTITY");
    },
    instruction: (tag) => {
      hasStyleSheet ||= tag.startsWith("?xml-stylesheet");
    },
  });
  try {
    scanner.write(text);
    scanner.end();
  } catch (error) {
    if (error instanceof XmlFault) return undefined;
    throw error;
  }
  return parent ? undefined : { elements, hasEntities, hasStyleSheet };
};

export const findLogoFaults = (text: string): readonly string[] => {
  const document = readLogo(text.replace(/^\ufeff/, ""));
  const [root, ...others] = document?.elements ?? [];
  if (!document || !root)
    return [text.includes("<svg") ? "it is not well-formed XML" : "it is no SVG document"];
  if (root.name !== "svg") return ["it is no SVG document"];
  const faults = [
    ...listRootFaults(root),
    ...listTitleFaults(others.filter(({ name, parent }) => name === "title" && parent === root)),
    ...(others.some(({ name, text: desc }) => name === "desc" && desc.trim() === "")
      ? ["its desc is empty"]
      : []),
    ...(document.hasEntities ? ["it defines entities"] : []),
    ...(document.hasStyleSheet ? [REMOTE] : []),
    ...listForeignNames(document.elements),
    ...document.elements.flatMap(({ attributes }) =>
      [...attributes].flatMap(([name, value]) => findAttributeFault(name, value) ?? []),
    ),
  ];
  return [...new Set(faults)];
};

const listRootFaults = ({ attributes }: LogoElement): readonly string[] => [
  ...ROOT_ATTRIBUTES.flatMap(([name, value]) =>
    attributes.get(name) === value ? [] : [`its svg element has no ${name}="${value}"`],
  ),
  ...["x", "y"].flatMap((name) => (attributes.has(name) ? [`its svg element has ${name}=`] : [])),
];

/** The draft's §2.1: the logo needs exactly one title with text. */
const listTitleFaults = (titles: readonly LogoElement[]): readonly string[] => {
  if (titles.length > 1) return ["it has more than one title"];
  return titles.some(({ text }) => text.trim() !== "") ? [] : ["it has no title"];
};

const isPrefixed = (name: string): boolean => name.includes(":");
const PREFIXES = new Set(["xml", "xmlns", "xlink"]);

/** Lists elements and attributes outside the profile. Metadata may hold elements of other namespaces. */
const listForeignNames = (elements: readonly LogoElement[]): readonly string[] => {
  const inMetadata = new Set<LogoElement>();
  return elements.flatMap((element) => {
    const { name, attributes, parent } = element;
    if (name === "metadata" || (parent && inMetadata.has(parent))) inMetadata.add(element);
    if (inMetadata.has(element) && isPrefixed(name)) return [];
    const ofEditors = [...attributes.keys()].filter(
      (key) => isPrefixed(key) && !PREFIXES.has(key.split(":", 1)[0] ?? ""),
    );
    return [
      ...(ELEMENTS.has(name) ? [] : [`it has ${name} elements`]),
      ...ofEditors.map((key) => `it has ${key}= attributes`),
    ];
  });
};

const findAttributeFault = (name: string, value: string): string | undefined => {
  if (/^on[a-z]+$/i.test(name)) return `it has ${name}= handlers`;
  if (name === "style") return "it has style= attributes";
  const isReference = name === "href" || name === "xlink:href";
  if ((isReference && !value.trim().startsWith("#")) || REMOTE_URL.test(value)) return REMOTE;
  const fixed = FIXED_ATTRIBUTES[name];
  return fixed === undefined || value === fixed ? undefined : `its ${name}= is not ${fixed}`;
};

/** Finds fill="url(…)" with a remote URL; a URL that starts with # is inside the document. */
const REMOTE_URL = /url\(\s*["']?(?![\s"'#])/i;

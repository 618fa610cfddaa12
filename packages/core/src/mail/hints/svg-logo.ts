import { iterateXml, type XmlElement } from "./xml-elements.ts";

// SVG Tiny Portable/Secure (draft-svg-tiny-ps-abrotman), the form of a logo that BIMI asks for: a picture that runs
// nothing, moves nothing and loads nothing.

/** §2.4, and what Gmail takes. */
export const LOGO_BYTES_MAX = 32_768;

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

/** §2.1: what the root element must say. */
const ROOT_ATTRIBUTES: readonly (readonly [name: string, value: string])[] = [
  ["xmlns", SVG_NAMESPACE],
  ["version", "1.2"],
  ["baseProfile", "tiny-ps"],
];

/** §2.3: attributes that may stand there with one value only. */
const FIXED_ATTRIBUTES: Readonly<Record<string, string>> = {
  zoomAndPan: "disable",
  externalResourcesRequired: "false",
  focusable: "false",
  snapshotTime: "none",
  playbackOrder: "all",
  timelineBegin: "onLoad",
};

/** The elements of SVG Tiny 1.2 without images, media, links, scripts, animation, conditions and foreign content (§2.3). */
const ELEMENTS = new Set(
  `svg title desc metadata g defs use path rect circle ellipse line polyline polygon
  text tspan textArea tbreak linearGradient radialGradient stop solidColor
  font font-face font-face-src font-face-uri font-face-name glyph missing-glyph hkern`.split(/\s+/),
);

const NO_SVG = "it is no SVG document";
const NOT_WELL_FORMED = "it is not well-formed XML";

/** What keeps a document from being a logo by the profile, none when it is one. */
export const findLogoFaults = (text: string): readonly string[] => {
  const faults = new Set<string>();
  const open: string[] = [];
  let [roots, titles, titleTexts] = [0, 0, 0];
  for (const node of iterateXml(text.replace(/^\ufeff/, ""))) {
    if (node.kind === "broken") return [roots === 0 ? NO_SVG : NOT_WELL_FORMED];
    if (node.kind === "entity") faults.add("it defines entities");
    if (node.kind === "text" && open.join(" ") === "svg title" && node.text.trim() !== "")
      titleTexts += 1;
    if (node.kind === "close" && open.pop() !== node.name) return [NOT_WELL_FORMED];
    if (node.kind !== "open") continue;
    if (open.length === 0) {
      roots += 1;
      if (node.name !== "svg") return [NO_SVG];
      for (const fault of listRootFaults(node)) faults.add(fault);
    }
    if (open.length === 1 && node.name === "title") titles += 1;
    for (const fault of listElementFaults(node)) faults.add(fault);
    if (!node.isEmpty) open.push(node.name);
  }
  if (roots === 0) return [NO_SVG];
  if (roots > 1 || open.length > 0) return [NOT_WELL_FORMED];
  if (titles > 1) faults.add("it has more than one title");
  if (titleTexts === 0) faults.add("it has no title");
  return [...faults];
};

const listRootFaults = ({ attributes }: XmlElement): readonly string[] => [
  ...ROOT_ATTRIBUTES.flatMap(([name, value]) =>
    attributes.get(name) === value ? [] : [`its svg element has no ${name}="${value}"`],
  ),
  ...["x", "y"].flatMap((name) => (attributes.has(name) ? [`its svg element has ${name}=`] : [])),
];

const listElementFaults = ({ name, attributes }: XmlElement): readonly string[] => {
  // What editors add in namespaces of their own is not drawn.
  if (name.includes(":")) return [];
  const outside = ELEMENTS.has(name) ? [] : [`it has ${name} elements`];
  const ofAttributes = [...attributes].flatMap(
    ([key, value]) => findAttributeFault(key, value) ?? [],
  );
  return [...outside, ...ofAttributes];
};

const findAttributeFault = (name: string, value: string): string | undefined => {
  if (/^on[a-z]+$/i.test(name)) return `it has ${name}= handlers`;
  if (name === "style") return "it has style= attributes";
  const isReference = name === "href" || name.endsWith(":href");
  if ((isReference && !value.trim().startsWith("#")) || REMOTE_URL.test(value))
    return "it refers to other documents";
  const fixed = FIXED_ATTRIBUTES[name];
  return fixed === undefined || value === fixed ? undefined : `its ${name}= is not ${fixed}`;
};

/** As in fill="url(…)": what begins with # is inside the document. */
const REMOTE_URL = /url\(\s*["']?(?![\s"'#])/i;

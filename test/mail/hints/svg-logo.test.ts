import { findLogoFaults } from "@mailproof/mail/hints/svg-logo";
import { expect, test } from "vitest";

const ROOT = 'xmlns="http://www.w3.org/2000/svg" version="1.2" baseProfile="tiny-ps"';
const logo = (inside: string, root = ROOT) => `<svg ${root}><title>Example</title>${inside}</svg>`;

test.each([
  ["the least", logo("")],
  [
    "a declaration, a comment and a document type",
    `<?xml version="1.0"?><!-- a > b --><!DOCTYPE svg>\n${logo("")}\n`,
  ],
  ["a byte order mark", `\ufeff${logo("")}`],
  ["single quotes and line ends", logo("").replaceAll('"', "'").replaceAll(" ", "\n")],
  ["a title as CDATA, in parts", logo("").replace("Example", "<!-- a --><![CDATA[Ex]]>ample")],
  [
    "shapes, groups and gradients",
    logo(
      '<defs><linearGradient id="g"><stop offset="0"/></linearGradient></defs><g fill="url(#g)"><path d="M0 0"/></g>',
    ),
  ],
  ["a reference within", logo('<path id="a"/><use xlink:href="#a"/><use href="#a"/>')],
  ["what an editor adds", logo('<metadata><rdf:RDF rdf:about="x"/></metadata><desc>A mark</desc>')],
  [
    "attributes with the value they may have",
    logo("", `${ROOT} zoomAndPan="disable" externalResourcesRequired="false"`),
  ],
])("a logo with %s is by the profile", (_, text) => {
  expect(findLogoFaults(text)).toEqual([]);
});

test.each<readonly [what: string, text: string, fault: string]>([
  ["no element", "hello", "it is no SVG document"],
  ["nothing", "", "it is no SVG document"],
  ["another root", "<html></html>", "it is no SVG document"],
  ["an end that is missing", logo("<g>"), "it is not well-formed XML"],
  ["an end of another element", logo("<g></path>"), "it is not well-formed XML"],
  ["a second root", `${logo("")}<svg/>`, "it is not well-formed XML"],
  ["a tag that breaks off", `${logo("").slice(0, -1)}`, "it is not well-formed XML"],
  ["an attribute without quotes", logo("<path d=M0/>"), "it is not well-formed XML"],
  ["another profile", logo("", ROOT.replace("tiny-ps", "tiny")), "baseProfile"],
  ["no profile", logo("", ROOT.replace(/ baseProfile.*/, "")), "baseProfile"],
  ["another version", logo("", ROOT.replace("1.2", "1.1")), "version"],
  ["no namespace", logo("", ROOT.replace(/xmlns="[^"]*"/, "")), "xmlns"],
  ["a position of its root", logo("", `${ROOT} x="0px" y="0px"`), "x="],
  ["no title", `<svg ${ROOT}><path/></svg>`, "no title"],
  ["an empty title", `<svg ${ROOT}><title> </title></svg>`, "no title"],
  ["a title that is not the root's", `<svg ${ROOT}><g><title>a</title></g></svg>`, "no title"],
  ["two titles", logo("<title>b</title>"), "more than one title"],
  ["a script", logo("<script>alert(1)</script>"), "script"],
  ["a script that is empty", logo("<script/>"), "script"],
  ["a picture of another kind", logo('<image href="data:image/png;base64,AA"/>'), "image"],
  ["a movement", logo("<path><animate/></path>"), "animate"],
  ["another language", logo("<foreignObject/>"), "foreignObject"],
  ["a link", logo('<a href="#x"/>'), "a elements"],
  ["a style sheet", logo("<style>.a{}</style>"), "style elements"],
  ["a style of its own", logo('<path style="fill:red"/>'), "style="],
  ["a handler", logo('<path onclick="x()"/>'), "onclick="],
  [
    "a reference to elsewhere",
    logo('<use xlink:href="https://example.com/a.svg#b"/>'),
    "other documents",
  ],
  [
    "a colour from elsewhere",
    logo('<path fill="url(https://example.com/a.svg#b)"/>'),
    "other documents",
  ],
  ["an entity", `<!DOCTYPE svg [<!ENTITY a "b">]>${logo("")}`, "entities"],
  ["an empty description", logo("<desc> </desc>"), "desc is empty"],
  ["a style sheet beside it", `<?xml-stylesheet href="a.css"?>${logo("")}`, "other documents"],
  ["an editor's elements", logo("<sodipodi:namedview/>"), "sodipodi:namedview"],
  ["an editor's attributes", logo("", `${ROOT} inkscape:version="1"`), "inkscape:version="],
  ["a script among its metadata", logo("<metadata><script/></metadata>"), "script"],
  ["a filter", logo('<filter id="f"/>'), "filter"],
  ["a condition", logo("<switch><rect/></switch>"), "switch"],
  ["text behind its end", `${logo("")} hello`, "it is not well-formed XML"],
  ["a zoom", logo("", `${ROOT} zoomAndPan="magnify"`), "zoomAndPan="],
])("a logo with %s is not", (_, text, fault) => {
  expect(findLogoFaults(text).join("; ")).toContain(fault);
});

test.each([
  ["elements that do not end", "<svg>".repeat(13_000)],
  ["blanks within a tag", `<svg${" ".repeat(65_000)}`],
  ["attributes without values", `<svg ${"a ".repeat(32_000)}>`],
  ["ends of comments that do not come", "<!--".repeat(16_000)],
  ["brackets", "<".repeat(65_000)],
  ["half a document type", `<!DOCTYPE svg [${"]".repeat(65_000)}`],
  ["addresses", logo(`<path d="${"url( ".repeat(13_000)}"/>`)],
])("64 KB of %s are read to the end", (_, text) => {
  expect(findLogoFaults(text)).not.toEqual([]);
});

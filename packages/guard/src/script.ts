import { guard } from "./guard.ts";
import { read } from "./page.ts";

// What a page includes: its key and its texts are in attributes of its own element.

const element = read(Document, "currentScript", document);
// The addresses that visitors type go to the host in its `src`, so no other element may stand for it.
if (!(element instanceof HTMLScriptElement))
  throw new TypeError("The guard is no <script> of this page.");

// Not `element.src`: a <base> that the page got after this element would have changed the host.
const src = new URL(element.getAttribute("src") ?? "", location.href);
if (!/^https?:$/.test(src.protocol))
  throw new TypeError(`The guard comes from ${src}, which is no service.`);

const { key = "", suggestion, ask, no } = element.dataset;
const texts = { suggestion, ask, no };
const given = Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined));

guard({ key, api: new URL(".", src).href, texts: given });

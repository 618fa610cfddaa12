import { guard } from "./guard.ts";
import { read } from "./page.ts";

const element = read(Document, "currentScript", document);
// The addresses that visitors type go to the host in its `src`, so no other element may replace this element.
if (!(element instanceof HTMLScriptElement))
  throw new TypeError("The guard is no <script> of this page.");

// A <base> added after this element would change the host in `element.src`.
const src = new URL(element.getAttribute("src") ?? "", location.href);
if (!/^https?:$/.test(src.protocol))
  throw new TypeError(`The guard comes from ${src}, which is no service.`);

const { key = "", suggestion, ask, no } = element.dataset;
const texts = { suggestion, ask, no };
const given = Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined));

guard({ key, api: new URL(".", src).href, texts: given });

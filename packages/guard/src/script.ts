import { guard } from "./guard.ts";

// What a page includes: its key and its texts are in attributes of its own element.

const { src, dataset } = document.currentScript as HTMLScriptElement;
const { key = "", suggestion, ask, no } = dataset;
const texts = { suggestion, ask, no };
const given = Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined));

guard({ key, api: new URL(".", src).href, texts: given });

import { brotliCompressSync, brotliDecompressSync } from "node:zlib";

/** The source and the content of a list, for the evidence of a verdict. */
export type ListVersion = {
  readonly list: string;
  readonly source: string;
  readonly version: string;
  readonly entries: number;
  /** The hash of the domains, sorted by their bytes and joined by line feeds. */
  readonly sha256: string;
};

export type PackedList = ListVersion & { readonly packed: string };

/**
 * A list as packed in a bundle, or as the text of an edition: domains sorted by their bytes, each with a line feed. An edition
 * stays one text because the garbage collection of hundreds of thousands of strings would interrupt the server.
 */
export type DomainList = PackedList | (ListVersion & { readonly lines: string });

// The packed form has one line per parent, "com aaaBb": a capital gives the number of letters that a name shares with the name
// before it. Brotli and base64 then reduce the list to two fifths of the plain text. No information is lost, so the precise list never
// matches an unlisted domain.

const FIRST_CAPITAL = 0x41;
const SHARED_MAX = 25;
const CAPITALS = /(?=[A-Z])/;

export const pack = (domains: readonly string[]): string => {
  const byParent = Map.groupBy(domains.toSorted(), (domain) =>
    domain.slice(domain.indexOf(".") + 1),
  );
  const lines = [...byParent].map(([parent, children]) => {
    const names = children.map((child) => child.slice(0, child.indexOf("."))).toSorted();
    return `${parent} ${names.map((name, at) => shorten(name, names[at - 1] ?? "")).join("")}`;
  });
  return brotliCompressSync(lines.toSorted().join("\n")).toString("base64");
};

const shorten = (name: string, before: string): string => {
  let shared = 0;
  while (shared < SHARED_MAX && shared < name.length && name[shared] === before[shared]) shared++;
  return String.fromCharCode(FIRST_CAPITAL + shared) + name.slice(shared);
};

/** Names grouped by parent, as packed: joining each name to its parent would take three times as long as the rest of the unpacking. */
export type Domains = ReadonlyMap<string, ReadonlySet<string>>;

export const unpack = (packed: string): Domains => {
  const byParent = new Map<string, ReadonlySet<string>>();
  const text = brotliDecompressSync(Buffer.from(packed, "base64")).toString("latin1");
  for (const line of text.split("\n")) {
    const [parent = "", shortened = ""] = line.split(" ");
    if (shortened !== "") byParent.set(parent, new Set(lengthen(shortened)));
  }
  return byParent;
};

/** Each process runs this once, before V8 optimises it, so `split` is several times as fast as a loop over the letters. */
const lengthen = (shortened: string): readonly string[] => {
  let name = "";
  return shortened.split(CAPITALS).map((short) => {
    name = name.slice(0, short.charCodeAt(0) - FIRST_CAPITAL) + short.slice(1);
    return name;
  });
};

const hasDomain = (domains: Domains, domain: string): boolean => {
  const dot = domain.indexOf(".");
  return domains.get(domain.slice(dot + 1))?.has(domain.slice(0, dot)) === true;
};

/** Searches the sorted lines by bisection. */
const hasLine = (lines: string, domain: string): boolean => {
  let [from, to] = [0, lines.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const start = Math.max(from, lines.lastIndexOf("\n", middle - 1) + 1);
    const end = lines.indexOf("\n", middle);
    const line = lines.slice(start, end);
    if (line === domain) return true;
    if (line < domain) from = end + 1;
    else to = start;
  }
  return false;
};

export const listDomains = (domains: Domains): string[] =>
  [...domains]
    .flatMap(([parent, children]) => [...children].map((child) => `${child}.${parent}`))
    .toSorted();

const unpackedLists = new WeakMap<PackedList, Domains>();

/** Unpacks a list at its first use, and once in a process. */
const unpackOnce = (list: PackedList): Domains => {
  let domains = unpackedLists.get(list);
  if (!domains) {
    domains = unpack(list.packed);
    unpackedLists.set(list, domains);
  }
  return domains;
};

export const isOn = (list: DomainList, domain: string): boolean =>
  "lines" in list ? hasLine(list.lines, domain) : hasDomain(unpackOnce(list), domain);

/** Returns all domains of a list, sorted. */
export const readDomains = (list: DomainList): readonly string[] =>
  "lines" in list ? list.lines.split("\n").slice(0, -1) : listDomains(unpackOnce(list));

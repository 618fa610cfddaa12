import { brotliCompressSync, brotliDecompressSync } from "node:zlib";

/** Where a list comes from and what it held, for the evidence of a verdict. */
export type ListVersion = {
  readonly list: string;
  readonly source: string;
  readonly version: string;
  readonly entries: number;
  /** Over the domains in the order of their bytes, joined by line feeds. */
  readonly sha256: string;
};

export type PackedList = ListVersion & { readonly packed: string };

/**
 * As a bundle carries it, or as an edition has it: the domains in the order of their bytes, each with a line feed. A server
 * takes an edition while it works, and hundreds of thousands of strings would stop it for the collector of garbage.
 */
export type DomainList = PackedList | (ListVersion & { readonly lines: string });

// One line per parent, "com aaaBb", where a capital says how many letters a name has in common with the one before it;
// then brotli, then base64: two fifths of the plain text, and nothing is lost, so the precise list never answers for a
// domain that is not on it.

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

/** By parent, as packed: joining every name first would cost three times as long as all the rest. */
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

/** The engine's own split is several times as fast as a loop over the letters, which no process runs twice. */
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

/** By halves. */
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

/** A process that never asks never pays, and one that asks pays once. */
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

/** All of a list, sorted. */
export const readDomains = (list: DomainList): readonly string[] =>
  "lines" in list ? list.lines.split("\n").slice(0, -1) : listDomains(unpackOnce(list));

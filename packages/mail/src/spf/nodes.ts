import type { PublishedSpf } from "./published.ts";
import { findPage, isInclude, type SpfPage, type SpfStep, type SpfTree } from "./tree.ts";
import type { SpfWalk } from "./walk.ts";

/** A node in the tree of a policy: the domain's own record, or a term that refers to another one. */
export type SpfNode = {
  /** The depth of the node: 0 for the domain itself. */
  readonly depth: number;
  readonly term: string | null;
  readonly domain: string | null;
  readonly status: PublishedSpf["kind"] | "unread" | "loop";
  /** Null when the record occurred before, or is unusually long. */
  readonly record: string | null;
  /** The look-ups of the term and its whole subtree; receivers make ten. */
  readonly lookups: number;
  /** The number of terms in this record alone that need a look-up without another record: a, mx, ptr, exists. */
  readonly ownLookups: number;
  /** The number of address blocks that could replace the term. Null when it also has terms of other kinds. */
  readonly blocks: number | null;
};

/** A tree that receivers evaluate has at most eleven records. A hostile tree repeats its records without end. */
const NODES_MAX = 100;
const RECORD_MAX = 4_096;

export const listNodes = (
  tree: SpfTree,
  walks: ReadonlyMap<SpfPage, SpfWalk>,
): readonly SpfNode[] => {
  const nodes: SpfNode[] = [];
  const listBlocks = createBlockLister(tree);
  const seen = new Set<SpfPage>();
  const enter = (
    { term, name }: { readonly term: string | null; readonly name: string | null },
    above: readonly SpfPage[],
  ): void => {
    if (nodes.length === NODES_MAX) return;
    const page = name === null ? undefined : findPage(tree, name);
    const isLoop = page !== undefined && above.includes(page);
    nodes.push({
      depth: above.length,
      term,
      domain: name,
      ...describePage(isLoop ? undefined : page, term, { walks, listBlocks }),
      ...(isLoop && { status: "loop" }),
      ...(page && seen.has(page) && { record: null }),
    });
    if (!page || isLoop) return;
    seen.add(page);
    for (const link of listLinks(page)) enter(link, [...above, page]);
  };
  const [root] = tree.values();
  if (root) enter({ term: null, name: root.domain }, []);
  return nodes;
};

const describePage = (
  page: SpfPage | undefined,
  term: string | null,
  {
    walks,
    listBlocks,
  }: { readonly walks: ReadonlyMap<SpfPage, SpfWalk>; readonly listBlocks: ListBlocks },
): Omit<SpfNode, "depth" | "term" | "domain"> => {
  const forTerm = term === null ? 0 : 1;
  if (!page)
    return { status: "unread", record: null, lookups: forTerm, ownLookups: 0, blocks: null };
  const { published, steps } = page;
  const text = published.kind === "record" ? published.text : null;
  return {
    status: published.kind,
    record: text !== null && text.length <= RECORD_MAX ? text : null,
    lookups: (walks.get(page)?.lookups ?? 0) + forTerm,
    ownLookups: steps.filter(needsLookup).length,
    blocks: term === null ? null : (listBlocks(page)?.length ?? null),
  };
};

const listLinks = ({ steps, redirect }: SpfPage): readonly Pick<SpfStep, "term" | "name">[] => [
  ...steps.filter(isInclude),
  ...(redirect ? [redirect] : []),
];

const needsLookup = ({ mechanism: { kind } }: SpfStep): boolean =>
  kind === "a" || kind === "mx" || kind === "ptr" || kind === "exists";

/** Lists the address blocks of a record and its includes, as ip4 and ip6 terms. */
export type ListBlocks = (page: SpfPage) => readonly string[] | null;

/**
 * Null for a record that blocks cannot replace, because it contains other terms, or refuses some hosts before it allows others. Each record is
 * read once, or a tree that repeats its records would never end.
 */
export const createBlockLister = (tree: SpfTree): ListBlocks => {
  const listed = new Map<SpfPage, readonly string[] | null>();
  const list: ListBlocks = (page) => {
    const before = listed.get(page);
    if (before !== undefined) return before;
    listed.set(page, null);
    const blocks = readBlocks(tree, page, list);
    listed.set(page, blocks);
    return blocks;
  };
  return list;
};

const readBlocks = (tree: SpfTree, page: SpfPage, list: ListBlocks): readonly string[] | null => {
  const { published, record, steps, redirect } = page;
  if (published.kind !== "record" || record.faults.length > 0) return null;
  const blocks = new Set<string>();
  for (const { mechanism, qualifier, term, name } of redirect
    ? [...steps, toInclude(redirect)]
    : steps) {
    // The end of an included record decides nothing, unless it allows everything.
    if (mechanism.kind === "all" && qualifier !== "+") continue;
    if (qualifier !== "+") return null;
    if ("block" in mechanism) {
      blocks.add(term.replace(/^\+/, "").toLowerCase());
      continue;
    }
    const target = mechanism.kind === "include" && name !== null ? findPage(tree, name) : undefined;
    const below = target && list(target);
    if (!below) return null;
    for (const block of below) blocks.add(block);
  }
  return [...blocks];
};

/** An include at the end allows the same hosts as a redirect at the end of a record. */
const toInclude = ({ term, name }: Pick<SpfStep, "term" | "name">): SpfStep => ({
  mechanism: { kind: "include", target: [] },
  qualifier: "+",
  term,
  name,
});

import type { Dns } from "@mailproof/mail/dns/dns";
import { type ProposedRecord, propose } from "@mailproof/mail/records/dns-record";
import { createBlockLister, type SpfNode } from "@mailproof/mail/spf/nodes";
import { parseSpf } from "@mailproof/mail/spf/parse";
import { findPage, readTree } from "@mailproof/mail/spf/tree";
import { walkTree } from "@mailproof/mail/spf/walk";
import type { StoredReport } from "./items.ts";

export type FlattenedSpf = {
  readonly kind: "flattened";
  readonly proposal: ProposedRecord;
  readonly includes: readonly { readonly include: string; readonly blocks: number }[];
  readonly lookups: number;
  readonly bytes: number;
};

export type FlattenFault = {
  readonly kind: "fault";
  readonly include: string;
  readonly fault: string;
};

/**
 * Replaces the includes that the owner selects with their address blocks, from which later changes by their services are
 * missing. It starts from the record that the check proposes, if any.
 */
export const flattenSpf = async (
  { domain, spf, recommendations }: Pick<StoredReport, "domain" | "spf" | "recommendations">,
  names: readonly string[],
): Promise<FlattenedSpf | FlattenFault> => {
  const nodes = spf.tree;
  const proposed = recommendations
    .flatMap(({ proposal }) => proposal ?? [])
    .find(({ record, open }) => open.length === 0 && isRoot(record, domain));
  const published = nodes[0]?.record ?? null;
  const text = proposed?.record.value ?? published;
  if (text === null) return { kind: "fault", include: names[0] ?? "", fault: NO_RECORD };

  const readTreeOf = (root: string) =>
    readTree(createStoredDns(nodes, domain, root), domain, nodes.length + 1);
  const tree = await readTreeOf(text);
  const listBlocks = createBlockLister(tree);
  const [root] = tree.values();
  const replacements = new Map<string, readonly string[]>();
  const includes: { include: string; blocks: number }[] = [];
  for (const include of names) {
    const step = root?.steps.find(
      ({ mechanism, name }) => mechanism.kind === "include" && name?.toLowerCase() === include,
    );
    if (!step) return { kind: "fault", include, fault: NOT_INCLUDED };
    const page = findPage(tree, include);
    const blocks = page && step.qualifier === "+" ? listBlocks(page) : null;
    if (!blocks) return { kind: "fault", include, fault: NOT_ONLY_BLOCKS };
    replacements.set(step.term, blocks);
    includes.push({ include, blocks: blocks.length });
  }
  const terms = text
    .split(" ")
    .slice(1)
    .flatMap((term) => replacements.get(term) ?? [term]);
  const value = ["v=spf1", ...new Set(terms.filter((term) => term !== ""))].join(" ");
  const lookups = walkTree(await readTreeOf(value), NO_HOSTS).lookups;
  const record = { name: domain, type: "TXT", value } as const;
  const replaces =
    proposed?.replaces ?? (published === null ? [] : [{ ...record, value: published }]);
  return {
    kind: "flattened",
    proposal: propose(record, { replaces }),
    includes,
    lookups,
    bytes: value.length,
  };
};

const NO_RECORD = "there is no SPF record";
const NOT_INCLUDED = "the SPF record does not include it";
const NOT_ONLY_BLOCKS =
  "it stands for more than address blocks, so they would not allow the same hosts";

const NO_HOSTS = { addresses: new Map(), mailHosts: new Map() };

const isRoot = ({ name, value }: ProposedRecord["record"], domain: string): boolean =>
  name === domain && parseSpf(value).faults.length === 0 && value.startsWith("v=spf1 ");

const createStoredDns = (nodes: readonly SpfNode[], domain: string, root: string): Dns => {
  const texts = new Map(
    nodes.flatMap((node) =>
      node.record !== null && node.domain !== null
        ? [[node.domain.toLowerCase(), node.record]]
        : [],
    ),
  );
  texts.set(domain, root);
  return async (type, name) => {
    const text = type === "TXT" ? texts.get(name.toLowerCase()) : undefined;
    // A TXT record is a string, and the flattening queries no other type.
    return text === undefined ? { kind: "nodata" } : { kind: "ok", records: [text as never] };
  };
};

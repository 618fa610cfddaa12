import type { DnsOutcome } from "../dns/dns.ts";
import { isAbsent } from "../dns/outcome.ts";
import { answersTo, type Hosts } from "./hosts.ts";
import { SPF_LIMITS } from "./limits.ts";
import type { Mechanism } from "./parse.ts";
import { type Page, pageAt, type Step, type Tree } from "./tree.ts";
import { type Place, RESULT_OF, type SpfResult } from "./verdict.ts";

/**
 * What a host over IPv4 meets whom no address in the policy fits. It is the one that has to walk through all of it,
 * so no host costs more look-ups.
 */
export type Walk = {
  readonly lookups: number;
  readonly voidLookups: number;
  /** "unknown" behind a macro, a loop, a fault or a record that could not be read. */
  readonly result: SpfResult | "unknown";
  /** The term that decided, in the innermost record; null where it was the end of one. */
  readonly by: (Place & { readonly kind: Mechanism["kind"] }) | null;
};

/** Sums double with every level of includes that are used twice; beyond this a number tells nobody anything. */
const COUNT_MAX = 1_000;

const NOWHERE: Walk = { lookups: 0, voidLookups: 0, result: "unknown", by: null };

export const walkTree = (tree: Tree, hosts: Hosts): Walk => {
  const walked = new Map<Page, Walk>();
  const walk = (page: Page | undefined): Walk => {
    if (page?.published.kind !== "record") return NOWHERE;
    const before = walked.get(page);
    if (before) return before;
    // For the time of its own walk: whoever comes here again is in a loop.
    walked.set(page, NOWHERE);
    const found = walkPage(page, hosts, (name) =>
      walk(name === null ? undefined : pageAt(tree, name)),
    );
    walked.set(page, found);
    return found;
  };
  const [root] = tree.values();
  return walk(root);
};

const walkPage = (page: Page, hosts: Hosts, enter: (name: string | null) => Walk): Walk => {
  let costs = NOWHERE;
  for (const step of page.steps) {
    const taken = step.mechanism.kind === "include" ? within(enter(step.name)) : at(step, hosts);
    costs = sum(costs, taken);
    if (taken.result !== "pass") continue;
    const { mechanism, qualifier, term } = step;
    const by = taken.by ?? { domain: page.domain, term, kind: mechanism.kind };
    return { ...costs, result: RESULT_OF[qualifier], by };
  }
  if (page.redirect) {
    const followed = within(enter(page.redirect.name));
    return { ...followed, ...sum(costs, followed), result: followed.result, by: followed.by };
  }
  const isUnread = page.record.faults.some(({ term }) => AN_END.test(term));
  return { ...costs, result: isUnread ? "unknown" : "neutral" };
};

/** What could not be read and may have been meant as the end of the record: then it is not missing as well. */
const AN_END = /all|redirect/i;

/** The term that leads into another record is a look-up of its own. */
const within = (inner: Walk): Walk => ({ ...inner, lookups: inner.lookups + 1 });

const at = (step: Step, hosts: Hosts): Walk => {
  const { kind } = step.mechanism;
  const answers = answersTo(hosts, step, SPF_LIMITS.namesMax);
  return {
    lookups: kind === "all" || kind === "ip4" || kind === "ip6" ? 0 : 1,
    voidLookups: answers.filter(isAbsent).length,
    result: fitsAnybody(step, answers) ? "pass" : "unknown",
    by: null,
  };
};

const sum = (one: Walk, other: Walk): Walk => ({
  ...NOWHERE,
  lookups: Math.min(one.lookups + other.lookups, COUNT_MAX),
  voidLookups: Math.min(one.voidLookups + other.voidLookups, COUNT_MAX),
});

/** Besides "all": a block of every address there is, and a name that exists whatever the mail. */
const fitsAnybody = ({ mechanism }: Step, answers: readonly DnsOutcome<unknown>[]): boolean => {
  if (mechanism.kind === "all") return true;
  if (mechanism.kind === "ip4") return mechanism.block.length === 0;
  if (mechanism.kind === "exists") return hasRecords(answers);
  if (mechanism.kind === "a") return mechanism.length4 === 0 && hasRecords(answers);
  return mechanism.kind === "mx" && mechanism.length4 === 0 && hasRecords(answers.slice(1));
};

const hasRecords = (answers: readonly DnsOutcome<unknown>[]): boolean =>
  answers.some((answer) => answer.kind === "ok" && answer.records.length > 0);

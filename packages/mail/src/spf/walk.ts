import { type DnsOutcome, isAbsent } from "../dns/dns.ts";
import { getAnswers, type SpfHosts } from "./hosts.ts";
import { SPF_LIMITS } from "./limits.ts";
import type { SpfMechanism } from "./parse.ts";
import { findPage, type SpfPage, type SpfStep, type SpfTree } from "./tree.ts";
import { RESULT_OF, type SpfResult, type TermLocation } from "./verdict.ts";

/**
 * The evaluation for an IPv4 host that matches no address of the policy. It has to evaluate the whole policy, so no other host costs more
 * look-ups.
 */
export type SpfWalk = {
  readonly lookups: number;
  readonly voidLookups: number;
  readonly result: SpfResult | "unknown";
  /** The term that decided, in the innermost record. Null when the end of a record decided. */
  readonly by: (TermLocation & { readonly kind: SpfMechanism["kind"] }) | null;
};

/** The sum doubles with each level of includes that are used twice. Counts above this limit are all equal to a reader. */
const COUNT_MAX = 1_000;

const NOWHERE: SpfWalk = { lookups: 0, voidLookups: 0, result: "unknown", by: null };

export const walkTree = (tree: SpfTree, hosts: SpfHosts): SpfWalk => {
  const [root] = tree.values();
  return (root && walkPages(tree, hosts).get(root)) ?? NOWHERE;
};

export const walkPages = (tree: SpfTree, hosts: SpfHosts): ReadonlyMap<SpfPage, SpfWalk> => {
  const walked = new Map<SpfPage, SpfWalk>();
  const walk = (page: SpfPage | undefined): SpfWalk => {
    if (page?.published.kind !== "record") return NOWHERE;
    const before = walked.get(page);
    if (before) return before;
    // NOWHERE is the value during the record's evaluation: a second visit is a loop.
    walked.set(page, NOWHERE);
    const found = walkPage(page, hosts, (name) =>
      walk(name === null ? undefined : findPage(tree, name)),
    );
    walked.set(page, found);
    return found;
  };
  const [root] = tree.values();
  walk(root);
  return walked;
};

const walkPage = (
  page: SpfPage,
  hosts: SpfHosts,
  enter: (name: string | null) => SpfWalk,
): SpfWalk => {
  let costs = NOWHERE;
  for (const step of page.steps) {
    const taken =
      step.mechanism.kind === "include" ? toNestedWalk(enter(step.name)) : walkStep(step, hosts);
    costs = addWalks(costs, taken);
    if (taken.result !== "pass") continue;
    const { mechanism, qualifier, term } = step;
    const by = taken.by ?? { domain: page.domain, term, kind: mechanism.kind };
    return { ...costs, result: RESULT_OF[qualifier], by };
  }
  if (page.redirect) {
    const followed = toNestedWalk(enter(page.redirect.name));
    return { ...followed, ...addWalks(costs, followed), result: followed.result, by: followed.by };
  }
  const isUnread = page.record.faults.some(({ term }) => AN_END.test(term));
  return { ...costs, result: isUnread ? "unknown" : "neutral" };
};

/** An unreadable term that may be the end of the record: a missing end is then not reported as well. */
const AN_END = /all|redirect/i;

const toNestedWalk = (inner: SpfWalk): SpfWalk => ({ ...inner, lookups: inner.lookups + 1 });

const walkStep = (step: SpfStep, hosts: SpfHosts): SpfWalk => {
  const { kind } = step.mechanism;
  const answers = getAnswers(hosts, step, SPF_LIMITS.namesMax);
  return {
    lookups: kind === "all" || kind === "ip4" || kind === "ip6" ? 0 : 1,
    voidLookups: answers.filter(isAbsent).length,
    result: matchesEveryHost(step, answers) ? "pass" : "unknown",
    by: null,
  };
};

const addWalks = (one: SpfWalk, other: SpfWalk): SpfWalk => ({
  ...NOWHERE,
  lookups: Math.min(one.lookups + other.lookups, COUNT_MAX),
  voidLookups: Math.min(one.voidLookups + other.voidLookups, COUNT_MAX),
});

/** True for a mechanism that every sender matches: "all", a block of all addresses, or a name that exists for every message. */
const matchesEveryHost = (
  { mechanism }: SpfStep,
  answers: readonly DnsOutcome<unknown>[],
): boolean => {
  if (mechanism.kind === "all") return true;
  if (mechanism.kind === "ip4") return mechanism.block.length === 0;
  if (mechanism.kind === "exists") return hasRecords(answers);
  if (mechanism.kind === "a") return mechanism.length4 === 0 && hasRecords(answers);
  return mechanism.kind === "mx" && mechanism.length4 === 0 && hasRecords(answers.slice(1));
};

const hasRecords = (answers: readonly DnsOutcome<unknown>[]): boolean =>
  answers.some((answer) => answer.kind === "ok" && answer.records.length > 0);

import type { Dns } from "../dns/dns.ts";
import { parseIp, reverseName } from "../ip.ts";
import type { Issue } from "../issue.ts";
import { scoreOf } from "../rules.ts";
import { evaluateSpf, type SpfEvaluation } from "./evaluate.ts";
import { type Facts, findingsIn } from "./findings.ts";
import { readHosts } from "./hosts.ts";
import { askingOnce, SPF_LIMITS } from "./limits.ts";
import { withoutFinalDot } from "./name.ts";
import { issuesOf } from "./rules.ts";
import { isPtr, type Page, readTree, type Tree } from "./tree.ts";
import type { SpfResult } from "./verdict.ts";
import { walkTree } from "./walk.ts";

export type SpfInput = {
  /** In A-labels. */
  readonly domain: string;
  /** Where it sends from: then the policy is also evaluated for it. */
  readonly sendingIp?: string | null;
};

export type SpfStatus = "pass" | "warn" | "fail" | "missing" | "error";

export type SpfAnalysis = {
  readonly status: SpfStatus;
  /** The first where there are several. */
  readonly record: string | null;
  /** 100 without what the issues cost. Null where trouble with the DNS left something open. */
  readonly score: number | null;
  readonly issues: readonly Issue[];
  /** Of the host that walks through all of the policy because no address in it fits. */
  readonly lookups: number;
  readonly voidLookups: number;
  /** The other domains whose records are part of it, by include or redirect. */
  readonly domains: readonly string[];
  /** Null without a sending address, and where our questions did not suffice. */
  readonly evaluation: SpfEvaluation | null;
};

/** However a stranger arranges his zones, nothing asks more. What keeps to the RFC's limits needs fewer. */
const QUESTIONS_MAX = 40;
const PAGES_MAX = 20;
const HOSTS_MAX = 12;

/** What no unasked question could have changed. */
const PROVEN: ReadonlySet<SpfResult> = new Set(["pass", "permerror"]);

/** All that is wrong with a domain's policy, and not only what one mail would meet of it. */
export const analyseSpf = async (door: Dns, input: SpfInput): Promise<SpfAnalysis> => {
  const { dns, isSpent } = atMost(door, QUESTIONS_MAX);
  const domain = withoutFinalDot(input.domain);
  const tree = await readTree(dns, domain, PAGES_MAX);
  const [root] = tree.values();
  if (!root) throw new Error(`The tree of ${domain} has no root`);
  const { namesMax } = SPF_LIMITS;
  const hosts = await readHosts(dns, tree, { questionsMax: HOSTS_MAX, namesMax });
  const walk = walkTree(tree, hosts);
  const { sendingIp = null } = input;
  const sending = sendingIp === null ? null : await sendingFrom(dns, tree, domain, sendingIp);
  // When it is we who stopped asking, that says nothing of the domain.
  const gaveUp = isSpent() && !PROVEN.has(sending?.evaluation?.result ?? "none");
  const evaluation = gaveUp ? null : (sending?.evaluation ?? null);

  const facts = {
    tree,
    root,
    hosts,
    walk,
    sending: sending && { ...sending, evaluation },
  };
  const issues = issuesOf(findingsIn(facts));
  const status = statusOf(issues);
  const { lookups, voidLookups } = walk;
  return {
    status,
    record: recordAt(root),
    score: status === "error" ? null : scoreOf(issues),
    issues,
    lookups,
    voidLookups,
    domains: [...tree.values()].slice(1).map((page) => page.domain),
    evaluation,
  };
};

const atMost = (
  door: Dns,
  questionsMax: number,
): { readonly dns: Dns; readonly isSpent: () => boolean } => {
  let questions = 0;
  const counted: Dns = async (type, name) => {
    questions += 1;
    return questions > questionsMax ? { kind: "timeout" } : door(type, name);
  };
  return { dns: askingOnce(counted), isSpent: () => questions > questionsMax };
};

const sendingFrom = async (
  dns: Dns,
  tree: Tree,
  domain: string,
  sendingIp: string,
): Promise<NonNullable<Facts["sending"]>> => {
  const query = { ip: sendingIp, domain, sender: `postmaster@${domain}`, helo: domain };
  const evaluation = await evaluateSpf(dns, query);
  const ip = [...tree.values()].some(({ steps }) => steps.some(isPtr))
    ? parseIp(sendingIp)
    : undefined;
  const named = ip && (await dns("PTR", reverseName(ip)));
  return { ip: sendingIp, evaluation, names: named?.kind === "ok" ? named.records.length : 0 };
};

const recordAt = ({ published }: Page): string | null => {
  if (published.kind === "record") return published.text;
  return published.kind === "several" ? (published.texts[0] ?? null) : null;
};

/** The first line that holds is the status. */
const STATUSES: readonly (readonly [SpfStatus, (issue: Issue) => boolean])[] = [
  ["error", ({ id }) => id === "SPF_TEMPERROR"],
  ["missing", ({ id }) => id === "SPF_MISSING"],
  ["fail", ({ severity }) => severity === "critical" || severity === "high"],
  ["warn", ({ costPoints }) => costPoints > 0],
];

const statusOf = (issues: readonly Issue[]): SpfStatus =>
  STATUSES.find(([, holds]) => issues.some(holds))?.[0] ?? "pass";

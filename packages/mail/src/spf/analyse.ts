import type { Dns } from "../dns/dns.ts";
import { parseIp, toReverseName } from "../ip.ts";
import type { Issue } from "../issue.ts";
import { scoreIssues } from "../issue-rules.ts";
import { evaluateSpf, type SpfEvaluation } from "./evaluate.ts";
import { listFindings, type SpfFindingsInput } from "./findings.ts";
import { readHosts } from "./hosts.ts";
import { cacheQuestions, SPF_LIMITS } from "./limits.ts";
import { removeFinalDot } from "./name.ts";
import { listNodes, type SpfNode } from "./nodes.ts";
import { createSpfIssues } from "./rules.ts";
import { isPtr, readTree, type SpfPage, type SpfTree } from "./tree.ts";
import type { SpfResult } from "./verdict.ts";
import { walkPages, walkTree } from "./walk.ts";

export type SpfInput = {
  readonly domain: string;
  readonly sendingIp?: string | null;
};

export type SpfStatus = "pass" | "warn" | "fail" | "missing" | "error";

export type SpfAnalysis = {
  readonly status: SpfStatus;
  readonly record: string | null;
  /** 100 less the points of the issues. Null when a failed DNS query left a part open. */
  readonly score: number | null;
  readonly issues: readonly Issue[];
  readonly lookups: number;
  readonly voidLookups: number;
  readonly domains: readonly string[];
  readonly tree: readonly SpfNode[];
  readonly evaluation: SpfEvaluation | null;
};

/** Zones of any shape cost at most this many queries. Records within the limits of the RFC need fewer. */
const QUESTIONS_MAX = 40;
const PAGES_MAX = 20;
const HOSTS_MAX = 12;

/** Results that an unsent query could not have changed. */
const PROVEN: ReadonlySet<SpfResult> = new Set(["pass", "permerror"]);

export const analyseSpf = async (dns: Dns, input: SpfInput): Promise<SpfAnalysis> => {
  const { dns: limited, isSpent } = limitQuestions(dns, QUESTIONS_MAX);
  const domain = removeFinalDot(input.domain);
  const tree = await readTree(limited, domain, PAGES_MAX);
  const [root] = tree.values();
  if (!root) throw new Error(`The tree of ${domain} has no root`);
  const { namesMax } = SPF_LIMITS;
  const hosts = await readHosts(limited, tree, { questionsMax: HOSTS_MAX, namesMax });
  const walk = walkTree(tree, hosts);
  const { sendingIp = null } = input;
  const sending =
    sendingIp === null ? null : await evaluateSending(limited, tree, domain, sendingIp);
  // When our own budget ended the queries, the result proves nothing about the domain.
  const gaveUp = isSpent() && !PROVEN.has(sending?.evaluation?.result ?? "none");
  const evaluation = gaveUp ? null : (sending?.evaluation ?? null);

  const inputs = {
    tree,
    root,
    hosts,
    walk,
    sending: sending && { ...sending, evaluation },
  };
  const issues = createSpfIssues(listFindings(inputs));
  const status = toSpfStatus(issues);
  const { lookups, voidLookups } = walk;
  return {
    status,
    record: getRecord(root),
    score: status === "error" ? null : scoreIssues(issues),
    issues,
    lookups,
    voidLookups,
    domains: [...tree.values()].slice(1).map((page) => page.domain),
    tree: listNodes(tree, walkPages(tree, hosts)),
    evaluation,
  };
};

const limitQuestions = (
  dns: Dns,
  questionsMax: number,
): { readonly dns: Dns; readonly isSpent: () => boolean } => {
  let questions = 0;
  const counted: Dns = async (type, name) => {
    questions += 1;
    return questions > questionsMax ? { kind: "timeout" } : dns(type, name);
  };
  return { dns: cacheQuestions(counted), isSpent: () => questions > questionsMax };
};

const evaluateSending = async (
  dns: Dns,
  tree: SpfTree,
  domain: string,
  sendingIp: string,
): Promise<NonNullable<SpfFindingsInput["sending"]>> => {
  const query = { ip: sendingIp, domain, sender: `postmaster@${domain}`, helo: domain };
  const evaluation = await evaluateSpf(dns, query);
  const ip = [...tree.values()].some(({ steps }) => steps.some(isPtr))
    ? parseIp(sendingIp)
    : undefined;
  const named = ip && (await dns("PTR", toReverseName(ip)));
  return { ip: sendingIp, evaluation, names: named?.kind === "ok" ? named.records.length : 0 };
};

const getRecord = ({ published }: SpfPage): string | null => {
  if (published.kind === "record") return published.text;
  return published.kind === "several" ? (published.texts[0] ?? null) : null;
};

const STATUSES: readonly (readonly [SpfStatus, (issue: Issue) => boolean])[] = [
  ["error", ({ id }) => id === "SPF_TEMPERROR"],
  ["missing", ({ id }) => id === "SPF_MISSING"],
  ["fail", ({ severity }) => severity === "critical" || severity === "high"],
  ["warn", ({ costPoints }) => costPoints > 0],
];

const toSpfStatus = (issues: readonly Issue[]): SpfStatus =>
  STATUSES.find(([, holds]) => issues.some(holds))?.[0] ?? "pass";

import {
  type Dns,
  type DnsOutcome,
  getRecords,
  isAbsent,
  isFault,
  type MxRecordData,
} from "../dns/dns.ts";
import type { Cidr } from "../ip.ts";
import type { Issue } from "../issue.ts";
import { type IssueStatus, joinNames, scoreIssues, toStatus } from "../issue-rules.ts";
import { listRepeated } from "../tag-list.ts";
import { createMxIssue } from "./rules.ts";
import { LOOKED_UP_MAX, lookUpTarget, type MxHost } from "./targets.ts";

export type MxRecord = {
  readonly priority: number;
  readonly host: string;
  readonly ip: string | null;
};

export type MxAnalysis = {
  readonly status: IssueStatus | "missing" | "error";
  /** The records, sorted by preference. A domain without MX records counts as its own mail host when it has an address (RFC 5321 §5.1). */
  readonly records: readonly MxRecord[];
  readonly hasValidMx: boolean | null;
  readonly score: number | null;
  readonly issues: readonly Issue[];
};

type MxInput = {
  readonly domain: string;
  readonly allowed: readonly Cidr[];
};

export const analyseMx = async (dns: Dns, { domain, allowed }: MxInput): Promise<MxAnalysis> => {
  const [mx, servers] = await Promise.all([dns("MX", domain), dns("NS", domain)]);
  const names = new Set(getRecords(servers).map(toHostName));
  const about = names.size === 1 ? [createMxIssue("NS", { domain })] : [];

  if (isFault(mx)) return createUnknown(domain, mx, []);
  if (isAbsent(mx)) return analyseMissingMx(dns, { domain, allowed }, mx, about);

  const records = getRecords(mx)
    .map(({ priority, exchange }) => ({ priority, host: toHostName(exchange) }))
    .toSorted((a, b) => a.priority - b.priority);
  const isNull = ({ host }: { readonly host: string }) => host === "";
  // RFC 7505 §3. The preference should be 0, but no receiver checks it.
  if (records.every(isNull)) return analyseNullMx(records, domain, about);

  const hosts = [...new Set(records.filter((one) => !isNull(one)).map(({ host }) => host))];
  const targets = await Promise.all(
    hosts.slice(0, LOOKED_UP_MAX).map((host) => lookUpTarget(dns, host, allowed)),
  );
  const mixed = records.some(isNull) ? [createMxIssue("MX_NULL_MIXED", { domain })] : [];
  const shown = records.map(({ priority, host }) => ({
    priority,
    host: host || ".",
    ip: targets.find((target) => target.host === host)?.ips[0] ?? null,
  }));
  const others = [...mixed, ...findDuplicates(records), ...about];
  return judgeTargets(shown, targets, others, hosts.length > LOOKED_UP_MAX);
};

const toHostName = (name: string): string => name.toLowerCase().replace(/\.$/, "");

const createUnknown = (
  domain: string,
  { kind }: DnsOutcome<unknown>,
  records: readonly MxRecord[],
): MxAnalysis => ({
  status: "error",
  records,
  hasValidMx: null,
  score: null,
  issues: [createMxIssue(kind === "timeout" ? "MX_TIMEOUT" : "MX_SERVFAIL", { domain })],
});

const analyseMissingMx = async (
  dns: Dns,
  { domain, allowed }: MxInput,
  mx: DnsOutcome<MxRecordData>,
  about: readonly Issue[],
): Promise<MxAnalysis> => {
  const [a, target] = await Promise.all([dns("A", domain), lookUpTarget(dns, domain, allowed)]);
  if (target.kind === "unknown") {
    const failed = [a, await dns("AAAA", domain)].find(isFault);
    return createUnknown(domain, failed ?? { kind: "timeout" }, []);
  }
  if (target.kind === "missing") {
    const isGone = mx.kind === "nxdomain" && a.kind === "nxdomain";
    const issues = [createMxIssue(isGone ? "MX_NXDOMAIN" : "MX_NONE_NO_A", { domain })];
    return { status: "missing", records: [], hasValidMx: false, score: 0, issues };
  }
  const records = [{ priority: 0, host: domain, ip: target.ips[0] ?? null }];
  // An alias is no fault of the domain itself: only the target of an MX record must not be an alias.
  const itself = { ...target, isAlias: false };
  return judgeTargets(
    records,
    [itself],
    [createMxIssue("MX_IMPLICIT", { domain }), ...about],
    false,
  );
};

const analyseNullMx = (
  records: readonly { readonly priority: number }[],
  domain: string,
  about: readonly Issue[],
): MxAnalysis => {
  const issues = [createMxIssue("MX_NULL", { domain }), ...about];
  return {
    status: "fail",
    records: records.map(({ priority }) => ({ priority, host: ".", ip: null })),
    hasValidMx: false,
    score: scoreIssues(issues),
    issues,
  };
};

const findDuplicates = (records: readonly { readonly host: string }[]): readonly Issue[] => {
  const hosts = records.map(({ host }) => host).filter((host) => host !== "");
  const twice = listRepeated(hosts);
  return twice.length > 0 ? [createMxIssue("MX_DUP", { host: joinNames(twice) })] : [];
};

const judgeTargets = (
  records: readonly MxRecord[],
  targets: readonly MxHost[],
  others: readonly Issue[],
  hasMore: boolean,
): MxAnalysis => {
  const isReached = targets.some(({ kind }) => kind === "public");
  // We stopped at our own limit: a host that we did not look up may accept mail.
  const isOpen = !isReached && (hasMore || targets.some(({ kind }) => kind === "unknown"));
  const issues = [...createTargetIssues(targets, isReached || isOpen), ...others];
  return {
    status: isOpen ? "error" : toStatus(issues),
    records,
    hasValidMx: isOpen ? null : isReached,
    score: isOpen ? null : scoreIssues(issues),
    issues,
  };
};

const BAD = [
  ["literal", "MX_TARGET_IP"],
  ["missing", "MX_TARGET_NX"],
  ["private", "MX_TARGET_PRIVATE"],
] as const;

/** An unreachable host costs less when another host is reachable, or may be. */
const createTargetIssues = (targets: readonly MxHost[], isOtherGood: boolean): readonly Issue[] => {
  const bad = BAD.flatMap(([kind, id]) => {
    const hosts = targets.filter((target) => target.kind === kind).map(({ host }) => host);
    const degree = isOtherGood ? "lesser" : "full";
    return hosts.length > 0 ? [createMxIssue(id, { host: joinNames(hosts) }, degree)] : [];
  });
  const aliases = targets.filter(({ isAlias }) => isAlias).map(({ host }) => host);
  const cname =
    aliases.length > 0 ? [createMxIssue("MX_TARGET_CNAME", { host: joinNames(aliases) })] : [];
  return [...bad, ...cname, ...(isSingle(targets) ? [createMxIssue("MX_SINGLE")] : [])];
};

const isSingle = (targets: readonly MxHost[]): boolean => {
  const ips = new Set(targets.flatMap((target) => target.ips));
  return targets.length === 1 || ips.size === 1;
};

import type { Dns, DnsOutcome, Mx } from "../dns/dns.ts";
import { isAbsent, isFault, recordsOf } from "../dns/outcome.ts";
import type { Cidr } from "../ip.ts";
import type { Issue } from "../issue.ts";
import { named, type Status, scoreOf, statusOf } from "../rules.ts";
import { repeated } from "../tag-list.ts";
import { mxIssue } from "./rules.ts";
import { LOOKED_UP_MAX, locate, type Target } from "./targets.ts";

export type MxRecord = {
  readonly priority: number;
  /** "." is a null MX. */
  readonly host: string;
  readonly ip: string | null;
};

export type MxAnalysis = {
  readonly status: Status | "missing" | "error";
  /** By preference. Without MX records the domain itself, where it has an address (RFC 5321 §5.1). */
  readonly records: readonly MxRecord[];
  /** Null: it could not be found out. */
  readonly hasValidMx: boolean | null;
  readonly score: number | null;
  readonly issues: readonly Issue[];
};

type Input = {
  readonly domain: string;
  /** Addresses that count as public although they are not, for a lab. */
  readonly allowed: readonly Cidr[];
};

/** Where mail for a domain goes, and everything that is wrong with it. */
export const analyseMx = async (dns: Dns, { domain, allowed }: Input): Promise<MxAnalysis> => {
  const [mx, servers] = await Promise.all([dns("MX", domain), dns("NS", domain)]);
  const names = new Set(recordsOf(servers).map(hostName));
  const about = names.size === 1 ? [mxIssue("NS", { domain })] : [];

  if (isFault(mx)) return unknown(domain, mx, []);
  if (isAbsent(mx)) return withoutMx(dns, { domain, allowed }, mx, about);

  const records = recordsOf(mx)
    .map(({ priority, exchange }) => ({ priority, host: hostName(exchange) }))
    .toSorted((a, b) => a.priority - b.priority);
  const isNull = ({ host }: { readonly host: string }) => host === "";
  // RFC 7505 §3. The preference ought to be 0, and no receiver looks at it.
  if (records.every(isNull)) return nullMx(records, domain, about);

  const hosts = [...new Set(records.filter((one) => !isNull(one)).map(({ host }) => host))];
  const targets = await Promise.all(
    hosts.slice(0, LOOKED_UP_MAX).map((host) => locate(dns, host, allowed)),
  );
  const mixed = records.some(isNull) ? [mxIssue("MX_NULL_MIXED", { domain })] : [];
  const shown = records.map(({ priority, host }) => ({
    priority,
    host: host || ".",
    ip: targets.find((target) => target.host === host)?.ips[0] ?? null,
  }));
  const others = [...mixed, ...duplicates(records), ...about];
  return judge(shown, targets, others, hosts.length > LOOKED_UP_MAX);
};

const hostName = (name: string): string => name.toLowerCase().replace(/\.$/, "");

const unknown = (
  domain: string,
  { kind }: DnsOutcome<unknown>,
  records: readonly MxRecord[],
): MxAnalysis => ({
  status: "error",
  records,
  hasValidMx: null,
  score: null,
  issues: [mxIssue(kind === "timeout" ? "MX_TIMEOUT" : "MX_SERVFAIL", { domain })],
});

const withoutMx = async (
  dns: Dns,
  { domain, allowed }: Input,
  mx: DnsOutcome<Mx>,
  about: readonly Issue[],
): Promise<MxAnalysis> => {
  const [a, target] = await Promise.all([dns("A", domain), locate(dns, domain, allowed)]);
  if (target.kind === "unknown") {
    const failed = [a, await dns("AAAA", domain)].find(isFault);
    return unknown(domain, failed ?? { kind: "timeout" }, []);
  }
  if (target.kind === "missing") {
    const isGone = mx.kind === "nxdomain" && a.kind === "nxdomain";
    const issues = [mxIssue(isGone ? "MX_NXDOMAIN" : "MX_NONE_NO_A", { domain })];
    return { status: "missing", records: [], hasValidMx: false, score: 0, issues };
  }
  const records = [{ priority: 0, host: domain, ip: target.ips[0] ?? null }];
  // That the domain is an alias is no fault here: only an MX record must not name one.
  const itself = { ...target, isAlias: false };
  return judge(records, [itself], [mxIssue("MX_IMPLICIT", { domain }), ...about], false);
};

const nullMx = (
  records: readonly { readonly priority: number }[],
  domain: string,
  about: readonly Issue[],
): MxAnalysis => {
  const issues = [mxIssue("MX_NULL", { domain }), ...about];
  return {
    status: "fail",
    records: records.map(({ priority }) => ({ priority, host: ".", ip: null })),
    hasValidMx: false,
    score: scoreOf(issues),
    issues,
  };
};

const duplicates = (records: readonly { readonly host: string }[]): readonly Issue[] => {
  const hosts = records.map(({ host }) => host).filter((host) => host !== "");
  const twice = repeated(hosts);
  return twice.length > 0 ? [mxIssue("MX_DUP", { host: named(twice) })] : [];
};

const judge = (
  records: readonly MxRecord[],
  targets: readonly Target[],
  others: readonly Issue[],
  hasMore: boolean,
): MxAnalysis => {
  const isReached = targets.some(({ kind }) => kind === "public");
  // It was us who stopped: one of the hosts that were never looked up may well take mail.
  const isOpen = !isReached && (hasMore || targets.some(({ kind }) => kind === "unknown"));
  const issues = [...ofTargets(targets, isReached || isOpen), ...others];
  return {
    status: isOpen ? "error" : statusOf(issues),
    records,
    hasValidMx: isOpen ? null : isReached,
    score: isOpen ? null : scoreOf(issues),
    issues,
  };
};

const BAD = [
  ["literal", "MX_TARGET_IP"],
  ["missing", "MX_TARGET_NX"],
  ["private", "MX_TARGET_PRIVATE"],
] as const;

/** A host that leads nowhere weighs less where another one leads somewhere, or may. */
const ofTargets = (targets: readonly Target[], isOtherGood: boolean): readonly Issue[] => {
  const bad = BAD.flatMap(([kind, id]) => {
    const hosts = targets.filter((target) => target.kind === kind).map(({ host }) => host);
    const degree = isOtherGood ? "lesser" : "full";
    return hosts.length > 0 ? [mxIssue(id, { host: named(hosts) }, degree)] : [];
  });
  const aliases = targets.filter(({ isAlias }) => isAlias).map(({ host }) => host);
  const cname = aliases.length > 0 ? [mxIssue("MX_TARGET_CNAME", { host: named(aliases) })] : [];
  return [...bad, ...cname, ...(isSingle(targets) ? [mxIssue("MX_SINGLE")] : [])];
};

const isSingle = (targets: readonly Target[]): boolean => {
  const ips = new Set(targets.flatMap((target) => target.ips));
  return targets.length === 1 || ips.size === 1;
};

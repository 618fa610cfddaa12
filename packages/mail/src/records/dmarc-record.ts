import type { DkimAnalysis } from "../dkim/analyse.ts";
import type { DmarcAnalysis } from "../dmarc/analyse.ts";
import {
  type DmarcPolicy,
  type DmarcRecord,
  isDmarc,
  isIntendedAsDmarc,
  isPartial,
  isWeaker,
  POLICIES,
  parseDmarc,
  type ReportAddress,
} from "../dmarc/record.ts";
import { takesReportsOf } from "../dmarc/reports.ts";
import { TAG_VALUES } from "../dmarc/tag-values.ts";
import type { Dns } from "../dns/dns.ts";
import { isAbsent } from "../dns/dns.ts";
import type { MxAnalysis } from "../mx/analyse.ts";
import type { SpfAnalysis } from "../spf/analyse.ts";
import { sendsNothing } from "../spf/parse.ts";
import { type ProposedRecord, propose, readTexts } from "./dns-record.ts";

export type DmarcProposalInput = {
  readonly domain: string;
  readonly mx: MxAnalysis;
  readonly spf: SpfAnalysis;
  readonly dkim: DkimAnalysis;
  readonly dmarc: DmarcAnalysis;
  readonly reportsMailbox?: string | undefined;
};

type Prepared = DmarcProposalInput & { readonly silentHosts: ReadonlySet<string> };

/** Proposes the domain's DMARC record without its faults, and one step stricter on the way to reject. */
export const proposeDmarc = async (
  dns: Dns,
  asked: DmarcProposalInput,
): Promise<ProposedRecord | undefined> => {
  const { domain, dmarc } = asked;
  const name = `_dmarc.${domain}`;
  const [own, apex] = await Promise.all([readTexts(dns, name), readTexts(dns, domain)]);
  const misplaced = apex.filter(isDmarc);
  const [reportsMailbox, silentHosts] = await Promise.all([
    findMailbox(dns, asked),
    findSilentHosts(dns, [...own, ...misplaced, dmarc.record ?? ""]),
  ]);
  const input = { ...asked, reportsMailbox, silentHosts };
  const tags = composeTags(input, own, misplaced);
  const value = [...tags].map(([tag, text]) => `${tag}=${text}`).join("; ");
  const replaces = [
    ...own.map((text) => ({ name, type: "TXT", value: text }) as const),
    ...misplaced.map((text) => ({ name: domain, type: "TXT", value: text }) as const),
  ];
  if (own.length === 1 && own[0] === value && misplaced.length === 0) return undefined;
  const mailbox = nameMailbox(input);
  const isNewMailbox =
    tags.get("rua") === `mailto:${mailbox}` && !`${dmarc.record}`.includes(mailbox);
  const note = isNewMailbox ? describeMailbox(input, mailbox) : null;
  return propose({ name, type: "TXT", value }, { replaces, note });
};

/** A receiver would drop reports about another organisation's domain when the mailbox's host does not consent to them. */
const findMailbox = async (
  dns: Dns,
  { domain, reportsMailbox }: DmarcProposalInput,
): Promise<string | undefined> => {
  if (reportsMailbox === undefined) return undefined;
  const host = reportsMailbox.slice(reportsMailbox.lastIndexOf("@") + 1);
  return (await takesReportsOf(dns, host, domain)) === true ? reportsMailbox : undefined;
};

const HOSTS_QUERIED_MAX = 8;

const findSilentHosts = async (
  dns: Dns,
  texts: readonly string[],
): Promise<ReadonlySet<string>> => {
  const uris = texts
    .map((text) => parseDmarc(toVersion(text)))
    .flatMap(({ reports, failureReports }) => [...reports, ...failureReports].flatMap(repairUri));
  const hosts = [...new Set(uris.map(getHost))].slice(0, HOSTS_QUERIED_MAX);
  const answers = await Promise.all(hosts.map((host) => dns("MX", host)));
  return new Set(hosts.filter((_, at) => isAbsent(answers[at] ?? { kind: "timeout" })));
};

const getHost = (uri: string): string => uri.slice(uri.lastIndexOf("@") + 1).toLowerCase();

const nameMailbox = ({ domain, reportsMailbox }: DmarcProposalInput): string =>
  reportsMailbox ?? `dmarc@${domain}`;

const describeMailbox = ({ reportsMailbox }: DmarcProposalInput, mailbox: string): string =>
  reportsMailbox === undefined
    ? `Create the mailbox ${mailbox} for the reports first, or name another one.`
    : "Receivers then send their reports to this service, which shows them below Reports.";

type Tags = ReadonlyMap<string, string>;

const composeTags = (
  input: Prepared,
  own: readonly string[],
  misplaced: readonly string[],
): Tags => {
  const { domain, dmarc, spf } = input;
  const [record, ...others] = own.filter(isDmarc).map(parseDmarc);
  if (record && others.length === 0) return advance(record, input);
  if (record) return mergeRecords([record, ...others], input);
  const meant = [
    ...own.filter((text) => isDmarc(text.trim()) || isIntendedAsDmarc(text)),
    ...misplaced,
  ];
  if (meant.length > 0)
    return mergeRecords(
      meant.map((text) => parseDmarc(toVersion(text))),
      input,
    );
  if (dmarc.record !== null && dmarc.recordDomain !== domain)
    return advance(parseDmarc(dmarc.record), input, dmarc.policy ?? "none");
  // A domain that sends nothing has no mail that a strict policy could harm.
  return createTags(input, { p: sendsNothing(spf.record) ? "reject" : "none" }, []);
};

/** RFC 9989 §4.7: the version comes first, in exactly this form. */
const toVersion = (text: string): string =>
  `v=DMARC1; ${text.replace(/^[^;]*?dmarc\d*\W*/i, "").trim()}`;

type Policies = {
  readonly p: DmarcPolicy;
  readonly sp?: DmarcPolicy | undefined;
  readonly np?: DmarcPolicy | undefined;
};

/** Tags to copy when receivers can read their values. A stricter policy ends a test, so t= is not among them. */
const COPIED = TAG_VALUES.filter(([tag]) => tag !== "t");

const advance = (record: DmarcRecord, input: Prepared, inherited?: DmarcPolicy): Tags => {
  const { reports, isTesting } = record;
  const hasReports = reports.some(({ isValid }) => isValid);
  const pct = record.tags.find(({ name }) => name === "pct")?.value;
  // RFC 9989 §4.10.1: one invalid value makes receivers read all of them as none. A repeated tag voids the record.
  const isVoid =
    [record.p, record.sp, record.np].includes("invalid") || record.repeatedTags.length > 0;
  const now = inherited ?? (isVoid ? "none" : (toPolicy(record.p) ?? "none"));
  // The repair first removes a test or a partial pct: the written policy then takes effect as the next step.
  const isHeldBack =
    !inherited && (isTesting || (pct !== undefined && isPartial(pct))) && now !== "none";
  const mayStep = hasReports && isHealthy(input);
  const step = (policy: DmarcPolicy) => (mayStep && !isHeldBack ? toNext(policy) : policy);
  const p = step(now);
  const [sp, np] = inherited ? [] : [toPolicy(record.sp), toPolicy(record.np)];
  // A milder policy for subdomains becomes stricter too, up to that of the domain.
  const policies = { p, sp: sp && stricter(sp, weaker(step(sp), p)), np };
  // The repair removes a partial pct at once: receivers by RFC 9989 apply the policy to all mail already.
  const test = isHeldBack && !mayStep ? record.tags.filter(({ name }) => name === "t") : [];
  const copied = COPIED.flatMap(([tag, isValue]) => {
    const value = record.tags.find(({ name }) => name === tag)?.value;
    return value !== undefined && isValue(value) && !(inherited && tag === "psd")
      ? [[tag, value] as const]
      : [];
  });
  return createTags(input, policies, [
    ...test.map(({ name, value }) => [name, value] as const),
    ...copied,
    ...reportTags([record], input),
  ]);
};

/**
 * Merges records that receivers ignore: several records, or one of the wrong form or place. The mildest of their policies takes effect,
 * at most one step from the policy that applies now. Relaxed alignment passes all mail that passed without them.
 */
const mergeRecords = (records: readonly DmarcRecord[], input: Prepared): Tags => {
  const now = input.dmarc.policy ?? "none";
  const [mildest = "none"] = POLICIES.filter((policy) =>
    records.some((record) => (toPolicy(record.p) ?? "none") === policy),
  );
  const p = isHealthy(input) ? stricter(now, weaker(mildest, toNext(now))) : now;
  return createTags(input, { p }, reportTags(records, input));
};

const createTags = (
  input: DmarcProposalInput,
  { p, sp, np = p }: Policies,
  others: readonly (readonly [tag: string, value: string])[],
): Tags => {
  const isAsking = others.some(([tag]) => tag === "rua");
  const mayReceive = input.reportsMailbox !== undefined || input.mx.hasValidMx === true;
  return new Map([
    ["v", "DMARC1"],
    ["p", p],
    ...(sp !== undefined && sp !== p ? [["sp", sp] as const] : []),
    ...(p === "none" && np === "none" ? [] : [["np", stricter(np, p)] as const]),
    ...others,
    ...(isAsking || !mayReceive ? [] : [["rua", `mailto:${nameMailbox(input)}`] as const]),
  ]);
};

const toPolicy = (policy: DmarcRecord["p"]): DmarcPolicy | undefined =>
  policy === "invalid" ? undefined : policy;

const toNext = (policy: DmarcPolicy): DmarcPolicy =>
  POLICIES[Math.min(POLICIES.indexOf(policy) + 1, POLICIES.length - 1)] ?? policy;

const stricter = (one: DmarcPolicy, other: DmarcPolicy): DmarcPolicy =>
  weaker(one, other) === one ? other : one;

const weaker = (one: DmarcPolicy, other: DmarcPolicy): DmarcPolicy =>
  isWeaker(one, other) ? one : other;

/** A stricter policy harms the owner's own mail while neither SPF nor DKIM can make it pass. */
const isHealthy = ({ spf, dkim }: DmarcProposalInput): boolean =>
  (spf.status === "pass" || spf.status === "warn") &&
  (dkim.status === "pass" || dkim.status === "warn" || dkim.status === "unknown");

const reportTags = (
  records: readonly DmarcRecord[],
  { silentHosts }: Prepared,
): readonly (readonly [tag: string, value: string])[] => {
  const toValue = (addresses: readonly ReportAddress[]) => {
    const uris = addresses.flatMap(repairUri);
    const reachable = uris.filter((uri) => !silentHosts.has(getHost(uri)));
    return [...new Set(reachable.length > 0 ? reachable : uris)].join(",");
  };
  return [
    ["rua", toValue(records.flatMap(({ reports }) => reports))] as const,
    ["ruf", toValue(records.flatMap(({ failureReports }) => failureReports))] as const,
  ].filter(([, value]) => value !== "");
};

const repairUri = ({ uri, isValid }: ReportAddress): readonly string[] => {
  if (isValid) return [uri];
  return /^[^\s:@]+@[^\s@]+\.[^\s@.]+$/.test(uri) ? [`mailto:${uri}`] : [];
};

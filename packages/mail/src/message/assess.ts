import {
  analyseBlocklists,
  type BlocklistListing,
  type Reputation,
} from "../blocklists/analyse.ts";
import { limitHealthWait } from "../blocklists/health.ts";
import type { Dns } from "../dns/dns.ts";
import type { DnsLookups } from "../dns/lookups.ts";
import { isDomain, parseDomain } from "../domain.ts";
import { compareGravity } from "../issue.ts";
import type { Clock } from "../lib/clock.ts";
import type { ProposedRecord } from "../records/dns-record.ts";
import { hasGap } from "../records/spf-record.ts";
import { type ArcResult, verifyArc } from "./arc/verify.ts";
import {
  type Authentication,
  authenticate,
  BUDGET_MS,
  type Envelope,
  limitDns,
  toPlainClient,
} from "./authenticate.ts";
import { type ClientCheck, checkClient } from "./client.ts";
import type { MessageBody } from "./content/body.ts";
import type { MessageLinks } from "./content/links.ts";
import { judgeUnsubscribe, type Unsubscribe } from "./content/unsubscribe.ts";
import type { DkimResult } from "./dkim/verify.ts";
import { findDkim, findDmarc, findServer, findSpf } from "./find/authentication.ts";
import { findContent, findHeader } from "./find/content.ts";
import { createFinding, type MessageFinding, toFinding } from "./findings.ts";
import type { HeaderSummary } from "./header-summary.ts";
import { proposeForMessage } from "./propose.ts";
import type { ReadMessage } from "./read-message.ts";
import type { ReceivedMessage } from "./received-message.ts";
import { judgeRequirements } from "./requirements.ts";
import type { ReportPart } from "./rules/rule.ts";
import { MESSAGE_MODEL_VERSION, type MessageScore, scoreMessage } from "./score.ts";

type LinkReputation = {
  readonly listedOn: readonly BlocklistListing[];
  readonly findings: readonly MessageFinding[];
};

/** The check asks every domain list about each name. */
const NAMES_MAX = 10;
/** Most lists contain the registered domain and not the hosts below it. */
const LEVELS_MAX = 3;

const checkLinks = async (
  listDns: Dns,
  { hosts }: MessageLinks,
  { listsFor, keys, isHealthy }: DnsLookups["blocklists"],
): Promise<LinkReputation> => {
  const names = new Set(hosts.map(({ host }) => host).flatMap(listNames));
  const found = await Promise.all(
    [...names].slice(0, NAMES_MAX).map((domain) => {
      const lists = listsFor(domain).filter(({ asks }) => asks === "domain");
      return analyseBlocklists(listDns, { domain, ip: null, lists, keys, isHealthy });
    }),
  );
  const listed = found.flatMap(({ issues }) => issues).filter(({ costPoints }) => costPoints > 0);
  return {
    listedOn: found.flatMap(({ listedOn }) => listedOn),
    findings: listed.slice(0, 1).map(({ detail }) => createFinding("LINK_LISTED", detail)),
  };
};

const listNames = (host: string): readonly string[] => {
  const parsed = parseDomain(host);
  if (!isDomain(parsed)) return [];
  const labels = parsed.ascii.replace(/^www\./, "").split(".");
  const names = labels.map((_, index) => labels.slice(index).join("."));
  return names.slice(0, -1).slice(-LEVELS_MAX);
};

export type AssessmentPorts = Clock & { readonly names: DnsLookups };

/** A finding with the record that resolves it, and the points that resolving it regains. */
export type ReportedFinding = MessageFinding & {
  readonly pointsRegained: number;
  readonly proposal?: ProposedRecord;
};

/** The facts of one message about its sender, as JSON. The report contains nothing of the body but the hosts of links. */
export type MessageReport = Authentication & {
  readonly modelVersion: string;
  readonly scored: MessageScore;
  /** Parts that could not be judged, because DNS did not answer. The score leaves them out. */
  readonly openParts: readonly ReportPart[];
  readonly envelope: {
    readonly mailFrom: string;
    readonly helo: string;
    readonly ip: string;
    readonly tls: ReceivedMessage["tls"] | null;
    readonly receivedAt: string;
  };
  readonly sizeBytes: number;
  readonly header: HeaderSummary;
  readonly arc: ArcResult;
  readonly client: ClientCheck;
  readonly reputation: Omit<Reputation, "outcomes" | "issues">;
  readonly listedLinks: Reputation["listedOn"];
  readonly unsubscribe: Unsubscribe;
  readonly body: MessageBody;
  readonly requirements: ReturnType<typeof judgeRequirements>;
  readonly findings: readonly ReportedFinding[];
};

/** Judges one received message as its receivers do. It never fails: a part without an answer from DNS stays open. */
export const assessMessage = async (
  outside: AssessmentPorts,
  received: Envelope,
  read: ReadMessage,
  reportsMailbox?: string,
): Promise<MessageReport> => {
  const message = toPlainClient(received);
  const now = outside.now();
  const ports = limitPorts(outside);
  const { header, body, sizeBytes } = read;
  const checks = await runChecks(ports, message, read);
  const unsubscribe = judgeUnsubscribe(read.unsubscribe, checks.dkim);
  const { links, reputation, ...shown } = checks;
  const found = [
    ...findSender(checks, message, read),
    ...findHeader(header, read, unsubscribe, message.receivedAt),
    ...findContent(header, read, body),
  ];
  const openParts = listOpenParts(checks);
  const proposals = await proposeForMessage(ports.dns, found, {
    ...checks,
    ip: message.ip,
    now,
    allowed: outside.names.allowed,
    reportsMailbox,
  });
  return {
    modelVersion: MESSAGE_MODEL_VERSION,
    scored: scoreMessage(found, openParts),
    openParts,
    envelope: describeEnvelope(message),
    sizeBytes,
    header,
    ...shown,
    client: clipNames(checks.client),
    reputation: summarizeReputation(reputation),
    listedLinks: links.listedOn,
    unsubscribe,
    body,
    requirements: judgeRequirements(found, {
      openParts,
      unjudged: message.tls === "unknown" ? ["TLS_MISSING"] : [],
    }),
    findings: rankFindings(found, openParts, proposals),
  };
};

type LimitedPorts = Pick<DnsLookups, "dns" | "listDns" | "blocklists">;

const limitPorts = ({ names, now, sleep }: AssessmentPorts): LimitedPorts => {
  const { isHealthy } = names.blocklists;
  const { listDns } = names;
  return {
    dns: limitDns(names.dns, { now, sleep }),
    listDns: limitDns(listDns, { now, sleep }),
    blocklists: {
      ...names.blocklists,
      isHealthy: limitHealthWait(isHealthy, { listDns, now, sleep }, BUDGET_MS),
    },
  };
};

type Checks = Pick<MessageReport, "spf" | "dkim" | "arc" | "dmarc" | "client"> & {
  readonly reputation: Reputation;
  readonly links: LinkReputation;
};

const runChecks = async (
  { dns, listDns, blocklists }: LimitedPorts,
  message: Envelope,
  { header, body, ...read }: ReadMessage,
): Promise<Checks> => {
  const from = header.from?.domain ?? null;
  const domain = parseDomain(from ?? message.helo);
  const sender = isDomain(domain) ? domain.ascii : null;
  const lists = blocklists.listsFor(sender ?? "").filter(({ asks }) => sender || asks === "ip");
  const [author, arc, client, reputation, links] = await Promise.all([
    authenticate(dns, message, { from, dkim: read.dkim }),
    verifyArc(dns, read.arc),
    checkClient(dns, message),
    analyseBlocklists(listDns, { ...blocklists, domain: sender ?? "", ip: message.ip, lists }),
    checkLinks(listDns, body.links, blocklists),
  ]);
  return { ...author, arc, client, reputation, links };
};

const findSender = (
  { spf, dkim, dmarc, client, reputation, links }: Checks,
  message: Envelope,
  { header, fieldNames }: Pick<ReadMessage, "header" | "fieldNames">,
): readonly MessageFinding[] => [
  ...(spf ? findSpf(spf, message) : []),
  ...findDkim(dkim, {
    domain: header.from?.domain ?? message.helo,
    fields: fieldNames,
    receivedAt: message.receivedAt,
  }),
  ...findDmarc(dmarc, spf),
  ...findServer(client, message),
  ...reputation.issues.map((issue) => toFinding(issue, "reputation")),
  ...links.findings,
];

const describeEnvelope = ({
  mailFrom,
  helo,
  ip,
  tls,
  receivedAt,
}: Envelope): MessageReport["envelope"] => ({
  mailFrom,
  helo,
  ip,
  tls: tls ?? null,
  receivedAt: receivedAt.toISOString(),
});

/** A report shows at most this number of an address's names, because an address may have hundreds. */
const NAMES_SHOWN_MAX = 10;

const clipNames = ({ reverseDns, helo }: ClientCheck): ClientCheck => ({
  helo,
  reverseDns: { ...reverseDns, names: reverseDns.names.slice(0, NAMES_SHOWN_MAX) },
});

const summarizeReputation = (reputation: Reputation): MessageReport["reputation"] => ({
  score: reputation.score,
  checked: reputation.checked,
  inconclusive: reputation.inconclusive,
  skipped: reputation.skipped,
  total: reputation.total,
  listed: reputation.listed,
  listedOn: reputation.listedOn,
});

const listOpenParts = ({ spf, dkim, dmarc, client, reputation }: Checks): readonly ReportPart[] => [
  ...(spf === null || spf.result === "temperror" ? ["spf" as const] : []),
  ...(isDkimOpen(dkim) ? ["dkim" as const] : []),
  ...(dmarc.result === "temperror" ? ["dmarc" as const] : []),
  ...(client.reverseDns.score === null ? ["server" as const] : []),
  ...(reputation.score === null ? ["reputation" as const] : []),
];

const isDkimOpen = (signatures: readonly DkimResult[]): boolean =>
  signatures.some(({ result }) => result === "temperror") &&
  !signatures.some(({ result }) => result === "pass");

const rankFindings = (
  found: readonly MessageFinding[],
  open: readonly ReportPart[],
  proposals: ReadonlyMap<MessageFinding, ProposedRecord>,
): readonly ReportedFinding[] => {
  const { score } = scoreMessage(found, open);
  return found
    .map((finding) => {
      const others = found.filter((one) => one !== finding);
      const proposal = proposals.get(finding);
      return {
        ...finding,
        pointsRegained:
          proposal && hasGap(proposal) ? 0 : Math.max(0, scoreMessage(others, open).score - score),
        ...(proposal && { proposal }),
      };
    })
    .toSorted((a, b) => b.pointsRegained - a.pointsRegained || compareGravity(a, b));
};

import { getDomain } from "@mailproof/mail/address";
import { analyseBlocklists } from "@mailproof/mail/blocklists/analyse";
import type { DnsLookups } from "@mailproof/mail/dns/lookups";
import { findMailHosts } from "@mailproof/mail/dns/mail-hosts";
import { isPublicIp } from "@mailproof/mail/ip";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import { evaluateSpf } from "@mailproof/mail/spf/evaluate";
import type { ProviderBlock } from "../smtp-pool/circuit-breaker/circuit-items.ts";
import { judgeReach, type MeasuredReach } from "./reach.ts";
import { type ContactedServer, type ServerVisit, visitServers } from "./server-visits.ts";
import {
  describeExit,
  type EgressCheckResult,
  type NamedIp,
  nameIps,
  type TestedExit,
} from "./tested-exits.ts";

export type SelfTestFinding = {
  readonly about:
    | "port 25"
    | "greeting"
    | "hello"
    | "reverse DNS"
    | "sender"
    | "SPF"
    | "blocklists"
    | "providers";
  readonly holds: EgressCheckResult;
  readonly message: string;
};

/** `mayProbe` is the worst of the findings. */
export type SelfTest = {
  readonly mayProbe: EgressCheckResult;
  readonly reach: MeasuredReach;
  /** Our IP addresses, as the mail servers report them. */
  readonly ips: readonly string[];
  readonly contactedServers: readonly ContactedServer[];
  readonly exits: readonly TestedExit[];
  readonly findings: readonly SelfTestFinding[];
};

export type SelfTestPorts = {
  readonly dnsLookups: DnsLookups;
  readonly connect: SmtpConnect;
  /** An exit is this host or a proxy. */
  readonly exits: readonly string[];
  readonly blocks: readonly ProviderBlock[];
};

export type SmtpIdentity = {
  readonly helo: string;
  readonly from: string;
  readonly port: number;
  /** Domains of large providers, whose servers are always up. */
  readonly domains: readonly string[];
};

/** Tests whether this host may probe: sends EHLO to a few mail servers through each exit, and checks its own DNS records. */
export const testEgress = async (
  ports: SelfTestPorts,
  identity: SmtpIdentity,
): Promise<SelfTest> => {
  const visits = await visitServers(ports, identity, ports.exits);
  const allowed = ports.dnsLookups.allowed;
  const ips = [...new Set(visits.flatMap(({ observedIps }) => observedIps))].filter((ip) =>
    isPublicIp(ip, allowed),
  );
  const named = await nameIps(ports.dnsLookups.dns, ips);
  const exits = ports.exits.map((exit) => describeExit(exit, identity.helo, visits, named));
  const [sender, spf, blocklists] = await Promise.all([
    checkSender(ports, identity),
    checkSpf(ports, identity, ips),
    checkBlocklists(ports, identity, ips),
  ]);
  const findings = [
    toFinding("port 25", checkPort25(visits, exits)),
    toFinding("greeting", checkGreeting(visits)),
    toFinding("hello", checkHelo(identity)),
    toFinding("reverse DNS", checkReverseDns(identity, named)),
    toFinding("sender", sender),
    toFinding("SPF", spf),
    toFinding("blocklists", blocklists),
    toFinding("providers", checkProviderBlocks(ports)),
  ];
  return {
    mayProbe: pickWorst(findings.map(({ holds }) => holds)),
    reach: judgeReach(visits),
    ips,
    contactedServers: visits.map(({ domain, exit, reply, isOpen }) => ({
      domain,
      exit,
      reply,
      isOpen,
    })),
    exits,
    findings,
  };
};

type Checked = readonly [holds: EgressCheckResult, message: string];

const toFinding = (
  about: SelfTestFinding["about"],
  [holds, message]: Checked,
): SelfTestFinding => ({ about, holds, message });

const pickWorst = (all: readonly EgressCheckResult[]): EgressCheckResult =>
  all.includes("no") ? "no" : all.includes("unknown") ? "unknown" : "yes";

const formatShare = (part: readonly unknown[], all: readonly unknown[]): string =>
  `${part.length} of ${all.length}`;

const checkPort25 = (visits: readonly ServerVisit[], exits: readonly TestedExit[]): Checked => {
  const away = exits.filter(({ isReachable }) => !isReachable);
  const closed = exits.filter(({ port25 }) => port25 === "no");
  const resolved = visits.filter(({ isResolved }) => isResolved);
  const open = resolved.filter(({ isOpen }) => isOpen);
  if (resolved.length === 0) return ["unknown", "DNS found no mail server. Check the resolver."];
  if (away.length > 0)
    return [
      "no",
      `${joinExits(away)} cannot be reached, or does not accept us. Check its log, SMTP_PROXIES and its allow-list.`,
    ];
  if (open.length === 0)
    return ["no", "No mail server can be reached. The network blocks outbound port 25."];
  const by = closed.length > 0 && exits.length > 1 ? ` By ${joinExits(closed)} too few.` : "";
  return [
    closed.length > 0 ? "no" : "yes",
    `${formatShare(open, resolved)} mail servers can be reached on port 25.${by}`,
  ];
};

const joinExits = (exits: readonly TestedExit[]): string =>
  exits.map(({ exit }) => exit).join(" and ");

const checkGreeting = (visits: readonly ServerVisit[]): Checked => {
  const open = visits.filter(({ isOpen }) => isOpen);
  const accepted = open.filter(({ isAccepted }) => isAccepted);
  const rejected = open.find(({ isAccepted }) => !isAccepted);
  if (open.length === 0) return ["unknown", "No mail server could be reached."];
  const share = formatShare(accepted, open);
  return rejected
    ? ["no", `${share} accepted EHLO; ${rejected.domain} replied: ${rejected.reply}`]
    : ["yes", `${share} accepted EHLO.`];
};

const checkHelo = ({ helo }: SmtpIdentity): Checked =>
  helo.includes(".") && !helo.endsWith(".invalid")
    ? ["yes", `EHLO uses ${helo}.`]
    : ["no", `SMTP_HELLO is ${helo}. Set it to a host name of your own.`];

const NO_IP: Checked = ["unknown", "Not checked: no mail server reported our IP address."];

const checkReverseDns = ({ helo }: SmtpIdentity, all: readonly NamedIp[]): Checked => {
  if (all.length === 0) return NO_IP;
  const wrong = all.find(({ names }) => !names.includes(helo.toLowerCase()));
  if (all.some(({ status }) => status === "error"))
    return ["unknown", "The name servers of our IP addresses do not answer."];
  if (wrong)
    return [
      "no",
      `The reverse DNS name of ${wrong.ip} is ${wrong.name ?? "missing"}; EHLO uses ${helo}.`,
    ];
  const unconfirmed = all.find(({ isConfirmed }) => !isConfirmed);
  return unconfirmed
    ? ["no", `${helo} does not resolve to ${unconfirmed.ip}.`]
    : ["yes", `${all.map(({ ip }) => ip).join(" and ")} and ${helo} resolve to each other.`];
};

const checkSender = async (
  { dnsLookups }: SelfTestPorts,
  { from }: SmtpIdentity,
): Promise<Checked> => {
  const found = await findMailHosts(dnsLookups.dns, getDomain(from), dnsLookups.allowed);
  if (found.kind === "hosts") return ["yes", `${from} has a mail host.`];
  return found.kind === "inconclusive"
    ? ["unknown", `The name servers of ${from} do not answer.`]
    : ["no", `${from} has no mail host (${found.kind}). Set SMTP_FROM to a real mailbox.`];
};

const checkSpf = async (
  { dnsLookups }: SelfTestPorts,
  { from, helo }: SmtpIdentity,
  ips: readonly string[],
): Promise<Checked> => {
  if (ips.length === 0) return NO_IP;
  const domain = getDomain(from);
  const all = await Promise.all(
    ips.map(async (ip) => {
      const query = { ip, domain, sender: from, helo };
      return { ip, ...(await evaluateSpf(dnsLookups.dns, query)) };
    }),
  );
  const bad = all.find(({ result }) => result !== "pass");
  if (!bad) return ["yes", `${domain} allows ${ips.join(" and ")} to send for it.`];
  return [
    bad.result === "temperror" ? "unknown" : "no",
    `${domain} does not allow ${bad.ip} to send for it (${bad.result}).`,
  ];
};

const checkBlocklists = async (
  { dnsLookups }: SelfTestPorts,
  { from }: SmtpIdentity,
  ips: readonly string[],
): Promise<Checked> => {
  if (ips.length === 0) return NO_IP;
  const { listsFor, keys, isHealthy } = dnsLookups.blocklists;
  const domain = getDomain(from);
  const request = { domain, lists: listsFor(domain), keys, isHealthy };
  const all = await Promise.all(
    ips.map((ip) => analyseBlocklists(dnsLookups.listDns, { ...request, ip })),
  );
  const [one] = all.flatMap(({ listedOn }) => listedOn);
  if (one) return ["no", `${one.listed} is on ${one.name}. To be removed: ${one.removal}`];
  const checked = all.reduce((sum, { checked: answers }) => sum + answers, 0);
  return checked === 0
    ? ["unknown", "No blocklist answered our resolver."]
    : ["yes", `Listed on no blocklist (${checked} answers).`];
};

const checkProviderBlocks = ({ blocks }: SelfTestPorts): Checked =>
  blocks.length > 0
    ? ["no", blocks.map(formatBlock).join("; ")]
    : ["yes", "No large mail provider is known to refuse our sessions."];

const formatBlock = ({ provider, exit, until, reply }: ProviderBlock): string =>
  `${provider} refuses sessions from the exit ${exit} (${reply}); the next one is at ${until.toISOString()}`;

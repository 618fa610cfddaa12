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
  const findings = [
    checkPort25(visits, exits),
    checkGreeting(visits),
    checkHelo(identity),
    checkReverseDns(identity, named),
    ...(await Promise.all([
      checkSender(ports, identity),
      checkSpf(ports, identity, ips),
      checkBlocklists(ports, identity, ips),
    ])),
    checkProviderBlocks(ports),
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

const pickWorst = (all: readonly EgressCheckResult[]): EgressCheckResult =>
  all.includes("no") ? "no" : all.includes("unknown") ? "unknown" : "yes";

const formatShare = (part: readonly unknown[], all: readonly unknown[]): string =>
  `${part.length} of ${all.length}`;

const checkPort25 = (
  visits: readonly ServerVisit[],
  exits: readonly TestedExit[],
): SelfTestFinding => {
  const about = "port 25" as const;
  const away = exits.filter(({ isReachable }) => !isReachable);
  const closed = exits.filter(({ port25 }) => port25 === "no");
  const resolved = visits.filter(({ isResolved }) => isResolved);
  const open = resolved.filter(({ isOpen }) => isOpen);
  if (resolved.length === 0)
    return { about, holds: "unknown", message: "DNS found no mail server. Check the resolver." };
  if (away.length > 0)
    return {
      about,
      holds: "no",
      message: `${joinExits(away)} cannot be reached, or does not accept us. Check its log, SMTP_PROXIES and its allow-list.`,
    };
  if (open.length === 0)
    return {
      about,
      holds: "no",
      message: "No mail server can be reached. The network blocks outbound port 25.",
    };
  const by = closed.length > 0 && exits.length > 1 ? ` By ${joinExits(closed)} too few.` : "";
  return {
    about,
    holds: closed.length > 0 ? "no" : "yes",
    message: `${formatShare(open, resolved)} mail servers can be reached on port 25.${by}`,
  };
};

const joinExits = (exits: readonly TestedExit[]): string =>
  exits.map(({ exit }) => exit).join(" and ");

const checkGreeting = (visits: readonly ServerVisit[]): SelfTestFinding => {
  const open = visits.filter(({ isOpen }) => isOpen);
  const accepted = open.filter(({ isAccepted }) => isAccepted);
  const rejected = open.find(({ isAccepted }) => !isAccepted);
  if (open.length === 0)
    return { about: "greeting", holds: "unknown", message: "No mail server could be reached." };
  return {
    about: "greeting",
    holds: rejected ? "no" : "yes",
    message: rejected
      ? `${formatShare(accepted, open)} accepted EHLO; ${rejected.domain} replied: ${rejected.reply}`
      : `${formatShare(accepted, open)} accepted EHLO.`,
  };
};

const checkHelo = ({ helo }: SmtpIdentity): SelfTestFinding => {
  const isOwn = helo.includes(".") && !helo.endsWith(".invalid");
  return {
    about: "hello",
    holds: isOwn ? "yes" : "no",
    message: isOwn
      ? `EHLO uses ${helo}.`
      : `SMTP_HELLO is ${helo}. Set it to a host name of your own.`,
  };
};

const NO_IP = "Not checked: no mail server reported our IP address.";

const checkReverseDns = ({ helo }: SmtpIdentity, all: readonly NamedIp[]): SelfTestFinding => {
  const about = "reverse DNS" as const;
  if (all.length === 0) return { about, holds: "unknown", message: NO_IP };
  const wrong = all.find(({ names }) => !names.includes(helo.toLowerCase()));
  if (all.some(({ status }) => status === "error"))
    return {
      about,
      holds: "unknown",
      message: "The name servers of our IP addresses do not answer.",
    };
  if (wrong)
    return {
      about,
      holds: "no",
      message: `The reverse DNS name of ${wrong.ip} is ${wrong.name ?? "missing"}; EHLO uses ${helo}.`,
    };
  const unconfirmed = all.find(({ isConfirmed }) => !isConfirmed);
  if (unconfirmed)
    return { about, holds: "no", message: `${helo} does not resolve to ${unconfirmed.ip}.` };
  return {
    about,
    holds: "yes",
    message: `${all.map(({ ip }) => ip).join(" and ")} and ${helo} resolve to each other.`,
  };
};

const checkSender = async (
  { dnsLookups }: SelfTestPorts,
  { from }: SmtpIdentity,
): Promise<SelfTestFinding> => {
  const about = "sender" as const;
  const found = await findMailHosts(dnsLookups.dns, getDomain(from), dnsLookups.allowed);
  if (found.kind === "hosts") return { about, holds: "yes", message: `${from} has a mail host.` };
  if (found.kind === "inconclusive")
    return { about, holds: "unknown", message: `The name servers of ${from} do not answer.` };
  const message = `${from} has no mail host (${found.kind}). Set SMTP_FROM to a real mailbox.`;
  return { about, holds: "no", message };
};

const checkSpf = async (
  { dnsLookups }: SelfTestPorts,
  { from, helo }: SmtpIdentity,
  ips: readonly string[],
): Promise<SelfTestFinding> => {
  const about = "SPF" as const;
  if (ips.length === 0) return { about, holds: "unknown", message: NO_IP };
  const all = await Promise.all(
    ips.map(async (ip) => {
      const query = { ip, domain: getDomain(from), sender: from, helo };
      return { ip, ...(await evaluateSpf(dnsLookups.dns, query)) };
    }),
  );
  const bad = all.find(({ result }) => result !== "pass");
  const message = bad
    ? `${getDomain(from)} does not allow ${bad.ip} to send for it (${bad.result}).`
    : `${getDomain(from)} allows ${ips.join(" and ")} to send for it.`;
  return { about, holds: bad ? (bad.result === "temperror" ? "unknown" : "no") : "yes", message };
};

const checkBlocklists = async (
  { dnsLookups }: SelfTestPorts,
  { from }: SmtpIdentity,
  ips: readonly string[],
): Promise<SelfTestFinding> => {
  const about = "blocklists" as const;
  if (ips.length === 0) return { about, holds: "unknown", message: NO_IP };
  const { listsFor, keys, isHealthy } = dnsLookups.blocklists;
  const domain = getDomain(from);
  const all = await Promise.all(
    ips.map((ip) =>
      analyseBlocklists(dnsLookups.listDns, {
        domain,
        ip,
        lists: listsFor(domain),
        keys,
        isHealthy,
      }),
    ),
  );
  const listings = all.flatMap(({ listedOn }) => listedOn);
  const checked = all.reduce((sum, one) => sum + one.checked, 0);
  const [one] = listings;
  if (one)
    return {
      about,
      holds: "no",
      message: `${one.listed} is on ${one.name}. To be removed: ${one.removal}`,
    };
  return checked === 0
    ? { about, holds: "unknown", message: "No blocklist answered our resolver." }
    : {
        about,
        holds: "yes",
        message: `Listed on no blocklist (${checked} answers).`,
      };
};

const checkProviderBlocks = ({ blocks }: SelfTestPorts): SelfTestFinding => ({
  about: "providers",
  holds: blocks.length > 0 ? "no" : "yes",
  message:
    blocks.length > 0
      ? blocks.map(formatBlock).join("; ")
      : "No large mail provider is known to refuse our sessions.",
});

const formatBlock = ({ provider, exit, until, reply }: ProviderBlock): string =>
  `${provider} refuses sessions from the exit ${exit} (${reply}); the next one is at ${until.toISOString()}`;

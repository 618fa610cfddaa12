import type { DnsLookups } from "../deliverability/dns-lookups.ts";
import { getDomain } from "../mail/address.ts";
import { analyseBlocklists } from "../mail/blocklists/analyse.ts";
import { findMailHosts } from "../mail/dns/mail-hosts.ts";
import { analyseReverseDns } from "../mail/dns/reverse-dns.ts";
import { isPublicIp } from "../mail/ip.ts";
import { isFault, type SmtpConnect, type SmtpWire } from "../mail/smtp/wire.ts";
import { evaluateSpf } from "../mail/spf/evaluate.ts";

/** Yes, no, or it could not be found out. */
export type EgressCheckResult = "yes" | "no" | "unknown";

export type SelfTestFinding = {
  readonly about:
    | "port 25"
    | "greeting"
    | "hello"
    | "reverse DNS"
    | "sender"
    | "SPF"
    | "blocklists";
  readonly holds: EgressCheckResult;
  readonly says: string;
};

/** May probe: everything holds. */
export type SelfTest = {
  readonly mayProbe: EgressCheckResult;
  /** Ours, as the servers see them. */
  readonly ips: readonly string[];
  readonly contactedServers: readonly ContactedServer[];
  readonly findings: readonly SelfTestFinding[];
};

export type ContactedServer = {
  readonly domain: string;
  readonly reply: string;
  readonly isOpen: boolean;
};

export type SelfTestPorts = { readonly dnsLookups: DnsLookups; readonly connect: SmtpConnect };

export type SmtpIdentity = {
  readonly helo: string;
  readonly from: string;
  readonly port: number;
  /** Large ones, whose servers are never away. */
  readonly domains: readonly string[];
};

const CONNECT_MS = 15_000;
const REPLY_MS = 15_000;

/** Whether this host may ask mail servers: it says hello to a few, and looks at itself as they would. */
export const testEgress = async (
  ports: SelfTestPorts,
  identity: SmtpIdentity,
): Promise<SelfTest> => {
  const visits = await Promise.all(
    identity.domains.map((domain) => contactServer(ports, identity, domain)),
  );
  const allowed = ports.dnsLookups.allowed;
  const ips = [...new Set(visits.flatMap(({ observedIps: seen }) => seen))].filter((ip) =>
    isPublicIp(ip, allowed),
  );
  const findings = [
    checkPort25(visits),
    checkGreeting(visits),
    checkHelo(identity),
    ...(await Promise.all([
      checkReverseDns(ports, identity, ips),
      checkSender(ports, identity),
      checkSpf(ports, identity, ips),
      checkBlocklists(ports, identity, ips),
    ])),
  ];
  return {
    mayProbe: pickWorst(findings.map(({ holds }) => holds)),
    ips,
    contactedServers: visits.map(({ domain, reply, isOpen }) => ({ domain, reply, isOpen })),
    findings,
  };
};

const pickWorst = (all: readonly EgressCheckResult[]): EgressCheckResult =>
  all.includes("no") ? "no" : all.includes("unknown") ? "unknown" : "yes";

type ServerVisit = ContactedServer & {
  /** Somebody stands in the DNS who could be asked. */
  readonly isResolved: boolean;
  readonly isAccepted: boolean;
  readonly observedIps: readonly string[];
};

const contactServer = async (
  ports: SelfTestPorts,
  identity: SmtpIdentity,
  domain: string,
): Promise<ServerVisit> => {
  const createFailedVisit = (reply: string, isKnown = false): ServerVisit => ({
    domain,
    reply,
    isResolved: isKnown,
    isOpen: false,
    isAccepted: false,
    observedIps: [],
  });
  const found = await findMailHosts(ports.dnsLookups.dns, domain, ports.dnsLookups.allowed);
  if (found.kind !== "hosts") return createFailedVisit(`no mail host (${found.kind})`);
  const [host] = found.hosts;
  const ip = host?.ips[0];
  if (!host || ip === undefined) return createFailedVisit("no address of a mail host");
  const wire = await ports.connect(
    { ip, port: identity.port, host: host.host },
    { timeoutMs: CONNECT_MS, affinityKey: "self-test" },
  );
  if (typeof wire === "string") return createFailedVisit(wire, true);
  return { domain, isResolved: true, ...(await greetServer(wire, identity.helo)) };
};

/** Many servers answer EHLO with the address they see: "at your service, [192.0.2.1]". */
const OBSERVED_IP = /\[(?:IPv6:)?([0-9a-f.:]+)\]/gi;

const greetServer = async (
  wire: SmtpWire,
  helo: string,
): Promise<Omit<ServerVisit, "domain" | "isResolved">> => {
  try {
    const greeting = await wire.receive(REPLY_MS);
    if (isFault(greeting))
      return { reply: greeting, isOpen: true, isAccepted: false, observedIps: [] };
    if (greeting.code !== 220)
      return { reply: formatFirstLine(greeting), isOpen: true, isAccepted: false, observedIps: [] };
    wire.send(`EHLO ${helo}`);
    const reply = await wire.receive(REPLY_MS);
    wire.send("QUIT");
    if (isFault(reply)) return { reply: reply, isOpen: true, isAccepted: false, observedIps: [] };
    const observedIps = [...reply.text.matchAll(OBSERVED_IP)].flatMap(([, ip]) => ip ?? []);
    return {
      reply: formatFirstLine(reply),
      isOpen: true,
      isAccepted: reply.code === 250,
      observedIps,
    };
  } finally {
    await wire.close();
  }
};

const formatFirstLine = ({
  code,
  text,
}: {
  readonly code: number;
  readonly text: string;
}): string => `${code} ${text.split("\n")[0]}`;

const formatShare = (part: readonly unknown[], all: readonly unknown[]): string =>
  `${part.length} of ${all.length}`;

const checkPort25 = (visits: readonly ServerVisit[]): SelfTestFinding => {
  const about = "port 25" as const;
  const resolved = visits.filter(({ isResolved: isKnown }) => isKnown);
  const open = resolved.filter(({ isOpen }) => isOpen);
  if (resolved.length === 0)
    return { about, holds: "unknown", says: "No mail server was found: is there a name server?" };
  if (open.length === 0)
    return {
      about,
      holds: "no",
      says: "Not one mail server can be reached: somebody on the way closes port 25.",
    };
  return {
    about,
    holds: open.length * 2 > resolved.length ? "yes" : "no",
    says: `${formatShare(open, resolved)} mail servers can be reached.`,
  };
};

const checkGreeting = (visits: readonly ServerVisit[]): SelfTestFinding => {
  const open = visits.filter(({ isOpen }) => isOpen);
  const accepted = open.filter(({ isAccepted: isWelcome }) => isWelcome);
  const rejected = open.find(({ isAccepted: isWelcome }) => !isWelcome);
  if (open.length === 0)
    return { about: "greeting", holds: "unknown", says: "Nobody was there to greet us." };
  return {
    about: "greeting",
    holds: rejected ? "no" : "yes",
    says: rejected
      ? `${formatShare(accepted, open)} let us in; ${rejected.domain} said: ${rejected.reply}`
      : `${formatShare(accepted, open)} let us in.`,
  };
};

const checkHelo = ({ helo }: SmtpIdentity): SelfTestFinding => {
  const isOwn = helo.includes(".") && !helo.endsWith(".invalid");
  return {
    about: "hello",
    holds: isOwn ? "yes" : "no",
    says: isOwn ? `We say ${helo}.` : `SMTP_HELLO is ${helo}: nobody's name. Set it to our own.`,
  };
};

const NO_IP = "No server told the address it sees, so this could not be looked at.";

const checkReverseDns = async (
  { dnsLookups: names }: SelfTestPorts,
  { helo }: SmtpIdentity,
  ips: readonly string[],
): Promise<SelfTestFinding> => {
  const about = "reverse DNS" as const;
  if (ips.length === 0) return { about, holds: "unknown", says: NO_IP };
  const all = await Promise.all(
    ips.map(async (ip) => ({ ip, ...(await analyseReverseDns(names.dns, ip)) })),
  );
  const wrong = all.find(({ names: known }) => !known.includes(helo.toLowerCase()));
  if (all.some(({ status }) => status === "error"))
    return { about, holds: "unknown", says: "The name servers of our addresses do not answer." };
  if (wrong)
    return {
      about,
      holds: "no",
      says: `${wrong.ip} is called ${wrong.name ?? "nothing"}, and we say ${helo}.`,
    };
  const unconfirmed = all.find(({ isConfirmed }) => !isConfirmed);
  if (unconfirmed)
    return { about, holds: "no", says: `${helo} does not lead back to ${unconfirmed.ip}.` };
  return { about, holds: "yes", says: `${ips.join(" and ")} and ${helo} lead to each other.` };
};

const checkSender = async (
  { dnsLookups: names }: SelfTestPorts,
  { from }: SmtpIdentity,
): Promise<SelfTestFinding> => {
  const about = "sender" as const;
  const found = await findMailHosts(names.dns, getDomain(from), names.allowed);
  if (found.kind === "hosts") return { about, holds: "yes", says: `${from} has a mail host.` };
  if (found.kind === "inconclusive")
    return { about, holds: "unknown", says: `The name servers of ${from} do not answer.` };
  const says = `Nobody takes mail for ${from} (${found.kind}): SMTP_FROM must be a real mailbox.`;
  return { about, holds: "no", says };
};

const checkSpf = async (
  { dnsLookups: names }: SelfTestPorts,
  { from, helo }: SmtpIdentity,
  ips: readonly string[],
): Promise<SelfTestFinding> => {
  const about = "SPF" as const;
  if (ips.length === 0) return { about, holds: "unknown", says: NO_IP };
  const all = await Promise.all(
    ips.map(async (ip) => {
      const query = { ip, domain: getDomain(from), sender: from, helo };
      return { ip, ...(await evaluateSpf(names.dns, query)) };
    }),
  );
  const bad = all.find(({ result }) => result !== "pass");
  const says = bad
    ? `${getDomain(from)} does not say that ${bad.ip} sends for it (${bad.result}).`
    : `${getDomain(from)} says that ${ips.join(" and ")} sends for it.`;
  return { about, holds: bad ? (bad.result === "temperror" ? "unknown" : "no") : "yes", says };
};

const checkBlocklists = async (
  { dnsLookups: names }: SelfTestPorts,
  { from }: SmtpIdentity,
  ips: readonly string[],
): Promise<SelfTestFinding> => {
  const about = "blocklists" as const;
  if (ips.length === 0) return { about, holds: "unknown", says: NO_IP };
  const { listsFor, keys, isHealthy } = names.blocklists;
  const domain = getDomain(from);
  const all = await Promise.all(
    ips.map((ip) =>
      analyseBlocklists(names.listDns, { domain, ip, lists: listsFor(domain), keys, isHealthy }),
    ),
  );
  const listings = all.flatMap(({ listedOn }) => listedOn);
  const checked = all.reduce((sum, one) => sum + one.checked, 0);
  const [one] = listings;
  if (one)
    return {
      about,
      holds: "no",
      says: `${one.listed} is on ${one.name}. To get off: ${one.removal}`,
    };
  return checked === 0
    ? { about, holds: "unknown", says: "Not one blocklist answered our name servers." }
    : {
        about,
        holds: "yes",
        says: `On none of the blocklists that answered (${checked} answers).`,
      };
};

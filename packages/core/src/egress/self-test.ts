import type { Names } from "../deliverability/names.ts";
import { domainOf } from "../mail/address.ts";
import { analyseBlocklists } from "../mail/blocklists/analyse.ts";
import { isPublicIp } from "../mail/ip.ts";
import { findMailHosts } from "../mail/mail-hosts.ts";
import { analyseReverseDns } from "../mail/reverse-dns.ts";
import { type Connect, isFault, type Wire } from "../mail/smtp/wire.ts";
import { evaluateSpf } from "../mail/spf/evaluate.ts";

/** Yes, no, or it could not be found out. */
export type Holds = "yes" | "no" | "unknown";

export type Finding = {
  readonly about:
    | "port 25"
    | "greeting"
    | "hello"
    | "reverse DNS"
    | "sender"
    | "SPF"
    | "blocklists";
  readonly holds: Holds;
  readonly says: string;
};

/** May probe: everything holds. */
export type SelfTest = {
  readonly mayProbe: Holds;
  /** Ours, as the servers see them. */
  readonly ips: readonly string[];
  readonly asked: readonly Asked[];
  readonly findings: readonly Finding[];
};

export type Asked = { readonly domain: string; readonly heard: string; readonly isOpen: boolean };

export type SelfTestDoors = { readonly names: Names; readonly connect: Connect };

export type Appearance = {
  readonly helo: string;
  readonly from: string;
  readonly port: number;
  /** Large ones, whose servers are never away. */
  readonly domains: readonly string[];
};

const CONNECT_MS = 15_000;
const REPLY_MS = 15_000;

/** Whether this host may ask mail servers: it says hello to a few, and looks at itself as they would. */
export const testEgress = async (doors: SelfTestDoors, us: Appearance): Promise<SelfTest> => {
  const visits = await Promise.all(us.domains.map((domain) => visit(doors, us, domain)));
  const allowed = doors.names.allowed;
  const ips = [...new Set(visits.flatMap(({ seen }) => seen))].filter((ip) =>
    isPublicIp(ip, allowed),
  );
  const findings = [
    reached(visits),
    greeted(visits),
    named(us),
    ...(await Promise.all([
      ledBack(doors, us, ips),
      taken(doors, us),
      permitted(doors, us, ips),
      unlisted(doors, us, ips),
    ])),
  ];
  return {
    mayProbe: worst(findings.map(({ holds }) => holds)),
    ips,
    asked: visits.map(({ domain, heard, isOpen }) => ({ domain, heard, isOpen })),
    findings,
  };
};

const worst = (all: readonly Holds[]): Holds =>
  all.includes("no") ? "no" : all.includes("unknown") ? "unknown" : "yes";

type Visit = Asked & {
  /** Somebody stands in the DNS who could be asked. */
  readonly isKnown: boolean;
  readonly isWelcome: boolean;
  readonly seen: readonly string[];
};

const visit = async (doors: SelfTestDoors, us: Appearance, domain: string): Promise<Visit> => {
  const nowhere = (heard: string, isKnown = false): Visit => ({
    domain,
    heard,
    isKnown,
    isOpen: false,
    isWelcome: false,
    seen: [],
  });
  const found = await findMailHosts(doors.names.dns, domain, doors.names.allowed);
  if (found.kind !== "hosts") return nowhere(`no mail host (${found.kind})`);
  const [at] = found.hosts;
  const ip = at?.ips[0];
  if (!at || ip === undefined) return nowhere("no address of a mail host");
  const wire = await doors.connect(
    { ip, port: us.port, host: at.host },
    { timeoutMs: CONNECT_MS, lane: "self-test" },
  );
  if (typeof wire === "string") return nowhere(wire, true);
  return { domain, isKnown: true, ...(await sayHello(wire, us.helo)) };
};

/** Many servers answer EHLO with the address they see: "at your service, [192.0.2.1]". */
const SEEN = /\[(?:IPv6:)?([0-9a-f.:]+)\]/gi;

const sayHello = async (wire: Wire, helo: string): Promise<Omit<Visit, "domain" | "isKnown">> => {
  try {
    const greeting = await wire.receive(REPLY_MS);
    if (isFault(greeting)) return { heard: greeting, isOpen: true, isWelcome: false, seen: [] };
    if (greeting.code !== 220)
      return { heard: first(greeting), isOpen: true, isWelcome: false, seen: [] };
    wire.send(`EHLO ${helo}`);
    const answer = await wire.receive(REPLY_MS);
    wire.send("QUIT");
    if (isFault(answer)) return { heard: answer, isOpen: true, isWelcome: false, seen: [] };
    const seen = [...answer.text.matchAll(SEEN)].flatMap(([, ip]) => ip ?? []);
    return { heard: first(answer), isOpen: true, isWelcome: answer.code === 250, seen };
  } finally {
    await wire.close();
  }
};

const first = ({ code, text }: { readonly code: number; readonly text: string }): string =>
  `${code} ${text.split("\n")[0]}`;

const share = (part: readonly unknown[], all: readonly unknown[]): string =>
  `${part.length} of ${all.length}`;

const reached = (visits: readonly Visit[]): Finding => {
  const about = "port 25" as const;
  const known = visits.filter(({ isKnown }) => isKnown);
  const open = known.filter(({ isOpen }) => isOpen);
  if (known.length === 0)
    return { about, holds: "unknown", says: "No mail server was found: is there a name server?" };
  if (open.length === 0)
    return {
      about,
      holds: "no",
      says: "Not one mail server can be reached: somebody on the way closes port 25.",
    };
  return {
    about,
    holds: open.length * 2 > known.length ? "yes" : "no",
    says: `${share(open, known)} mail servers can be reached.`,
  };
};

const greeted = (visits: readonly Visit[]): Finding => {
  const open = visits.filter(({ isOpen }) => isOpen);
  const welcome = open.filter(({ isWelcome }) => isWelcome);
  const cold = open.find(({ isWelcome }) => !isWelcome);
  if (open.length === 0)
    return { about: "greeting", holds: "unknown", says: "Nobody was there to greet us." };
  return {
    about: "greeting",
    holds: cold ? "no" : "yes",
    says: cold
      ? `${share(welcome, open)} let us in; ${cold.domain} said: ${cold.heard}`
      : `${share(welcome, open)} let us in.`,
  };
};

const named = ({ helo }: Appearance): Finding => {
  const isOwn = helo.includes(".") && !helo.endsWith(".invalid");
  return {
    about: "hello",
    holds: isOwn ? "yes" : "no",
    says: isOwn ? `We say ${helo}.` : `SMTP_HELLO is ${helo}: nobody's name. Set it to our own.`,
  };
};

const NO_IP = "No server told the address it sees, so this could not be looked at.";

const ledBack = async (
  { names }: SelfTestDoors,
  { helo }: Appearance,
  ips: readonly string[],
): Promise<Finding> => {
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

const taken = async ({ names }: SelfTestDoors, { from }: Appearance): Promise<Finding> => {
  const about = "sender" as const;
  const found = await findMailHosts(names.dns, domainOf(from), names.allowed);
  if (found.kind === "hosts") return { about, holds: "yes", says: `${from} has a mail host.` };
  if (found.kind === "inconclusive")
    return { about, holds: "unknown", says: `The name servers of ${from} do not answer.` };
  const says = `Nobody takes mail for ${from} (${found.kind}): SMTP_FROM must be a real mailbox.`;
  return { about, holds: "no", says };
};

const permitted = async (
  { names }: SelfTestDoors,
  { from, helo }: Appearance,
  ips: readonly string[],
): Promise<Finding> => {
  const about = "SPF" as const;
  if (ips.length === 0) return { about, holds: "unknown", says: NO_IP };
  const all = await Promise.all(
    ips.map(async (ip) => {
      const query = { ip, domain: domainOf(from), sender: from, helo };
      return { ip, ...(await evaluateSpf(names.dns, query)) };
    }),
  );
  const bad = all.find(({ result }) => result !== "pass");
  const says = bad
    ? `${domainOf(from)} does not say that ${bad.ip} sends for it (${bad.result}).`
    : `${domainOf(from)} says that ${ips.join(" and ")} sends for it.`;
  return { about, holds: bad ? (bad.result === "temperror" ? "unknown" : "no") : "yes", says };
};

const unlisted = async (
  { names }: SelfTestDoors,
  { from }: Appearance,
  ips: readonly string[],
): Promise<Finding> => {
  const about = "blocklists" as const;
  if (ips.length === 0) return { about, holds: "unknown", says: NO_IP };
  const { listsFor, keys, isHealthy } = names.blocklists;
  const domain = domainOf(from);
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

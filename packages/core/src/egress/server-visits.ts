import type { DnsLookups } from "@mailproof/mail/dns/lookups";
import { findMailHosts } from "@mailproof/mail/dns/mail-hosts";
import {
  isFault,
  type SmtpConnect,
  type SmtpTarget,
  type SmtpWire,
} from "@mailproof/mail/smtp/wire";

// A visit opens a session with a mail server, sends EHLO unless it has no name to send, and quits.

export type ContactedServer = {
  readonly domain: string;
  readonly exit: string;
  readonly reply: string;
  readonly isOpen: boolean;
};

export type ServerVisit = ContactedServer & {
  readonly isResolved: boolean;
  readonly isAccepted: boolean;
  readonly observedIps: readonly string[];
};

type VisitPorts = { readonly dnsLookups: DnsLookups; readonly connect: SmtpConnect };
type Visitor = {
  /** Null when the visit quits after the greeting, without EHLO. */
  readonly helo: string | null;
  readonly port: number;
  readonly domains: readonly string[];
};

const CONNECT_MS = 15_000;
const REPLY_MS = 15_000;

export const visitServers = async (
  ports: VisitPorts,
  visitor: Visitor,
  exits: readonly string[],
): Promise<readonly ServerVisit[]> => {
  const targets = await Promise.all(
    visitor.domains.map(async (domain) => ({
      domain,
      target: await findTarget(ports, visitor, domain),
    })),
  );
  return Promise.all(
    exits.flatMap((exit) =>
      targets.map(async ({ domain, target }) => ({
        domain,
        exit,
        ...(typeof target === "string"
          ? { ...createVisit(target), isResolved: false }
          : { ...(await visitServer(ports, visitor, target, exit)), isResolved: true }),
      })),
    ),
  );
};

const findTarget = async (
  { dnsLookups }: VisitPorts,
  { port }: Visitor,
  domain: string,
): Promise<SmtpTarget | string> => {
  const found = await findMailHosts(dnsLookups.dns, domain, dnsLookups.allowed);
  if (found.kind !== "hosts") return `no mail host (${found.kind})`;
  const [host] = found.hosts;
  const ip = host?.ips[0];
  return host && ip !== undefined ? { ip, port, host: host.host } : "no address of a mail host";
};

type Reception = Omit<ServerVisit, "domain" | "exit" | "isResolved">;

const createVisit = (reply: string, isOpen = false): Reception => ({
  reply,
  isOpen,
  isAccepted: false,
  observedIps: [],
});

const visitServer = async (
  { connect }: VisitPorts,
  { helo }: Visitor,
  target: SmtpTarget,
  exit: string,
): Promise<Reception> => {
  const wire = await connect(target, {
    timeoutMs: CONNECT_MS,
    affinityKey: "self-test",
    exit,
  });
  if (typeof wire === "string") return createVisit(wire);
  try {
    return await greetServer(wire, helo);
  } finally {
    await wire.close();
  }
};

/** Many servers answer EHLO with the client's address: "at your service, [192.0.2.1]". */
const OBSERVED_IP = /\[(?:IPv6:)?([0-9a-f.:]+)\]/gi;

const greetServer = async (wire: SmtpWire, helo: string | null): Promise<Reception> => {
  const greeting = await wire.receive(REPLY_MS);
  if (isFault(greeting)) return createVisit(greeting, true);
  if (greeting.code !== 220) return createVisit(formatFirstLine(greeting), true);
  if (helo === null) {
    wire.send("QUIT");
    return createVisit(formatFirstLine(greeting), true);
  }
  wire.send(`EHLO ${helo}`);
  const reply = await wire.receive(REPLY_MS);
  wire.send("QUIT");
  if (isFault(reply)) return createVisit(reply, true);
  const observedIps = [...reply.text.matchAll(OBSERVED_IP)].flatMap(([, ip]) => ip ?? []);
  return {
    reply: formatFirstLine(reply),
    isOpen: true,
    isAccepted: reply.code === 250,
    observedIps,
  };
};

const formatFirstLine = ({
  code,
  text,
}: {
  readonly code: number;
  readonly text: string;
}): string => `${code} ${text.split("\n")[0]}`;

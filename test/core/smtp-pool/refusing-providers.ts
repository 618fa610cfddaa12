import type { Table } from "@mailproof/core/ports/table";
import { createCatchAllCache } from "@mailproof/core/smtp-pool/catch-all-cache";
import { createCircuitBreaker } from "@mailproof/core/smtp-pool/circuit-breaker/circuit-breaker";
import type { Probe, ProbeResult } from "@mailproof/core/smtp-pool/probe";
import { createProbe } from "@mailproof/core/smtp-pool/scheduler";
import { createLocalSlots } from "@mailproof/core/smtp-pool/slots/local-slots";
import { createSharedSlots } from "@mailproof/core/smtp-pool/slots/slot-pool";
import { createWitnesses } from "@mailproof/core/smtp-pool/witnesses";
import type { MailHost } from "@mailproof/mail/dns/mail-hosts";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import type { ReplyOrFault, SmtpConnect } from "@mailproof/mail/smtp/wire";
import { givenWorld } from "../../app/given.ts";
import { askUntilAnswered } from "./cluster.ts";

/** One line of a session ("" is the connection) and where it stands; the reply comes back. */
export type Line = {
  readonly line: string;
  readonly host: string;
  readonly exit: string;
  readonly session: number;
};
export type ServerReply = (line: Line) => string;

export type ProviderSession = {
  readonly exit: string;
  readonly atMs: number;
  readonly process: number;
};

export const HOUR_MS = 3_600_000;
const REPLY_MS = 20;
const RANDOM_RECIPIENT = /<[a-z][a-z0-9]{19}@/;

/** Every recipient but a random one has a mailbox. */
export const accept: ServerReply = ({ line }) => {
  if (line === "") return "220 hello";
  return RANDOM_RECIPIENT.test(line) ? "550 5.1.1 no such user" : "250 ok";
};

type Setup = {
  readonly processes?: number;
  readonly exits?: readonly string[];
  readonly witnesses?: readonly string[];
  readonly tableOf?: (table: Table) => Table;
};

/** Mail providers in virtual time, and processes of ours that share a table. */
export const givenProviders = (
  replyFor: ServerReply,
  { processes = 1, exits, witnesses = [], tableOf = (table) => table }: Setup = {},
) => {
  const { world, table: memory, logged } = givenWorld();
  const table = tableOf(memory);
  const sessions: ProviderSession[] = [];
  const asked: string[] = [];
  let open = 0;
  let peak = 0;

  const connectFrom =
    (process: number): SmtpConnect =>
    async ({ host }, { exit = "direct" }) => {
      sessions.push({ exit, process, atMs: world.now().getTime() });
      const session = sessions.length;
      peak = Math.max(peak, ++open);
      let isOpen = true;
      let next = replyFor({ line: "", host, exit, session });
      return {
        send: (line) => {
          if (line.startsWith("RCPT")) asked.push(line);
          next = replyFor({ line, host, exit, session });
        },
        receive: async () => {
          await world.sleep(REPLY_MS);
          return next === "" ? "closed" : toReply(next);
        },
        startTls: async () => "tls_failed",
        close: async () => {
          if (isOpen) open--;
          isOpen = false;
        },
      };
    };

  const startProcess = (process: number): Probe => {
    const probe = createProbe({
      ...world,
      connect: connectFrom(process),
      catchAllCache: createCatchAllCache(memory, world.now),
      smtp: { helo: "probe.example", from: "probe@example.org", port: 25 },
      slots: processes > 1 ? createSharedSlots({ ...world, table }) : createLocalSlots(world),
      breaker: createCircuitBreaker({ ...world, table, ...(exits && { exits }) }),
      witnesses: createWitnesses({ ...world, table, witnesses, findMailHosts: findGoogle }),
    });
    return (question) => askUntilAnswered(probe, world, question);
  };
  const probes = Array.from({ length: processes }, (_, process) => startProcess(process));
  const [probe = startProcess(0)] = probes;
  return {
    probe,
    probes,
    startProcess,
    sessions,
    asked,
    world,
    table,
    circuits: () => memory.items().filter(({ sk }) => sk.startsWith("CIRCUIT#")),
    logged,
    peak: () => peak,
    resetPeak: () => (peak = open),
  };
};

const toReply = (text: string): ReplyOrFault =>
  createReplyReader()(Buffer.from(`${text}\r\n`))[0] ?? "closed";

export const hostsOf = (...names: readonly string[]): readonly MailHost[] =>
  names.map((host, n) => ({ host, priority: 10, ips: [`192.0.2.${n + 1}`] }));

export const ICLOUD = hostsOf("mx01.mail.icloud.com", "mx02.mail.icloud.com");
export const OUTLOOK = hostsOf("outlook-com.olc.protection.outlook.com");
export const GOOGLE = hostsOf("aspmx.l.google.com");

const findGoogle = async () =>
  ({ kind: "hosts", hosts: GOOGLE, implicit: false, dnsQueries: [] }) as const;

type Asked = {
  readonly domain?: (n: number) => string;
  readonly account?: string;
  readonly from?: number;
};

/** Addresses of one provider, asked about at the same time. */
export const askMany = (
  probe: Probe,
  count: number,
  hosts: readonly MailHost[],
  { domain = () => "example.com", account = "acme", from = 0 }: Asked = {},
): Promise<ProbeResult[]> =>
  Promise.all(
    Array.from({ length: count }, (_, n) =>
      probe({
        recipient: `person${from + n}@${domain(from + n)}`,
        domain: domain(from + n),
        hosts,
        probeCatchAll: false,
        requester: { account, priority: "list" },
      }),
    ),
  );

/** How many results there are of each verdict and reason. */
export const countResults = (results: readonly ProbeResult[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const { finding } of results) {
    const name = `${finding.verdict} ${finding.reason}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
};

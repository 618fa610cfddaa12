import { getServers } from "node:dns";
import { setTimeout } from "node:timers/promises";
import { domainToASCII } from "node:url";
import type { Dns, DnsOutcome, DnsRecords, DnsRecordType } from "@mailproof/mail/dns/dns";
import {
  createUdpClient,
  type DnsQuestion,
  type NameServer,
  parseServer,
  queryOverTcp,
  type UdpClient,
} from "./dns-exchange.ts";
import type { DnsReply } from "./dns-message.ts";
import {
  createPacketBucket,
  createZoneRateLimiter,
  ZONE_RATE_LIMITS,
  type ZoneRateLimits,
} from "./zone-rate-limit.ts";

// Sends questions to the operator's resolvers. node:dns reads an answer of 64 KB on the main thread before anyone can refuse it: 80 ms for
// one of mail hosts, in which nothing else runs.

/** The number of control questions in one check: where half of all packets are lost, 97 of 100 checks lose one. */
const CONTROLS = 5;
/** Questions that time out within this time share one check. */
const VALID_MS = 1_000;

type LossCheckOptions = {
  /** Sends a question that every resolver can answer; resolves to false when no answer arrives. */
  readonly askControl: () => Promise<boolean>;
  readonly onLoss: () => void;
  readonly nowMs: () => number;
};

/**
 * Tells whether packets between us and the resolver are being lost. A resolver and AWS silently drop packets above their limit, counting
 * other processes behind the same network interface; to one question this looks like a silent name server. A lossy path also loses control
 * questions, which any resolver answers.
 */
export const createLossCheck = ({ askControl, onLoss, nowMs }: LossCheckOptions) => {
  let current: Promise<boolean> | null = null;
  let validUntilMs = Number.POSITIVE_INFINITY;

  const check = async (): Promise<boolean> => {
    const answered = await Promise.all(Array.from({ length: CONTROLS }, askControl));
    const isLossy = answered.includes(false);
    if (isLossy) onLoss();
    validUntilMs = nowMs() + VALID_MS;
    return isLossy;
  };

  return (): Promise<boolean> => {
    if (current && nowMs() < validUntilMs) return current;
    validUntilMs = Number.POSITIVE_INFINITY;
    current = check();
    return current;
  };
};

type ResolverOptions = {
  readonly servers: readonly string[];
  readonly packetsPerSecond: number;
  /** Null for the lab's name servers, which need no protection. */
  readonly zoneLimits?: ZoneRateLimits | null;
};

/** The time suffices for a domain whose servers need three seconds; three attempts stay below 6 s. */
const ATTEMPTS = 3;
const WAIT_MS = 1_500;
/** The root itself delegates this zone, so every resolver has the answer. */
const CONTROL = { type: "NS", name: "com" } as const;
/** The resolver answers from its own cache. With this wait, a question still takes less than 6 s. */
const CONTROL_WAIT_MS = 1_000;
/** The pause without packets after a loss. */
const PAUSE_SECONDS = 1;
/** The time for which a silent server is asked last. */
const SILENT_MS = 5_000;

/** A name may contain any octet (RFC 2181 §11); an invisible octet is a mistake or abuse. */
const VISIBLE = /^[ -~]+$/;
const LABEL_MAX = 63;
const NAME_MAX = 253;

const SERVFAIL = { kind: "servfail" } as const;
const TIMEOUT = { kind: "timeout" } as const;
const INTERNAL = { kind: "internal" } as const;
const NXDOMAIN = { kind: "nxdomain" } as const;

/**
 * The real DNS. It throttles packets, because a resolver silently drops those above its limit, which looks like a timeout; after a timeout
 * it checks whether packets are lost. It also throttles the questions for each zone. A PTR question takes the reverse name,
 * "1.2.0.192.in-addr.arpa".
 */
export const createResolverPool = ({
  servers,
  packetsPerSecond,
  zoneLimits = ZONE_RATE_LIMITS,
}: ResolverOptions): Dns & { readonly close: () => void } => {
  const clock = { nowMs: () => performance.now(), sleep: setTimeout };
  const bucket = createPacketBucket(packetsPerSecond, clock);
  const zoneLimit = zoneLimits && createZoneRateLimiter(zoneLimits, clock);
  const closing = new AbortController();
  const clients = (servers.length > 0 ? servers : getServers()).map(parseServer).map(createClient);
  const sendQuery = createQuerier(clients, { signal: closing.signal, owe: bucket.owe });
  const isLossy = createLossCheck({
    askControl: async () => {
      bucket.owe(clients.length);
      return isAnswered(clients);
    },
    onLoss: () => bucket.owe(packetsPerSecond * PAUSE_SECONDS),
    nowMs: clock.nowMs,
  });

  const dns: Dns = async (type, name) => {
    const wire = toWireName(name);
    if (typeof wire !== "string") return wire;
    // A question that waits for its zone has not booked a packet yet, so it delays no other question.
    if (zoneLimit && !(await zoneLimit.wait(wire))) return TIMEOUT;
    if (!(await bucket.take()) || closing.signal.aborted) return TIMEOUT;
    const outcome = await sendQuery({ type, name: wire });
    if (outcome.kind !== "timeout" || closing.signal.aborted) return outcome;
    // A timeout proves that the name server is silent only if our packets arrive.
    return (await isLossy()) && !closing.signal.aborted ? INTERNAL : outcome;
  };

  const close = (): void => {
    closing.abort();
    for (const { udp } of clients) udp.close();
  };
  return Object.assign(dns, { close });
};

type ResolverClient = {
  readonly server: NameServer;
  readonly udp: UdpClient;
  silentUntilMs: number;
  edns: boolean;
};

const createClient = (server: NameServer): ResolverClient => ({
  server,
  udp: createUdpClient(server),
  silentUntilMs: 0,
  edns: true,
});

type QueryContext = { readonly signal: AbortSignal; readonly owe: (packets: number) => void };

/** Asks one server after the other: repeats the question when a server is silent, and asks the next server when one fails. */
const createQuerier =
  (clients: readonly ResolverClient[], { signal, owe }: QueryContext) =>
  async <T extends DnsRecordType>(question: DnsQuestion<T>): Promise<DnsOutcome<DnsRecords[T]>> => {
    const nowMs = performance.now();
    const inOrder = [...clients].sort((a, b) => rankSilence(a, nowMs) - rankSilence(b, nowMs));
    let outcome: DnsOutcome<DnsRecords[T]> = TIMEOUT;
    for (let attempt = 0; attempt < Math.max(ATTEMPTS, clients.length); attempt += 1) {
      const client = inOrder[attempt % clients.length];
      if (!client || signal.aborted) break;
      if (attempt > 0) owe(1);
      const reply = await queryClient(client, question, { signal, owe });
      if (reply) outcome = reply;
      const isFailure = reply?.kind === "servfail" || reply?.kind === "refused";
      // A server that failed would fail again, so the next attempt asks another server.
      if (reply && (!isFailure || attempt + 1 >= clients.length)) return reply;
    }
    return outcome;
  };

const isAnswered = async (clients: readonly ResolverClient[]): Promise<boolean> => {
  const asked = clients.map(async ({ udp, edns }) => {
    if (await udp.sendQuery(CONTROL, { edns, waitMs: CONTROL_WAIT_MS })) return true;
    throw new Error("no answer");
  });
  return Promise.any(asked).catch(() => false);
};

const rankSilence = ({ silentUntilMs }: ResolverClient, nowMs: number): number =>
  Number(silentUntilMs > nowMs);

const queryClient = async <T extends DnsRecordType>(
  client: ResolverClient,
  question: DnsQuestion<T>,
  { signal, owe }: QueryContext,
): Promise<DnsOutcome<DnsRecords[T]> | undefined> => {
  const { udp, server } = client;
  let reply = await udp.sendQuery(question, { edns: client.edns, waitMs: WAIT_MS });
  if (reply?.kind === "formerr" && client.edns) {
    client.edns = false;
    owe(1);
    reply = await udp.sendQuery(question, { edns: false, waitMs: WAIT_MS });
  }
  client.silentUntilMs = reply || signal.aborted ? 0 : performance.now() + SILENT_MS;
  if (reply?.kind === "truncated" && !signal.aborted) {
    owe(1);
    reply = await queryOverTcp(server, question, { waitMs: WAIT_MS, signal });
  }
  return reply && toOutcome(reply);
};

const toOutcome = <T extends DnsRecordType>(reply: DnsReply<T>): DnsOutcome<DnsRecords[T]> =>
  reply.kind === "truncated" || reply.kind === "formerr" || reply.kind === "unrelated"
    ? SERVFAIL
    : reply;

/**
 * Returns the name as sent, or the outcome for a name that this client cannot send. A name that is too long or has an empty label cannot
 * exist in the DNS (RFC 1035 §2.3.4). Other odd names may exist, so their outcome is SERVFAIL.
 */
const toWireName = (name: string): string | typeof NXDOMAIN | typeof SERVFAIL => {
  const isAscii = /^[\0-\x7f]*$/.test(name);
  const wire = (isAscii ? name : domainToASCII(name)).replace(/\.$/, "");
  if (!isAscii && wire === "") return SERVFAIL;
  const labels = wire.split(".");
  if (wire.length > NAME_MAX) return NXDOMAIN;
  if (labels.some(({ length }) => length === 0 || length > LABEL_MAX)) return NXDOMAIN;
  return VISIBLE.test(wire) ? wire : SERVFAIL;
};

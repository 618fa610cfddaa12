import { Resolver } from "node:dns/promises";
import { setTimeout } from "node:timers/promises";
import { domainToASCII } from "node:url";
import type { Dns, DnsOutcome, RecordOf, RecordType } from "@mailproof/core/mail/dns/dns";
import { packetBucket } from "./packet-bucket.ts";
import type { askRaw } from "./raw-dns.ts";

type Options = {
  /** "host:port", the host an address; none means the system's own. */
  readonly servers: readonly string[];
  readonly packetsPerSecond: number;
  /**
   * Asks for names that Node refuses. Only the records of senders lead to such; without it, what Node cannot ask for
   * is not known, and whoever asks for mail hosts alone need not carry it.
   */
  readonly askOdd?: typeof askRaw;
};

/**
 * One Resolver is one UDP socket, and above some 500 questions in flight its receive buffer overflows: at 1000
 * in flight one loses about 1 % of the answers, eight lose none.
 */
const RESOLVERS = 8;
/**
 * c-ares learns from quick answers and then waits only a second for a slow one, whatever the timeout says. With
 * two tries a domain whose servers need three seconds would be given up; three stay below 6 s for one server.
 */
const TRIES = 3;
const PATIENCE = { timeout: 1500, maxTimeout: 1500, tries: TRIES };

/** What c-ares puts into a question. It refuses all else, cuts a name at a zero byte and unescapes a backslash. */
const ORDINARY = /^[\w/*.-]+$/;
/** Any octet may stand in a name (RFC 2181 §11); ones that nobody can see stand there by mistake or for mischief. */
const VISIBLE = /^[ -~]+$/;
const LABEL_MAX = 63;
const NAME_MAX = 253;

const SERVFAIL = { kind: "servfail" } as const;
const TIMEOUT = { kind: "timeout" } as const;
const NXDOMAIN = { kind: "nxdomain" } as const;

/**
 * The real DNS. Stays below a rate of packets, because what exceeds a resolver's limit is dropped in silence and
 * looks like a timeout. A PTR question takes the reverse name, "1.2.0.192.in-addr.arpa".
 */
export const resolverPool = ({
  servers,
  packetsPerSecond,
  askOdd,
}: Options): Dns & { readonly close: () => void } => {
  const resolvers = Array.from({ length: RESOLVERS }, () => resolverFor(servers));
  const bucket = packetBucket(packetsPerSecond, {
    nowMs: () => performance.now(),
    sleep: setTimeout,
  });
  const closing = new AbortController();
  let asked = 0;

  const dns: Dns = async (type, name) => {
    const wire = wireName(name);
    if (typeof wire !== "string") return wire;
    if (!(await bucket.take()) || closing.signal.aborted) return TIMEOUT;

    const resolver = resolvers[asked++ % RESOLVERS] as Resolver;
    if (!ORDINARY.test(wire) && !askOdd) return SERVFAIL;
    const outcome =
      ORDINARY.test(wire) || !askOdd
        ? await ask(resolver, type, wire)
        : await askOdd(type, wire, {
            servers: resolver.getServers(),
            tries: TRIES,
            waitMs: PATIENCE.timeout,
            signal: closing.signal,
          });
    if (outcome.kind === "timeout") bucket.owe(TRIES - 1);
    return outcome;
  };

  const close = (): void => {
    closing.abort();
    for (const resolver of resolvers) resolver.cancel();
  };
  return Object.assign(dns, { close });
};

const resolverFor = (servers: readonly string[]): Resolver => {
  const resolver = new Resolver(PATIENCE);
  if (servers.length > 0) resolver.setServers(servers);
  return resolver;
};

/**
 * The name as it goes out, or what becomes of a name that cannot. One that is too long or has an empty label
 * cannot exist in the DNS (RFC 1035 §2.3.4). Other odd names may exist, only we are unable to ask for them.
 */
const wireName = (name: string): string | typeof NXDOMAIN | typeof SERVFAIL => {
  const isAscii = /^[\0-\x7f]*$/.test(name);
  const wire = (isAscii ? name : domainToASCII(name)).replace(/\.$/, "");
  if (!isAscii && wire === "") return SERVFAIL;
  const labels = wire.split(".");
  if (wire.length > NAME_MAX) return NXDOMAIN;
  if (labels.some(({ length }) => length === 0 || length > LABEL_MAX)) return NXDOMAIN;
  return VISIBLE.test(wire) ? wire : SERVFAIL;
};

const ask = async <T extends RecordType>(
  resolver: Resolver,
  type: T,
  name: string,
): Promise<DnsOutcome<RecordOf[T]>> => {
  try {
    const records = await READ[type](resolver, name);
    // An answer that is only an alias, whose end has no such record, comes as an empty list.
    return records.length > 0 ? { kind: "ok", records } : { kind: "nodata" };
  } catch (error) {
    return OUTCOME_OF[(error as NodeJS.ErrnoException).code ?? ""] ?? SERVFAIL;
  }
};

const READ: {
  readonly [T in RecordType]: (resolver: Resolver, name: string) => Promise<readonly RecordOf[T][]>;
} = {
  A: (resolver, name) => resolver.resolve4(name),
  AAAA: (resolver, name) => resolver.resolve6(name),
  MX: async (resolver, name) => {
    const records = await resolver.resolveMx(name);
    return records.map(({ priority, exchange }) => ({ priority, exchange }));
  },
  // node:dns gives each byte as the character of that number, which is latin-1.
  TXT: async (resolver, name) => {
    const records = await resolver.resolveTxt(name);
    return records.map((strings) => strings.join(""));
  },
  PTR: (resolver, name) => resolver.resolvePtr(name),
  CNAME: (resolver, name) => resolver.resolveCname(name),
  NS: (resolver, name) => resolver.resolveNs(name),
};

/**
 * All that is not listed (EFORMERR, ENOTIMP, EBADRESP, EBADNAME in an answer, …) is a server that failed us.
 * A server that is not there (ECONNREFUSED) is not a server that refuses: nobody answered.
 */
const OUTCOME_OF: Readonly<Record<string, DnsOutcome<never>>> = {
  ENODATA: { kind: "nodata" },
  ENOTFOUND: NXDOMAIN,
  EREFUSED: { kind: "refused" },
  ETIMEOUT: TIMEOUT,
  ECANCELLED: TIMEOUT,
  ECONNREFUSED: TIMEOUT,
};

import { createBoundedMap } from "@mailproof/mail/lib/bounded-map";

// Limits how many questions about one zone go out in a second, from all accounts together: a client that sends a list of names below one
// domain must not flood that domain's name servers through us.

type BucketClock = {
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
};

type PacketBucket = {
  /** Waits for the packet's turn. Returns false at once when the turn is too far off. */
  readonly take: () => Promise<boolean>;
  /** Counts packets that the caller sent without `take`. Later packets wait for them. */
  readonly owe: (packets: number) => void;
};

/**
 * The burst that may go out after a pause, as time at the rate. Every socket on the way holds a few hundred packets and silently drops the
 * rest, so bursts stay small. A resolver that counts per second sees the rate and one burst: 800 stays well below the 1024 packets that an
 * AWS network interface may send.
 */
const BURST_MS = 20;
/** No question has a longer time limit, and an unbounded queue would delay every packet. */
const WAIT_MAX_MS = 10_000;

/** A token bucket without a queue: each packet books the next free moment and sleeps until then. */
export const createPacketBucket = (
  packetsPerSecond: number,
  { nowMs, sleep }: BucketClock,
  { burstMs = BURST_MS }: { readonly burstMs?: number } = {},
): PacketBucket => {
  const apartMs = 1000 / packetsPerSecond;
  let freeAtMs = Number.NEGATIVE_INFINITY;

  return {
    take: async () => {
      const atMs = nowMs();
      const turnMs = Math.max(freeAtMs, atMs - burstMs);
      if (turnMs - atMs > WAIT_MAX_MS) return false;
      freeAtMs = turnMs + apartMs;
      if (turnMs > atMs) await sleep(turnMs - atMs);
      return true;
    },
    owe: (packets) => {
      freeAtMs += packets * apartMs;
    },
  };
};

type LimitClock = Parameters<typeof createPacketBucket>[1];
type RateLimit = { readonly perSecond: number; readonly burst: number };

export type ZoneRateLimits = {
  readonly ordinary: RateLimit;
  readonly wide: RateLimit;
  readonly wideZones: ReadonlySet<string>;
};

/** Domains whose customers share one zone: with the ordinary limit, a thousand customers of one provider would wait for each other. */
const NAMES_A_HOST_PER_CUSTOMER = [
  "outlook.com",
  "mx.microsoft",
  "pphosted.com",
  "iphmx.com",
  "barracudanetworks.com",
  "mailcontrol.com",
  "fireeyecloud.com",
  "trendmicro.com",
  "trendmicro.eu",
  "mtaroutes.com",
];

export const ZONE_RATE_LIMITS: ZoneRateLimits = {
  // A name server on the smallest machine answers thousands of questions a second. A deliverability check sends at most 250 questions,
  // nearly all about one domain, and must not wait.
  ordinary: { perSecond: 100, burst: 300 },
  // A third of all companies are customers of the largest provider: this is as many as a machine can verify in a second.
  wide: { perSecond: 2_000, burst: 2_000 },
  wideZones: new Set(NAMES_A_HOST_PER_CUSTOMER),
};

/** Second-level labels below which country registries sell names: "co" of "example.co.uk". */
const SECOND_LEVEL = new Set("ac co com edu go gob gouv gov gv mil ne net nom or org".split(" "));
const COUNTRY_LETTERS = 2;
/** A reverse zone covers one provider's block: two octets of IPv4, 32 bits of IPv6. */
const REVERSE_LABELS: Readonly<Record<string, number>> = { "in-addr.arpa": 4, "ip6.arpa": 10 };

/**
 * Returns the registered domain as far as its letters show it: the last two labels, or three below a country's second level. Where a
 * registry has more levels, the domains below it share one limit.
 */
export const toZone = (name: string): string => {
  const labels = name.toLowerCase().replace(/\.$/, "").split(".");
  const [second = "", top = ""] = labels.slice(-2);
  const isCountrys = top.length === COUNTRY_LETTERS && SECOND_LEVEL.has(second);
  const count = REVERSE_LABELS[`${second}.${top}`] ?? (isCountrys ? 3 : 2);
  return labels.slice(-count).join(".");
};

/** The limiter keeps the zones of the latest questions. A dropped zone restarts with a full burst. */
const ZONES_MAX = 20_000;

export type ZoneRateLimiter = {
  /** Waits until the limit allows a query about the name. Returns false when the wait would be too long. */
  readonly wait: (name: string) => Promise<boolean>;
};

export const createZoneRateLimiter = (
  { ordinary, wide, wideZones }: ZoneRateLimits,
  clock: LimitClock,
): ZoneRateLimiter => {
  const buckets = createBoundedMap<PacketBucket>({ weightMax: ZONES_MAX });
  const getBucket = (zone: string): PacketBucket => {
    const found = buckets.get(zone);
    if (found) return found;
    const { perSecond, burst } = wideZones.has(zone) ? wide : ordinary;
    const bucket = createPacketBucket(perSecond, clock, { burstMs: (burst / perSecond) * 1000 });
    buckets.set(zone, bucket);
    return bucket;
  };
  return { wait: (name) => getBucket(toZone(name)).take() };
};

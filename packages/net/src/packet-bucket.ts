type BucketClock = {
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
};

export type PacketBucket = {
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

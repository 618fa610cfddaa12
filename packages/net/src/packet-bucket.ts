type BucketClock = {
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
};

export type PacketBucket = {
  /** Waits for the packet's turn. False, at once, when that is too far off for anybody to wait for. */
  readonly take: () => Promise<boolean>;
  /** For packets that went out unasked. Those who come next wait for them. */
  readonly owe: (packets: number) => void;
};

/**
 * What may go out in one instant after a pause, as time at the rate. Every socket on the way holds a few hundred
 * packets and drops the rest in silence, so bursts stay small. A resolver that counts per second sees the rate
 * and one burst: 800 stays well below the 1024 packets that an AWS network interface may send.
 */
const BURST_MS = 20;
/** Nobody who asks has a longer budget, and a queue without an end only makes everybody late. */
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

import type { World } from "../ports/world.ts";
import type { PendingProbe } from "./probe.ts";
import type { ProviderRefusal } from "./refusal.ts";
import { LEASE_MS } from "./slots/provider-state.ts";
import { getJitteredPauseMs, type ProviderBackoff, type SlotKey } from "./slots/slots.ts";

/** The activity of this process at one mail provider or IP address by one exit. All its queues share one concurrency. */
export type ProviderUse = {
  readonly key: string;
  connections: number;
  /** The keys of the provider's host queues. */
  readonly queues: Set<string>;
  sessions: number;
  isBackingOff: boolean;
  /** The end of the last backoff (ms), the number of refusals in a row, and the last refusal. */
  backoffUntilMs: number;
  failures: number;
  refusal: ProviderRefusal | null;
  /** True during the pause before the next try to acquire a slot; the provider's queues share the pause. */
  isPausing: boolean;
  /** The first time that no slot was free since this process last had one (ms). */
  fullSinceMs: number | null;
  /** True after a session found no free slot: each session then contains as many recipients as the provider allows. */
  isScarce: boolean;
  /** Host queues where a caller waits for a connection that other recipients use. */
  readonly callerQueues: Set<string>;
  /** How many sessions of lists end early for these queues. */
  yielding: number;
};

type Timer = Pick<World, "now" | "sleep">;

/** Waits until the provider's backoff ends, which a session of this or another process began. */
export const applyBackoff = (
  provider: ProviderUse,
  { ms, failures, refusal }: ProviderBackoff,
  { now, sleep }: Timer,
  onResume: () => void,
): void => {
  provider.refusal = refusal ?? provider.refusal;
  if (provider.isBackingOff) return;
  provider.failures = failures;
  if (ms <= 0) return;
  provider.backoffUntilMs = now().getTime() + ms;
  pause(provider, "isBackingOff", sleep(ms), onResume);
};

const pause = (
  provider: ProviderUse,
  flag: "isBackingOff" | "isPausing",
  over: Promise<void>,
  onResume: () => void,
): void => {
  provider[flag] = true;
  void over.then(() => {
    provider[flag] = false;
    onResume();
  });
};

/** Longer than a lease: by then the slot of a crashed process is free, and earlier waiters are done. */
const SLOT_WAIT_MAX_MS = LEASE_MS + 30_000;

/** False when the wait has been too long: the recipients return later. */
export const pauseForSlot = (
  provider: ProviderUse,
  { now, random, sleep }: Timer & Pick<World, "random">,
  onResume: () => void,
  pauseMs = getJitteredPauseMs(random),
): boolean => {
  const atMs = now().getTime();
  provider.fullSinceMs ??= atMs;
  provider.isScarce = true;
  if (atMs - provider.fullSinceMs > SLOT_WAIT_MAX_MS) return false;
  if (!provider.isPausing) pause(provider, "isPausing", sleep(pauseMs), onResume);
  return true;
};

/** A provider is known while a host queue uses it or it backs off. */
export const createProviderRegistry = () => {
  const uses = new Map<string, ProviderUse>();
  return {
    getProviderUse: ({ limitKey: key, connections }: SlotKey): ProviderUse => {
      const provider = uses.get(key) ?? createProviderUse(key, connections);
      provider.connections = connections;
      uses.set(key, provider);
      return provider;
    },
    findProviderUse: ({ limitKey }: SlotKey) => uses.get(limitKey),
    forget: (provider: ProviderUse): void => {
      const isUsed = provider.queues.size > 0 || provider.isBackingOff;
      if (!isUsed && uses.get(provider.key) === provider) uses.delete(provider.key);
    },
  };
};

const createProviderUse = (key: string, connections: number): ProviderUse => ({
  key,
  connections,
  queues: new Set(),
  sessions: 0,
  isBackingOff: false,
  backoffUntilMs: 0,
  failures: 0,
  refusal: null,
  isPausing: false,
  fullSinceMs: null,
  isScarce: false,
  callerQueues: new Set(),
  yielding: 0,
});

/** Opening a session costs a server about as much as this many recipients. */
const RECIPIENTS_MIN = 5;

/** One session ends early for each queue where callers wait, but not before its own callers have their results. */
export const createEarlyEnd = (provider: ProviderUse, batch: readonly PendingProbe[]) => {
  const callers = batch.filter(({ requester }) => requester.priority === "caller").length;
  let isEnding = false;
  const shouldEnd = (tried: number): boolean => {
    if (tried < callers + RECIPIENTS_MIN || provider.callerQueues.size <= provider.yielding)
      return false;
    provider.yielding++;
    isEnding = true;
    return true;
  };
  return { shouldEnd, hasEnded: () => isEnding };
};

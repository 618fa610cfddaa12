import type { SessionOutcome } from "@mailproof/mail/smtp/connect";
import type { World } from "../ports/world.ts";
import type { ProviderRefusal } from "./refusal.ts";
import { createSlotWait, type SlotWait } from "./slots/slot-wait.ts";
import type { ProviderBackoff, SlotKey } from "./slots/slots.ts";

/** The first two backoffs in a row count as no attempt: recipients come back. At the third the reply is their result. */
const BACKOFFS_TOLERATED = 2;

/** A mail provider with all its hosts, or one IP address, by one exit. All its queues share one concurrency. */
export type ProviderState = {
  connections: number;
  /** The number of host queues that use it. */
  queues: number;
  sessions: number;
  isBackingOff: boolean;
  /** When the last backoff ends (ms). */
  backoffUntilMs: number;
  /** Failures in a row, and the session that met the last one. */
  failures: number;
  refusal: SessionOutcome | null;
  readonly slotWait: SlotWait;
  /** Host queues where a caller waits for a connection that other recipients use. */
  readonly callerQueues: Set<string>;
  /** Sessions of lists that end early for one of those. */
  yielding: number;
};

type Ending = {
  /** The session in which the server asked us to come back later. */
  readonly refusal: SessionOutcome | null;
  /** The provider's, as all processes know it; null where it was not asked about. */
  readonly backoff: ProviderBackoff | null;
};

/** Sits out the provider's backoff after a session here, or the one that another process began. */
export const applyBackoff = (
  provider: ProviderState,
  { refusal, backoff }: Ending,
  { now, sleep }: Pick<World, "now" | "sleep">,
  onResume: () => void,
): void => {
  if (!backoff) return;
  const sharedOutcome = backoff.refusal ? toSharedOutcome(backoff.refusal) : null;
  provider.refusal = refusal ?? sharedOutcome ?? provider.refusal;
  if (provider.isBackingOff) return;
  provider.failures = backoff.failures;
  if (backoff.ms <= 0) return;
  provider.isBackingOff = true;
  provider.backoffUntilMs = now().getTime() + backoff.ms;
  void sleep(backoff.ms).then(() => {
    provider.isBackingOff = false;
    onResume();
  });
};

/** Undefined: the provider does not turn us away at the moment, or its backoff is over and the timer is late. */
export const findStandingRefusal = (
  { isBackingOff, failures, refusal, backoffUntilMs }: ProviderState,
  now: Date,
): StandingRefusal | undefined =>
  isBackingOff && failures > 0 && refusal && now.getTime() < backoffUntilMs
    ? { outcome: refusal, untilMs: failures > BACKOFFS_TOLERATED ? null : backoffUntilMs }
    : undefined;

/** `untilMs`: null where the provider has backed off too often. */
type StandingRefusal = { readonly outcome: SessionOutcome; readonly untilMs: number | null };

/** A provider's state exists while a host queue uses it or it backs off: all its queues share one count. */
export const createProviderRegistry = () => {
  const states = new Map<string, ProviderState>();
  const keys = new Map<ProviderState, string>();

  const getProviderState = ({ limitKey: key, connections }: SlotKey): ProviderState => {
    const provider = states.get(key) ?? createProviderState(connections);
    provider.connections = connections;
    states.set(key, provider);
    keys.set(provider, key);
    return provider;
  };

  const forget = (provider: ProviderState): void => {
    const key = keys.get(provider);
    if (provider.queues > 0 || provider.isBackingOff || key === undefined) return;
    states.delete(key);
    keys.delete(provider);
  };

  const findProviderState = ({ limitKey }: SlotKey) => states.get(limitKey);

  return { getProviderState, findProviderState, forget };
};

const createProviderState = (connections: number): ProviderState => ({
  connections,
  queues: 0,
  sessions: 0,
  isBackingOff: false,
  backoffUntilMs: 0,
  failures: 0,
  refusal: null,
  slotWait: createSlotWait(),
  callerQueues: new Set(),
  yielding: 0,
});

/** The outcome as a session of this process would have had it: the reply is the server's. */
export const toSharedOutcome = ({ host, ip, stage, reply }: ProviderRefusal): SessionOutcome => ({
  host,
  ip,
  result: {
    recipients: [],
    unknownRecipients: [],
    remaining: [],
    catchAllProbes: [],
    closedBy: "421",
    ending: { stage, reply },
    tls: false,
    extensions: [],
  },
  transcript: [{ ms: 0, who: "wire", text: `${reply.code} (reply in another session)` }],
  attempts: [],
});

import type { SessionOutcome } from "../mail/smtp/connect.ts";
import type { World } from "../ports/world.ts";
import { getNextBackoff, type SessionEnd } from "./backoff.ts";
import { createSlotWait, type SlotWait } from "./slot-wait.ts";
import type { ProviderBackoff, ProviderRefusal, SlotKey } from "./slots.ts";

/** Who waits sits out so many rests in a row. After one more, what the server said is the answer for all. */
const BACKOFFS_TOLERATED = 2;

/** Whoever runs the machines, under however many names: a provider, or one address. What it bears, all share. */
export type ProviderState = {
  readonly connections: number;
  /** At which somebody waits or is served. */
  queues: number;
  sessions: number;
  isBackingOff: boolean;
  /** In a row, and the session that asked for the last one. */
  failures: number;
  refusal: SessionOutcome | null;
  readonly slotWait: SlotWait;
  /** Host queues where a caller waits for a connection that others have. */
  readonly callerQueues: Set<string>;
  /** Sessions of lists that end early for one of those. */
  yielding: number;
};

/**
 * Lets an operator rest after what a session met there, or as others of ours say. True: it has been asked for rest
 * too often, and nobody waits for it any more. Sessions that ran side by side hear of one and the same trouble: it
 * counts once.
 */
export const applyBackoff = (
  provider: ProviderState,
  end: SessionEnd,
  shared: ProviderBackoff | null,
  sleep: World["sleep"],
  onResume: () => void,
): boolean => {
  const sharedOutcome = shared?.refusal ? toSharedOutcome(shared.refusal) : null;
  provider.refusal = end.refusal ?? sharedOutcome ?? provider.refusal;
  if (provider.isBackingOff) return hasBackedOffTooOften(provider);

  const backoff = shared ?? getNextBackoff(provider.failures, end);
  provider.failures = backoff.failures;
  if (backoff.ms <= 0) return hasBackedOffTooOften(provider);
  provider.isBackingOff = true;
  // A flag and not a time to compare with: a timer may wake a moment early, and clocks are set back.
  void sleep(backoff.ms).then(() => {
    provider.isBackingOff = false;
    onResume();
  });
  return hasBackedOffTooOften(provider);
};

export const hasBackedOffTooOften = ({
  isBackingOff: resting,
  failures: rests,
}: ProviderState): boolean => resting && rests > BACKOFFS_TOLERATED;

/** Kept while anybody waits for them or they rest: all desks of one operator must share one count. */
export const createProviderRegistry = () => {
  const states = new Map<string, ProviderState>();
  const keys = new Map<ProviderState, string>();

  const getProviderState = ({ providerKey: key, connections }: SlotKey): ProviderState => {
    const provider = states.get(key) ?? createProviderState(connections);
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

  return { getProviderState, forget };
};

const createProviderState = (connections: number): ProviderState => ({
  connections,
  queues: 0,
  sessions: 0,
  isBackingOff: false,
  failures: 0,
  refusal: null,
  slotWait: createSlotWait(),
  callerQueues: new Set(),
  yielding: 0,
});

/** As if we had been there: the words are the server's, only the session was another's. */
const toSharedOutcome = ({ host, ip, stage, reply }: ProviderRefusal): SessionOutcome => ({
  host,
  ip,
  result: {
    recipients: [],
    unknownRecipients: [],
    remaining: [],
    catchAllProbes: [],
    closedBy: "421",
    ending: { stage, reply: reply },
    tls: false,
    extensions: [],
  },
  transcript: [{ ms: 0, who: "wire", text: `${reply.code} (heard in another session)` }],
  attempts: [],
});

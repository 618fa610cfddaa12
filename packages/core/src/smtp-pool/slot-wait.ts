import type { SessionOutcome } from "../mail/smtp/connect.ts";
import type { SessionPorts } from "./session.ts";
import { LEASE_MS } from "./shared-provider.ts";
import { getJitteredPauseMs, type SlotKey } from "./slots.ts";

/** How a process waits for places that others have. */
export type SlotWait = {
  pausing: boolean;
  /** When we found no place for the first time since we had one last (ms). */
  since: number | null;
  /** There was none at least once: the places that we get are to be used well. */
  isScarce: boolean;
};

/** So long that a place that nobody gave back is free again, and whoever had one before us has left. */
const SLOT_WAIT_MAX_MS = LEASE_MS + 30_000;

export const createSlotWait = (): SlotWait => ({ pausing: false, since: null, isScarce: false });

/** False: it has been too long, and nobody waits any more. */
export const joinSlotWait = (
  wait: SlotWait,
  { now, random, sleep }: Pick<SessionPorts, "now" | "random" | "sleep">,
  onRetry: () => void,
): boolean => {
  const atMs = now().getTime();
  wait.since ??= atMs;
  wait.isScarce = true;
  if (atMs - wait.since > SLOT_WAIT_MAX_MS) return false;
  // All who found no place side by side wait for it together.
  if (wait.pausing) return true;
  wait.pausing = true;
  void sleep(getJitteredPauseMs(random)).then(() => {
    wait.pausing = false;
    onRetry();
  });
  return true;
};

/** What is said of whoever waited in vain: there was no time for him, and nothing is known. */
export const createSlotTimeout = ({ host }: SlotKey): SessionOutcome => ({
  host,
  ip: "",
  result: {
    recipients: [],
    unknownRecipients: [],
    remaining: [],
    catchAllProbes: [],
    closedBy: "deadline",
    ending: { stage: "connect", reply: "deadline" },
    tls: false,
    extensions: [],
  },
  transcript: [{ ms: 0, who: "wire", text: "deadline (waiting for a place)" }],
  attempts: [],
});

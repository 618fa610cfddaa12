import type { SessionOutcome } from "@mailproof/mail/smtp/connect";
import { addMs } from "../../lib/time.ts";
import type { SessionPorts } from "../session.ts";
import { LEASE_MS } from "./provider-state.ts";
import {
  getJitteredPauseMs,
  type SlotKey,
  type SlotReturn,
  type SlotTurn,
  toWaitQueueName,
} from "./slots.ts";

/** How a process waits for slots that other processes or its own sessions hold. */
export type SlotWait = {
  pausing: boolean;
  /** The first time that no slot was free since this process last had one (ms). */
  since: number | null;
  /** No slot was free at least once: each session takes as many recipients as it may. */
  isScarce: boolean;
};

/** Longer than a lease: by then the slot of a crashed process is free, and earlier waiters are done. */
const SLOT_WAIT_MAX_MS = LEASE_MS + 30_000;

export const createSlotWait = (): SlotWait => ({ pausing: false, since: null, isScarce: false });

/** False: the wait has been too long, and the recipients come back later. */
export const joinSlotWait = (
  wait: SlotWait,
  { now, random, sleep }: Pick<SessionPorts, "now" | "random" | "sleep">,
  onRetry: () => void,
  pauseMs = getJitteredPauseMs(random),
): boolean => {
  const atMs = now().getTime();
  wait.since ??= atMs;
  wait.isScarce = true;
  if (atMs - wait.since > SLOT_WAIT_MAX_MS) return false;
  // Queues that find no free slot at the same time share one pause.
  if (wait.pausing) return true;
  wait.pausing = true;
  void sleep(pauseMs).then(() => {
    wait.pausing = false;
    onRetry();
  });
  return true;
};

/** After the longest wait within the process, when no queue says how long it will still be. */
const RETURN_MS = 60_000;

export const createReturn = (
  { slotKey, turn }: { readonly slotKey: SlotKey; readonly turn: SlotTurn },
  now: Date,
  inMs = RETURN_MS,
): { readonly outcome: SessionOutcome; readonly comeBack: SlotReturn } => {
  const fresh = { queue: toWaitQueueName(slotKey), position: now.getTime(), draw: 0 };
  const ticket = turn.ticket ?? fresh;
  const at = addMs(now, inMs).toISOString();
  return { outcome: createSlotTimeout(slotKey), comeBack: { at, ticket } };
};

/** The outcome for recipients that never got a slot: a time-out, and no evidence. */
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
  transcript: [{ ms: 0, who: "wire", text: "deadline (waiting for a slot)" }],
  attempts: [],
});

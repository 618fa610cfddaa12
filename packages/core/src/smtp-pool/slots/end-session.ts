import type { SessionOutcome } from "@mailproof/mail/smtp/connect";
import { isFault } from "@mailproof/mail/smtp/wire";
import type { Fields } from "../../ports/table.ts";
import type { Requester } from "../fairness.ts";
import { type ProviderRefusal, redactRefusal, toStoredRefusal } from "../refusal.ts";
import {
  BACKOFF_MAX_MS,
  type Change,
  type Closing,
  isBackingOff,
  MISSING,
  type ProviderState,
  toDoneField,
  toLength,
  toLineNumber,
  toSlotField,
} from "./provider-state.ts";
import type { SessionEnd, SessionWork } from "./slots.ts";

/** `requester`: null when the session did not wait in a queue. */
export type Lease = {
  readonly slot: number;
  /** The lease as the table stores it. It is unique, so a process releases only its own slot. */
  readonly text: string;
  readonly order: string;
  readonly requester: Requester | null;
};

/** `end`: null when the session never reached the provider. */
export type Ended = { readonly end: SessionEnd | null; readonly work?: SessionWork | undefined };

/** Returns the change that the end of a session makes for all processes. Null when its lease has expired, since then it changes nothing. */
export const endSession = (
  state: ProviderState,
  { slot, text, order, requester }: Lease,
  { end, work }: Ended,
  atMs: number,
): Change | null => {
  const isOurs = state.slots.get(slot) === text;
  const closing = end && closeAfter(state, end, atMs);
  if (!isOurs && !closing) return null;
  const isCounted = isOurs && work && requester;
  return {
    set: {
      ...(isOurs && { [toSlotField(slot)]: undefined }),
      ...(work && changePace(state, work)),
      ...(closing && toFields(closing)),
    },
    ...(isCounted && {
      add: { [toDoneField(toLineNumber(requester), order)]: toLength(requester, work.answered) },
    }),
    where: {
      ...(isOurs && { [toSlotField(slot)]: text }),
      // No process closed the provider since the read, and none reset its failures.
      ...(closing && {
        backoff_until: state.backoffUntilMs || MISSING,
        failures: state.failures || MISSING,
      }),
    },
  };
};

/** The backoff after a 421: this long, doubled with each failure in a row, up to the maximum. */
const BACKOFF_MS = 30_000;
/**
 * A server that hangs up without a reply signals overload: the next session waits this cooldown. Many unknown recipients
 * cause no cooldown (docs/design/mail-sessions.md).
 */
const COOLDOWN_MS = 5_000;

/** The next backoff of a provider that is not backing off, and the number of failures in a row. */
const getNextBackoff = (
  failures: number,
  { refusal, needsCooldown }: SessionEnd,
): { readonly ms: number; readonly failures: number } => {
  if (refusal === null) return { ms: needsCooldown ? COOLDOWN_MS : 0, failures: 0 };
  return { ms: Math.min(BACKOFF_MAX_MS, BACKOFF_MS * 2 ** failures), failures: failures + 1 };
};

/** Null during a backoff, when the refusal is known already, and when nothing changes. */
export const closeAfter = (state: Closing, end: SessionEnd, atMs: number): Closing | null => {
  if (isBackingOff(state, atMs)) return null;
  const { ms, failures } = getNextBackoff(state.failures, end);
  if (ms === 0 && failures === state.failures) return null;
  return {
    failures,
    backoffUntilMs: ms > 0 ? atMs + ms : state.backoffUntilMs,
    refusal: end.refusal ? toProviderRefusal(end.refusal) : state.refusal,
  };
};

const toProviderRefusal = ({ host, ip, result }: SessionOutcome): ProviderRefusal | null => {
  const { ending } = result;
  if (!ending || isFault(ending.reply)) return null;
  return redactRefusal({ host, ip, stage: ending.stage, reply: ending.reply });
};

const toFields = ({ failures, backoffUntilMs, refusal }: Closing): Fields => ({
  failures: failures || undefined,
  backoff_until: backoffUntilMs || undefined,
  refusal: refusal ? toStoredRefusal(refusal) : undefined,
});

/** The weight of a session grows with its recipients: a session with fifty counts for half. */
const PACE_RECIPIENTS = 100;

const changePace = ({ paceMs }: ProviderState, { ms, answered }: SessionWork): Fields => {
  if (answered === 0) return {};
  const own = ms / answered;
  const weight = paceMs === undefined ? 1 : Math.min(0.5, answered / PACE_RECIPIENTS);
  return { pace: Math.round((paceMs ?? own) * (1 - weight) + own * weight) };
};

import { addMs } from "../lib/time.ts";
import type { HttpsOutcome } from "../ports/https.ts";

// Decides from a response whether a delivery succeeded, and when to retry it. The lists are the policy.

export type DeliveryVerdict =
  | { readonly kind: "delivered" }
  /** The server answered 410: it does not want further events. */
  | { readonly kind: "gone" }
  /** `earliestMs`: the wait that the server requested. */
  | { readonly kind: "failed"; readonly earliestMs: number };

export const judgeResponse = (outcome: HttpsOutcome, now: Date): DeliveryVerdict => {
  if (outcome.kind === "failed") return { kind: "failed", earliestMs: 0 };
  const { status, retryAfter } = outcome;
  if (status >= 200 && status < 300) return { kind: "delivered" };
  if (status === 410) return { kind: "gone" };
  // A redirect fails, too, because a payload signed for one URL is not sent to another.
  const hasRetryAfter = (status === 429 || status === 503) && retryAfter !== null;
  return { kind: "failed", earliestMs: hasRetryAfter ? parseRetryAfter(retryAfter, now) : 0 };
};

/** Reads seconds or a date (RFC 9110 §10.2.3). Any other text counts as 0. */
const parseRetryAfter = (text: string, now: Date): number => {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? 0 : Math.max(0, at - now.getTime());
};

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The longest wait after each failed attempt; the last value repeats. Full jitter halves the wait on average. */
const BACKOFF_MS = [10 * SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR];
/** The retries end a day after the first attempt. */
export const RETRY_WINDOW_MS = 24 * HOUR;

type AttemptHistory = { readonly attempts: number; readonly triedSince: Date };

/** Undefined after the day, when the last attempt has failed. The last attempt is at the end of the day, not earlier. */
export const getNextAttempt = (
  { attempts, triedSince }: AttemptHistory,
  { now, random, earliestMs }: { now: Date; random: () => number; earliestMs: number },
): Date | undefined => {
  const last = addMs(triedSince, RETRY_WINDOW_MS);
  if (now >= last) return undefined;
  const backoffMs = BACKOFF_MS[Math.min(attempts, BACKOFF_MS.length) - 1] ?? 0;
  const next = addMs(now, Math.max(random() * backoffMs, earliestMs));
  return next < last ? next : last;
};

/** A webhook is disabled when all of its deliveries have failed for five days. */
export const DISABLED_AFTER_MS = 5 * 24 * HOUR;

/** A delivery without a free slot waits longer each time. */
export const getSlotWaitMs = (waits: number, random: () => number): number =>
  SECOND + random() * Math.min(2 ** waits * SECOND, 15 * MINUTE - SECOND);

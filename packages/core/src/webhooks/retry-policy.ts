import { addMs } from "../lib/time.ts";
import type { HttpsOutcome } from "../ports/https.ts";

// What an answer means for a delivery, and when it is tried again. The lists are the policy.

export type DeliveryVerdict =
  | { readonly kind: "delivered" }
  /** 410: whoever answers wants no more of it, ever. */
  | { readonly kind: "gone" }
  /** `earliestMs`: it asked to be left alone for so long. */
  | { readonly kind: "failed"; readonly earliestMs: number };

export const judgeResponse = (outcome: HttpsOutcome, now: Date): DeliveryVerdict => {
  if (outcome.kind === "failed") return { kind: "failed", earliestMs: 0 };
  const { status, retryAfter } = outcome;
  if (status >= 200 && status < 300) return { kind: "delivered" };
  if (status === 410) return { kind: "gone" };
  // A redirect is a failure, too: what was signed for one address is not handed to another.
  const hasRetryAfter = (status === 429 || status === 503) && retryAfter !== null;
  return { kind: "failed", earliestMs: hasRetryAfter ? parseRetryAfter(retryAfter, now) : 0 };
};

/** Seconds or a date (RFC 9110 §10.2.3). What is neither asks for nothing. */
const parseRetryAfter = (text: string, now: Date): number => {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? 0 : Math.max(0, at - now.getTime());
};

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** At most so long after each failed try, the last for all that follow; with full jitter half of it on average. */
const BACKOFF_MS = [10 * SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR];
/** From the first try on. */
export const RETRY_WINDOW_MS = 24 * HOUR;

type AttemptHistory = { readonly attempts: number; readonly triedSince: Date };

/** Undefined: a day has passed, and this was the last. That last one comes when the day is over, and not before. */
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

/** An address at which everything has failed for so long is not called any more. */
export const DISABLED_AFTER_MS = 5 * 24 * HOUR;

/** How long a delivery waits that found no place, the longer the oftener: those before it need their time. */
export const getSlotWaitMs = (waits: number, random: () => number): number =>
  SECOND + random() * Math.min(2 ** waits * SECOND, 15 * MINUTE - SECOND);

import type { HttpsOutcome } from "../https.ts";
import { inMs } from "../moments.ts";

// What an answer means for a delivery, and when it is tried again. The lists are the policy.

export type Verdict =
  | { readonly kind: "delivered" }
  /** 410: whoever answers wants no more of it, ever. */
  | { readonly kind: "gone" }
  /** `earliestMs`: it asked to be left alone for so long. */
  | { readonly kind: "failed"; readonly earliestMs: number };

export const verdictOn = (outcome: HttpsOutcome, now: Date): Verdict => {
  if (outcome.kind === "failed") return { kind: "failed", earliestMs: 0 };
  const { status, retryAfter } = outcome;
  if (status >= 200 && status < 300) return { kind: "delivered" };
  if (status === 410) return { kind: "gone" };
  // A redirect is a failure, too: what was signed for one address is not handed to another.
  const isAsked = (status === 429 || status === 503) && retryAfter !== null;
  return { kind: "failed", earliestMs: isAsked ? waitAsked(retryAfter, now) : 0 };
};

/** Seconds or a date (RFC 9110 §10.2.3). What is neither asks for nothing. */
const waitAsked = (text: string, now: Date): number => {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? 0 : Math.max(0, at - now.getTime());
};

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** At most so long after each failed try, the last for all that follow; with full jitter half of it on average. */
const GAPS_MS = [10 * SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR];
/** From the first try on. */
export const TRIED_FOR_MS = 24 * HOUR;

type Tried = { readonly attempts: number; readonly triedSince: Date };

/** Undefined: a day has passed, and this was the last. That last one comes when the day is over, and not before. */
export const nextTryAt = (
  { attempts, triedSince }: Tried,
  { now, random, earliestMs }: { now: Date; random: () => number; earliestMs: number },
): Date | undefined => {
  const last = inMs(triedSince, TRIED_FOR_MS);
  if (now >= last) return undefined;
  const gapMs = GAPS_MS[Math.min(attempts, GAPS_MS.length) - 1] ?? 0;
  const next = inMs(now, Math.max(random() * gapMs, earliestMs));
  return next < last ? next : last;
};

/** An address at which everything has failed for so long is not called any more. */
export const DISABLED_AFTER_MS = 5 * 24 * HOUR;

/** How long a delivery waits that found no place, the longer the oftener: those before it need their time. */
export const waitForPlaceMs = (waits: number, random: () => number): number =>
  SECOND + random() * Math.min(2 ** waits * SECOND, 15 * MINUTE - SECOND);

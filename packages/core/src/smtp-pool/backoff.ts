import type { SessionOutcome } from "../mail/smtp/connect.ts";

/** After a 421 the server is left alone: this long, then twice as long, up to the greatest. */
const BACKOFF_MS = 30_000;
export const BACKOFF_MAX_MS = 600_000;
/**
 * A server that hangs up without a word has had enough of us: it gets a moment before the next session. That most of
 * the recipients do not exist is no such thing (decision 41).
 */
const COOLDOWN_MS = 5_000;

/** What a session met, as far as it is about us. */
export type SessionEnd = {
  /** The session in which we were asked to leave the server alone. */
  readonly refusal: SessionOutcome | null;
  readonly needsCooldown: boolean;
};

export const NO_REFUSAL: SessionEnd = { refusal: null, needsCooldown: false };

/** How long an operator that does not rest yet is left alone after a session, and how many rests in a row that makes. */
export const getNextBackoff = (
  failures: number,
  { refusal, needsCooldown: strained }: SessionEnd,
): { readonly ms: number; readonly failures: number } => {
  if (refusal === null) return { ms: strained ? COOLDOWN_MS : 0, failures: 0 };
  return { ms: Math.min(BACKOFF_MAX_MS, BACKOFF_MS * 2 ** failures), failures: failures + 1 };
};

import type { SessionOutcome } from "@mailproof/mail/smtp/connect";

/** The backoff after a 421: this long, doubled with each failure in a row, up to the maximum. */
const BACKOFF_MS = 30_000;
export const BACKOFF_MAX_MS = 600_000;
/**
 * A server that hangs up without a reply signals overload: the next session waits this cooldown. Many unknown recipients
 * are no reason for one (docs/design/mail-sessions.md).
 */
const COOLDOWN_MS = 5_000;

/** The end of a session, as far as it concerns the server's limits for us. */
export type SessionEnd = {
  /** The outcome of the session in which the server asked us to come back later. */
  readonly refusal: SessionOutcome | null;
  readonly needsCooldown: boolean;
};

export const NO_REFUSAL: SessionEnd = { refusal: null, needsCooldown: false };

/** The next backoff of a provider that is not backing off, and the number of failures in a row. */
export const getNextBackoff = (
  failures: number,
  { refusal, needsCooldown }: SessionEnd,
): { readonly ms: number; readonly failures: number } => {
  if (refusal === null) return { ms: needsCooldown ? COOLDOWN_MS : 0, failures: 0 };
  return { ms: Math.min(BACKOFF_MAX_MS, BACKOFF_MS * 2 ** failures), failures: failures + 1 };
};

import type { Tried } from "../mail/smtp/connect.ts";

/** After a 421 the server is left alone: this long, then twice as long, up to the greatest. */
const REST_MS = 30_000;
export const REST_MS_MAX = 600_000;
/**
 * A server that hangs up without a word has had enough of us: it gets a moment before the next session. That most of
 * the recipients do not exist is no such thing (decision 41).
 */
const BREATH_MS = 5_000;

/** What a session met, as far as it is about us. */
export type Ended = {
  /** The session in which we were asked to leave the server alone. */
  readonly refusal: Tried | null;
  readonly strained: boolean;
};

export const NOTHING_MET: Ended = { refusal: null, strained: false };

/** How long an operator that does not rest yet is left alone after a session, and how many rests in a row that makes. */
export const restAfter = (
  rests: number,
  { refusal, strained }: Ended,
): { readonly ms: number; readonly rests: number } => {
  if (refusal === null) return { ms: strained ? BREATH_MS : 0, rests: 0 };
  return { ms: Math.min(REST_MS_MAX, REST_MS * 2 ** rests), rests: rests + 1 };
};

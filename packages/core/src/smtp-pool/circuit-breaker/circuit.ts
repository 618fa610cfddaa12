import { findMailProvider } from "@mailproof/mail/mail-providers";
import { DAY_MS, HOUR_MS, isUnexpired, MINUTE_MS } from "../../lib/time.ts";
import type { ProviderRefusal } from "../refusal.ts";

// The circuit of one mail provider and one exit, as a value. It is `closed` while the provider accepts our sessions,
// `open` during the pause after refusals of us, and then `half_open`: the reply in one session decides.

/** One or two refusals may come from faulty machines of the provider's pool; a blocked IP address gets only refusals. */
const REFUSALS_MAX = 3;
/** The first pause after a block. Temporary blocks last for hours; a removal that the operator requests takes a day. */
const PAUSE_MS = HOUR_MS;
/** Each pause in a row is twice as long as the previous pause, up to this limit: one session a day costs no reputation. */
const PAUSE_MAX_MS = DAY_MS;
/** Refusals that are further apart than this do not count as consecutive. */
const ROW_MS = HOUR_MS;
/** After this time without a pause, the number of pauses in a row becomes 0. */
const MEMORY_MS = DAY_MS;

export type Circuit = {
  /** Consecutive refusals before RCPT. */
  readonly refusals: number;
  /** The recipient domains among these refusals: one domain may refuse us by its own choice, several do not. */
  readonly domains: readonly string[];
  /** The latest of these refusals. */
  readonly refusal: ProviderRefusal | null;
  /** The time of the latest refusal (ms). */
  readonly atMs: number;
  /** The number of consecutive pauses, and the end of the latest pause (ms). */
  readonly openings: number;
  readonly openUntilMs: number;
};

export const CLOSED: Circuit = {
  refusals: 0,
  domains: [],
  refusal: null,
  atMs: 0,
  openings: 0,
  openUntilMs: 0,
};

/** A reply that shows whether the provider refuses us. `domain`: of the recipient; null before RCPT. */
export type ReplyToUs =
  | {
      readonly kind: "refused";
      readonly domain: string | null;
      readonly refusal: ProviderRefusal;
      /** A refused witness proves the refusal, so the circuit opens at once. */
      readonly isProven: boolean;
    }
  | { readonly kind: "accepted" };

export type CircuitState = "closed" | "open" | "half_open";

export const getCircuitState = (circuit: Circuit, atMs: number): CircuitState => {
  if (countOpenings(circuit, atMs) === 0) return "closed";
  return isOpen(circuit, atMs) ? "open" : "half_open";
};

/** A refusal for now: a later attempt of the same verification may be let in. */
export const isThrottle = ({ reply }: ProviderRefusal): boolean => reply.code < 500;

/** Returns the number of consecutive pauses that still count. */
export const countOpenings = (circuit: Circuit, atMs: number): number =>
  forgetOld(circuit, atMs).openings;

/** After a throttle the pauses are those of its deferred rows, so that both end together. */
const getPauseMs = ({ refusal, openings }: Pick<Circuit, "refusal" | "openings">): number => {
  if (!refusal || !isThrottle(refusal))
    return Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** (openings - 1));
  const { throttleMinutes } = findMailProvider(refusal.host);
  return (throttleMinutes[openings - 1] ?? throttleMinutes.at(-1) ?? 0) * MINUTE_MS;
};

const isOpen = (circuit: Circuit, atMs: number): boolean =>
  isUnexpired(circuit.openUntilMs, atMs, getPauseMs(circuit));

/** The time from which a circuit equals one that was never used (ms). */
export const getForgottenAtMs = ({ openings, openUntilMs, atMs }: Circuit): number =>
  openings > 0 ? openUntilMs + MEMORY_MS : atMs + ROW_MS;

const forgetOld = (circuit: Circuit, atMs: number): Circuit => {
  const longestMs = circuit.openings > 0 ? getPauseMs(circuit) + MEMORY_MS : ROW_MS;
  return isUnexpired(getForgottenAtMs(circuit), atMs, longestMs) ? circuit : CLOSED;
};

/** The begin of the session that got the replies, and the number of consecutive pauses before it. */
export type SessionTime = {
  readonly openings: number;
  readonly beganAtMs: number;
  readonly atMs: number;
};

/**
 * Returns the circuit after a session's replies. A session that began before the circuit opened decides nothing:
 * concurrent sessions meet the same refusal.
 */
export const applyReplies = (
  circuit: Circuit,
  replies: readonly ReplyToUs[],
  { openings, beganAtMs, atMs }: SessionTime,
): Circuit => {
  let next = forgetOld(circuit, atMs);
  if (next.openings !== openings || isOpen(next, atMs)) return circuit;
  for (const reply of replies) {
    if (isSameThrottle(next, reply, beganAtMs)) continue;
    next = applyReply(next, reply, atMs);
    if (next.openings > openings) break;
  }
  return next === CLOSED && isUnused(circuit) ? circuit : next;
};

/**
 * A server that accepts few sessions at once throttles the others, and may be slow for a moment. So the count of consecutive
 * throttles grows by one per session, and not by a session that was open at the last increase. Backoffs separate the sessions.
 */
const isSameThrottle = (circuit: Circuit, reply: ReplyToUs, beganAtMs: number): boolean =>
  reply.kind === "refused" &&
  isThrottle(reply.refusal) &&
  circuit.refusals + circuit.domains.length > 0 &&
  circuit.atMs >= beganAtMs;

const applyReply = (circuit: Circuit, reply: ReplyToUs, atMs: number): Circuit => {
  if (reply.kind === "accepted") return isUnused(circuit) ? circuit : CLOSED;
  const { domain, refusal, isProven } = reply;
  const grown: Circuit = {
    ...circuit,
    refusals: circuit.refusals + (domain === null ? 1 : 0),
    domains:
      domain === null || circuit.domains.includes(domain)
        ? circuit.domains
        : [...circuit.domains, domain],
    refusal,
    atMs,
  };
  // After a pause the first refusal before RCPT is enough.
  const isOver =
    isProven ||
    grown.refusals + grown.domains.length >= REFUSALS_MAX ||
    (circuit.openings > 0 && domain === null);
  return isOver ? open(grown, atMs) : grown;
};

const open = (circuit: Circuit, atMs: number): Circuit => {
  const openings = circuit.openings + 1;
  const openUntilMs = atMs + getPauseMs({ ...circuit, openings });
  return { ...circuit, refusals: 0, domains: [], openings, openUntilMs };
};

const isUnused = ({ refusals, domains, openings }: Circuit): boolean =>
  refusals + domains.length + openings === 0;

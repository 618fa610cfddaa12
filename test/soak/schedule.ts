// When there is calm and when attack, and which attacks are on.

export type Phase = {
  readonly kind: "calm" | "attack";
  readonly fromMs: number;
  readonly toMs: number;
};

const MINUTE_MS = 60_000;
/** An attack is so many times as long as the calm before it. */
const ATTACK_TIMES = 2;
const CYCLE_MINUTES = 6;

/** calm, attack, calm, attack, …, calm */
export const phasesIn = (minutes: number): readonly Phase[] => {
  const cycles = Math.max(1, Math.round(minutes / CYCLE_MINUTES));
  const calmMs = (minutes * MINUTE_MS) / (1 + cycles * (1 + ATTACK_TIMES));
  const cycleMs = calmMs * (1 + ATTACK_TIMES);
  return Array.from({ length: 2 * cycles + 1 }, (_, n): Phase => {
    const fromMs = Math.floor(n / 2) * cycleMs + (n % 2) * calmMs;
    return n % 2 === 0
      ? { kind: "calm", fromMs, toMs: fromMs + calmMs }
      : { kind: "attack", fromMs, toMs: fromMs + calmMs * ATTACK_TIMES };
  });
};

/** At a time. Each has its turn within each attack phase. */
export const AT_ONCE = 7;

/** One attack is on for some turns in a row, beginning with its own; the last turn is followed by the first. */
export const isOn = (attack: number, turn: number, attacks: number): boolean =>
  (turn - attack + attacks) % attacks < AT_ONCE;

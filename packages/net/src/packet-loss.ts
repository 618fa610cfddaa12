/** The number of control questions in one check: where half of all packets are lost, 97 of 100 checks lose one. */
const CONTROLS = 5;
/** Questions that time out within this time share one check. */
const VALID_MS = 1_000;

type LossCheckOptions = {
  /** Sends a question that every resolver can answer; resolves to false when no answer arrives. */
  readonly askControl: () => Promise<boolean>;
  readonly onLoss: () => void;
  readonly nowMs: () => number;
};

/**
 * Tells whether packets between us and the resolver are being lost. A resolver and AWS silently drop packets above their limit, counting
 * other processes behind the same network interface; to one question this looks like a silent name server. A lossy path also loses control
 * questions, which any resolver answers.
 */
export const createLossCheck = ({ askControl, onLoss, nowMs }: LossCheckOptions) => {
  let current: Promise<boolean> | null = null;
  let validUntilMs = Number.POSITIVE_INFINITY;

  const check = async (): Promise<boolean> => {
    const answered = await Promise.all(Array.from({ length: CONTROLS }, askControl));
    const isLossy = answered.includes(false);
    if (isLossy) onLoss();
    validUntilMs = nowMs() + VALID_MS;
    return isLossy;
  };

  return (): Promise<boolean> => {
    if (current && nowMs() < validUntilMs) return current;
    validUntilMs = Number.POSITIVE_INFINITY;
    current = check();
    return current;
  };
};

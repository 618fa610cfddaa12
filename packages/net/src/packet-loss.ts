/** How many control questions are sent at once: of packets of which half are lost, 97 of 100 checks lose one. */
const CONTROLS = 5;
/** Questions that end without an answer within this time share a check. */
const VALID_MS = 1_000;

type LossCheckOptions = {
  /** Asks a question that every resolver has the answer to; false: it did not come. */
  readonly askControl: () => Promise<boolean>;
  /** Called once for each check that finds a loss. */
  readonly onLoss: () => void;
  readonly nowMs: () => number;
};

/**
 * Whether packets are lost between us and the resolver now. A resolver and AWS drop packets beyond their limit without a
 * word, also those of other processes behind the same network interface; for a question that looks like a name server
 * that is silent. The difference is that other questions are lost, too.
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

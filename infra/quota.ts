type Sized = { readonly reserved: number | null };

const NEW_ACCOUNT_QUOTA = 10;
/** AWS allows no event source fewer. */
const EVENT_SOURCE_MIN = 2;

/**
 * How many of a queue's workers run at once: as many as intended, or its part of half of the account. Without this, SQS
 * would hand out messages without a Lambda for them, count them as received, and hide them for hours.
 */
export const fitToQuota = (
  intended: number,
  quota: number | null,
  lambdas: readonly Sized[],
): number => {
  const share = (quota ?? NEW_ACCOUNT_QUOTA) / (2 * sumReserved(lambdas));
  return Math.max(EVENT_SOURCE_MIN, Math.floor(intended * Math.min(1, share)));
};

const sumReserved = (lambdas: readonly Sized[]): number =>
  lambdas.reduce((sum, { reserved }) => sum + (reserved ?? 0), 0);

/** Callers share what is not reserved, and keep the greater part: a new account, with a quota of 10, reserves nothing. */
export const mayReserve = (quota: number | null, lambdas: readonly Sized[]): boolean =>
  quota !== null && 2 * sumReserved(lambdas) <= quota;

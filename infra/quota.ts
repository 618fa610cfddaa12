import { createParameterNamer } from "./parameters.ts";

/**
 * How many Lambdas the account may run at once, for each path that sizes a stage: the quota that npm run deploy read or that is
 * set, else the one that the latest deployment stored. Without it a full stage would shrink to the size of a new account.
 */
export const findQuota = async (
  stage: string,
  { quota }: { readonly quota: number | null },
  readParameter: (name: string) => Promise<string>,
): Promise<number> => {
  if (quota !== null) return quota;
  const stored = await readParameter(createParameterNamer("mailproof", stage)(QUOTA)).catch(() => {
    throw new Error(
      `CONCURRENCY_QUOTA is not set, and no deployment has stored it, so the sizes of ${stage} are unknown.\nRun npm run deploy -- --stage ${stage}, which reads it from the AWS account.`,
    );
  });
  return Number(stored);
};

/** The name under which a deployment stores the quota. */
export const QUOTA = "quota";

type Sized = { readonly reserved: number | null };

export const NEW_ACCOUNT_QUOTA = 10;
/** The least concurrency that AWS allows for an event source. */
const EVENT_SOURCE_MIN = 2;

/**
 * How many of a queue's workers run at once: as many as intended, or its part of half of the account. Without this, SQS
 * would hand out messages without a Lambda for them, count them as received, and hide them for hours.
 */
export const fitToQuota = (intended: number, quota: number, lambdas: readonly Sized[]): number => {
  const share = quota / (2 * sumReserved(lambdas));
  return Math.max(EVENT_SOURCE_MIN, Math.floor(intended * Math.min(1, share)));
};

const sumReserved = (lambdas: readonly Sized[]): number =>
  lambdas.reduce((sum, { reserved }) => sum + (reserved ?? 0), 0);

/** Callers share the unreserved Lambdas, which stay the greater part: a new account, with a quota of 10, reserves no Lambda. */
export const mayReserve = (quota: number, lambdas: readonly Sized[]): boolean =>
  2 * sumReserved(lambdas) <= quota;

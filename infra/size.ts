import { isPermanent } from "./lifecycle.ts";

/** What the deployer's environment, or .env.<stage>, says. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * full: a NAT gateway with a fixed address in each of two zones, and an alarm for each Lambda. lean: one NAT instance
 * with a fixed address, and the alarms of the stage as a whole. docs/costs.md has the price of each.
 */
export type Size = "full" | "lean";

export const readSize = (stage: string, { STAGE_SIZE: size }: Environment): Size => {
  if (!size) return isPermanent(stage) ? "full" : "lean";
  if (size !== "full" && size !== "lean")
    throw new Error(`STAGE_SIZE is "${size}"; it has to be full or lean.`);
  return size;
};

/**
 * How many Lambdas the AWS account may run at once: Service Quotas, Lambda, Concurrent executions. AWS has no
 * expression that reads it, so the deployer says it. Null: as many as a new account, for all that is known.
 */
export const readQuota = (environment: Environment): number | null =>
  readWhole(environment, "CONCURRENCY_QUOTA");

/** What the AWS account may cost in a month, in dollars. */
export const readBudget = (environment: Environment): number | null =>
  readWhole(environment, "BUDGET_USD");

const readWhole = (environment: Environment, name: string): number | null => {
  const value = environment[name];
  if (!value) return null;
  if (!/^[1-9]\d*$/.test(value))
    throw new Error(`${name} is "${value}"; it has to be a whole number.`);
  return Number(value);
};

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
  lambdas: readonly { readonly reserved: number | null }[],
): number => {
  const share = (quota ?? NEW_ACCOUNT_QUOTA) / (2 * sumReserved(lambdas));
  return Math.max(EVENT_SOURCE_MIN, Math.floor(intended * Math.min(1, share)));
};

const sumReserved = (lambdas: readonly { readonly reserved: number | null }[]): number =>
  lambdas.reduce((sum, { reserved }) => sum + (reserved ?? 0), 0);

/** Callers share what is not reserved, and keep the greater part: a new account, with a quota of 10, reserves nothing. */
export const mayReserve = (
  quota: number | null,
  lambdas: readonly { readonly reserved: number | null }[],
): boolean => quota !== null && 2 * sumReserved(lambdas) <= quota;

import * as v from "valibot";
import { Failure } from "../lib/failure.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import { findItem, type Item, type Key, type Table, type Update } from "../ports/table.ts";
import { StoredHalves } from "./balance.ts";
import { formatCredits, type Halves, toCredits } from "./credits.ts";
import { MONTH_LENGTH, type OperationOrigin } from "./items.ts";
import type { Payer } from "./payer.ts";
import { listUsage, sumUsage } from "./usage.ts";

// Layout. What a person spent in a month (UTC): debits less refunds. An account has a counter, too, while it has a limit of its
// own. The entries of an operation name the counters that its debit added to (`countedIn`), and each changes them in its own
// transaction. So a refund counts in the month of its charge. A charge of a key, in an account without a limit, has no counter.
//
//   pk               sk                    content
//   SPENT#<account>  <yyyy-mm>#<spender>   spent; before: the part of it from before the account had a limit
//
// <spender> is a person's id, or ACCOUNT.

const ACCOUNT = "ACCOUNT";

const Spent = v.object({
  sk: v.string(),
  spent: v.optional(StoredHalves, 0 as Halves),
  before: v.optional(StoredHalves, 0 as Halves),
});

/** A counter, and the most that it may reach. */
export type SpendingLimit = { readonly counter: string; readonly most: Halves | undefined };

type Limited = Pick<Payer, "person" | "monthlyHalves">;

/** The counters of a charge that begins at this time. */
export const listSpendingLimits = (
  { person, monthlyHalves }: Limited,
  openedAt: string,
): readonly SpendingLimit[] => [
  ...(person ? [{ counter: toCounter(openedAt, person.id), most: person.monthlyHalves }] : []),
  ...(monthlyHalves === undefined
    ? []
    : [{ counter: toCounter(openedAt, ACCOUNT), most: monthlyHalves }]),
];

export const listCounters = (payer: Limited, openedAt: string): OperationOrigin["countedIn"] => {
  const limits = listSpendingLimits(payer, openedAt);
  return limits.length === 0 ? undefined : limits.map(({ counter }) => counter);
};

type Counted = { readonly countedIn?: OperationOrigin["countedIn"] };

/** The person who caused a charge. Undefined when a key did. */
export const findPayingPerson = ({ countedIn = [] }: Counted): string | undefined =>
  countedIn.map(toSpender).find((spender) => spender !== ACCOUNT);

const toMonth = (text: string): string => text.slice(0, MONTH_LENGTH);
const toCounter = (at: string, spender: string): string => `${toMonth(at)}#${spender}`;
const toSpender = (counter: string): string => counter.slice(MONTH_LENGTH + 1);
const toPartition = (account: string): string => `SPENT#${account}`;
const toSpentKey = (account: string, counter: string): Key => ({
  pk: toPartition(account),
  sk: counter,
});
const readSpent = (item: Item) => v.parse(Spent, item);

/** What these changes of usage add to the spending. */
export const getSpent = ({ debited = 0, refunded = 0 }: Readonly<Record<string, number>>): number =>
  debited - refunded;

/** Only a debit has limits: a refund must never be refused. */
export const buildSpendingWrites = (
  { account, countedIn = [] }: Counted & Pick<OperationOrigin, "account">,
  change: number,
  limits: readonly SpendingLimit[] = [],
): readonly Update[] => {
  if (change === 0) return [];
  return countedIn.map((counter) => {
    const most = limits.find((limit) => limit.counter === counter)?.most;
    return {
      update: toSpentKey(account, counter),
      add: { spent: change },
      ...(most !== undefined && { bounds: { spent: { atMost: most } } }),
      orCreate: true,
    };
  });
};

/** The state of a limit in its month. `resetsAt`: the start of the next month. */
export type Spending = {
  readonly most: Halves;
  readonly spent: Halves;
  readonly resetsAt: string;
};

const findSpending = async (
  table: Table,
  account: string,
  { counter, most }: SpendingLimit,
): Promise<Spending | undefined> => {
  if (most === undefined) return undefined;
  const found = await findItem(table, toSpentKey(account, counter), readSpent);
  return { most, spent: found?.spent ?? (0 as Halves), resetsAt: toNextMonth(counter) };
};

const toNextMonth = (counter: string): string => {
  const [year = 0, month = 0] = toMonth(counter).split("-").map(Number);
  return new Date(Date.UTC(year, month)).toISOString();
};

/** What was spent of this payer's own limit and of the account's. Undefined without a limit. */
export const readSpending = async (
  table: Table,
  { account, ...payer }: Limited & Pick<Payer, "account">,
  now: Date,
): Promise<Readonly<Record<"own" | "all", Spending | undefined>>> => {
  const limits = listSpendingLimits(payer, now.toISOString());
  const read = async (isAccount: boolean) => {
    const limit = limits.find(({ counter }) => (toSpender(counter) === ACCOUNT) === isAccount);
    return limit && findSpending(table, account, limit);
  };
  const [own, all] = await Promise.all([read(false), read(true)]);
  return { own, all };
};

/** Throws for a charge beyond a limit. When charges meet, the bounds of their transactions refuse those beyond it. */
export const assertWithinLimits = async (
  table: Table,
  account: string,
  amount: Halves,
  limits: readonly SpendingLimit[],
): Promise<void> => {
  for (const limit of limits) {
    const spending = await findSpending(table, account, limit);
    if (spending && spending.spent + amount > spending.most)
      throw createOverLimitFailure(toSpender(limit.counter), spending, amount);
  }
};

const createOverLimitFailure = (
  spender: string,
  { most, spent, resetsAt }: Spending,
  needed: Halves,
): Failure => {
  const whose = spender === ACCOUNT ? "The account's" : "Your";
  const what = `This costs ${formatCredits(needed)}. ${whose} limit is ${formatCredits(most)} a month, and ${toCredits(spent)} of them are spent. The limit resets at ${resetsAt}.`;
  return new Failure("INSUFFICIENT_CREDITS", "nothing_charged", what, {
    details: {
      needed: toCredits(needed),
      limit: toCredits(most),
      spent: toCredits(spent),
      resets_at: resetsAt,
    },
  });
};

/**
 * Makes the counter of an account that gets a limit start at what the account spent in this month. The table refuses the write
 * when a charge changed the counter meanwhile. Refunds of charges from before the limit do not reduce the counter.
 */
export const buildSpendingStart = async (
  table: Table,
  account: string,
  now: Date,
): Promise<Update> => {
  const key = toSpentKey(account, toCounter(now.toISOString(), ACCOUNT));
  const counted = await findItem(table, key, readSpent);
  const month = toMonth(key.sk);
  const usage = await listUsage(table, account, { from: `${month}-01`, to: `${month}-31` });
  const missing = getSpent(sumUsage(usage.values())) - (counted?.spent ?? 0);
  return {
    update: key,
    add: { spent: missing, before: missing },
    where: { spent: counted ? counted.spent : { missing: true } },
    orCreate: true,
  };
};

/** What entries added to each counter of the account, without those of `closed` months. */
export const sumSpending = async (
  table: Table,
  account: string,
  closed: ReadonlyMap<string, unknown>,
): Promise<ReadonlyMap<string, number>> => {
  const sums = new Map<string, number>();
  for await (const item of paginateQuery(table, { pk: toPartition(account) })) {
    const { sk, spent, before } = readSpent(item);
    if (!closed.has(toMonth(sk))) sums.set(sk, spent - before);
  }
  return sums;
};

/** Adds an entry's change to the sums of its counters. */
export const addSpending = (
  sums: Map<string, number>,
  { countedIn = [] }: Counted,
  change: number,
): void => {
  for (const counter of countedIn) sums.set(counter, (sums.get(counter) ?? 0) + change);
};

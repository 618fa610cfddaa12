import { createUnavailableFailure, Failure } from "../lib/failure.ts";
import { fingerprint } from "../lib/fingerprint.ts";
import { type Balance, getBalance, readStableBalance } from "../money/balance.ts";
import { type Halves, toCredits } from "../money/credits.ts";
import { debit } from "../money/debit.ts";
import {
  createClaim,
  findClaim,
  IDEMPOTENCY_KEY_RETENTION_SECONDS,
  type IdempotencyKey,
} from "../money/idempotency-claims.ts";
import { grant, openBalance } from "../money/ledger.ts";
import type { PlanId } from "../money/plans.ts";
import { findItem, type Table, type Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit } from "../runtime/commit.ts";
import {
  type Account,
  getAccountStatus,
  readAccount,
  toAccountItem,
  toAccountKey,
} from "./account-items.ts";
import { createKeyCount } from "./api-key-items.ts";
import { mintKey } from "./api-keys.ts";

export type OpenedAccount = {
  readonly account: string;
  readonly liveKey: string;
  readonly testKey: string;
};

type NewAccount = { readonly name: string; readonly plan: PlanId; readonly opening: Halves };

/** The writes make an account with its opening credits and one unrestricted key of each mode. */
export const buildAccount = (
  world: World,
  { name, plan, opening }: NewAccount,
): OpenedAccount & { readonly writes: readonly Write[] } => {
  const account = world.newId("acc");
  const at = world.now().toISOString();
  const live = mintKey(world, { account, name: "First live key", mode: "live", scopes: null });
  const test = mintKey(world, { account, name: "First test key", mode: "test", scopes: null });
  const writes = [
    { create: toAccountItem({ account, name, plan, createdAt: at, bounceFree: true }) },
    ...openBalance({
      id: world.newId("txn"),
      account,
      at,
      amount: opening,
      reason: "opening",
    }),
    createKeyCount(live.key),
    createKeyCount(test.key),
    ...live.writes,
    ...test.writes,
  ];
  return { account, liveKey: live.secret, testKey: test.secret, writes };
};

/** Creates an account, or creates nothing. */
export const openAccount = async (world: World, request: NewAccount): Promise<OpenedAccount> => {
  const { writes, ...opened } = buildAccount(world, request);
  const { outcome } = await world.table.transact(writes);
  if (outcome === "committed") return opened;
  throw createUnavailableFailure("It is not known whether the account was created.");
};

export const findAccount = (table: Table, account: string): Promise<Account | undefined> =>
  findItem(table, toAccountKey(account), readAccount);

/** Returns the active account of these credentials. Undefined when it is missing or closed, so the credentials are unknown. */
export const admitAccount = async (table: Table, id: string): Promise<Account | undefined> => {
  const account = await findAccount(table, id);
  const status = account && getAccountStatus(account);
  if (status === "disabled") throw createDisabledFailure();
  return status === "active" ? account : undefined;
};

const createDisabledFailure = (): Failure =>
  new Failure(
    "FORBIDDEN",
    "nothing_charged",
    "This account is disabled. The operator of the service can enable it.",
  );

export const getExistingAccount = async (table: Table, account: string): Promise<Account> => {
  const found = await findAccount(table, account);
  if (!found) throw createNoAccountFailure(account);
  return found;
};

export const getAccount = async (table: Table, account: string): Promise<Account> => {
  const found = await findAccount(table, account);
  if (!found) throw new Error(`there is no account ${account}`);
  return found;
};

type AccountChanges = Partial<Pick<Account, "name" | "plan" | "disabledAt" | "closedAt">>;

/** Removes each field that is set to undefined. Refuses to change a closed account. */
export const updateAccount = async (
  table: Table,
  account: string,
  changes: AccountChanges,
): Promise<Account> => {
  const where = { closedAt: { missing: true } } as const;
  const written = await table.write({ update: toAccountKey(account), set: changes, where });
  if (written.outcome === "committed" && written.item) return readAccount(written.item);
  if (written.outcome !== "refused")
    throw createUnavailableFailure("It is not known whether the account was changed.");
  if (await findAccount(table, account))
    throw new Failure("FORBIDDEN", "nothing_charged", `The account ${account} is closed.`);
  throw createNoAccountFailure(account);
};

const createNoAccountFailure = (account: string): Failure =>
  new Failure("NOT_FOUND", "nothing_charged", `No account ${account}.`);

/** An operator's key covers grants and clawbacks of every account: another account or amount is another request. */
const toIdempotencyKey = (account: string, change: number, key: string): IdempotencyKey => ({
  owner: "operator",
  action: "credits.grant",
  key,
  fingerprint: fingerprint({ account, change }),
  retentionSeconds: IDEMPOTENCY_KEY_RETENTION_SECONDS,
});

/** Returns the balance after the grant. With a key the grant happens once: a repeat only reads the balance. */
export const grantCredits = async (
  world: World,
  account: string,
  amount: Halves,
  key: string | null = null,
): Promise<Balance> => {
  const at = world.now().toISOString();
  const id = world.newId("txn");
  const once = key === null ? null : toIdempotencyKey(account, amount, key);
  const reason = "granted";
  const [entry, ...moves] = grant({ id, account, at, amount, reason });
  const claim = once ? [createClaim(once, { id, openedAt: at })] : [];
  const { outcome } = await commit(world, { proof: entry, also: [...moves, ...claim] });
  if (outcome === "ambiguous") throw createUnknownFailure("granted", key);
  const isDone = outcome === "committed" || (once && (await findClaim(world.table, once)));
  if (!isDone) throw createNoAccountFailure(account);
  return getBalance(world.table, account);
};

/** Concurrent charges change the balance and refuse the clawback, so it is attempted five times. */
const CLAWBACK_ATTEMPTS_MAX = 5;

/** Takes back unspent credits, all or nothing, and returns the new balance. With a key the clawback happens once. */
export const clawBackCredits = async (
  world: World,
  account: string,
  amount: Halves,
  key: string | null = null,
): Promise<Balance> => {
  const { plan } = await getExistingAccount(world.table, account);
  const openedAt = world.now().toISOString();
  const operation = world.newId("txn");
  const origin = { account, operation, openedAt, countedIn: undefined };
  const once = key === null ? null : toIdempotencyKey(account, -amount, key);
  const claim = once ? [createClaim(once, { id: operation, openedAt })] : [];
  for (let attempt = 0; attempt < CLAWBACK_ATTEMPTS_MAX; attempt++) {
    // Reads the claim before it checks the balance, because the first request has already reduced the balance.
    if (once && (await findClaim(world.table, once))) return getBalance(world.table, account);
    const { balance, isStable } = await readStableBalance(world.table, account);
    const { available } = balance;
    if (isStable && available < amount) throw createInsufficientCreditsFailure(amount, available);
    const reason = "taken_back";
    const request = { ...origin, plan, kind: "clawback", amount, reason } as const;
    const [entry, ...moves] = (await debit(world, request)).writes;
    const { outcome } = await commit(world, { proof: entry, also: [...moves, ...claim] });
    if (outcome === "committed") return getBalance(world.table, account);
    if (outcome === "ambiguous") throw createUnknownFailure("taken back", key);
  }
  const what = "The balance changed too often during the request; send it again.";
  throw createUnavailableFailure(what);
};

const createUnknownFailure = (done: string, key: string | null): Failure => {
  const what = `Unknown whether the credits were ${done}.`;
  return new Failure("UNAVAILABLE", key === null ? "unknown" : "retry_same_key", what);
};

const createInsufficientCreditsFailure = (amount: Halves, available: Halves): Failure => {
  const what = `The account has ${toCredits(available)} unspent credits; ${toCredits(amount)} cannot be taken back.`;
  const details = { needed: toCredits(amount), available: toCredits(available) };
  return new Failure("INSUFFICIENT_CREDITS", "nothing_charged", what, { details });
};

import type { Edit } from "./fault.ts";

const MONEY = "packages/core/src/money";

/**
 * Bugs of money, each as what is replaced in the code of the server. Two are not found. A balance falls below zero only in the
 * moment in which two charges take its last credits; and a client cannot tell whether the search whose reply it lost had ended.
 */
export const PLANTED_BUGS: Readonly<Record<string, readonly Edit[]>> = {
  "a search states the balance of a later read": [
    {
      file: "packages/core/src/find/find-once.ts",
      from: "result, remaining: left };",
      to: "result, remaining: await findRemainingCredits(world.table, operation) };",
    },
  ],

  "the figure is that of before the charge": [
    {
      file: `${MONEY}/balance.ts`,
      from: "return item && v.parse(StoredShard, item).available;",
      to: "return item && (v.parse(StoredShard, item).available + 10);",
    },
  ],

  "a repeat of a batch is charged again": [
    {
      file: `${MONEY}/begin-operation.ts`,
      from: "const claim = idempotencyKey && createClaim(",
      to: "const claim = null && createClaim(",
    },
  ],

  "the same search within its two minutes is another one": [
    {
      file: "packages/core/src/find/find-once.ts",
      from: "key: `${bucket} ${searchHash}`",
      to: "key: `${world.newId('txn')} ${searchHash}`",
    },
  ],

  "the debit writes the balance that it read, less its amount": [
    {
      file: `${MONEY}/debit.ts`,
      from: "const paying = buildPayingUpdate(account, funding, toBalanceChanges(moved), bounds);",
      to: "const { available: _, ...add } = toBalanceChanges(moved);\n  const paying = { update: toBalanceKey(account), add, set: { available: left } };",
    },
    {
      file: `${MONEY}/debit.ts`,
      from: "import { type Balance, ",
      to: "import { toBalanceKey, type Balance, ",
    },
  ],

  "the balance may fall below zero": [
    {
      file: `${MONEY}/balance.ts`,
      from: "bounds: { ...toLowerBounds(changes), ...(available && { available }) },",
      to: "",
    },
  ],

  "a cancelled job is not refunded": [
    {
      file: "packages/core/src/lists/cancel-job.ts",
      from: 'if (mode !== "live") return [];',
      to: "return [];",
    },
  ],

  "a cancelled job is refunded one address too few": [
    {
      file: "packages/core/src/lists/cancel-job.ts",
      from: "const due = getRowsPrice(job, countRemaining(job));",
      to: "const due = getRowsPrice(job, countRemaining(job) - 1);",
    },
  ],

  "a check that is done is paid and released": [
    {
      file: "packages/core/src/deliverability/store-check.ts",
      from: "ended = await settle(world, operation, { answer, also });",
      to: "ended = await settle(world, operation, { answer, also, releasedAs: 'cancelled' });",
    },
  ],

  "a search that a crash interrupted is paid though it is not answered": [
    {
      file: "packages/core/src/find/find-once.ts",
      from: 'const ended = await release(world, isClaimed ? operation : { ...operation, claim: null });\n  return ended === "ended" ? "released"',
      to: 'const ended = await settle(world, { ...operation, claim: null }, { answer: null });\n  return ended === "ended" ? "released"',
    },
  ],

  "a verification that a crash interrupted is released, and its repeat is not charged": [
    {
      file: "packages/core/src/verify-one/verify-once.ts",
      from: "const result = await continueAsJob(world, readOperation(item));",
      to: "const operation = readOperation(item);\n    await commit(world, { proof: null, also: [move({ account: operation.account, operation: operation.id, openedAt: operation.openedAt, step: 'lost-0' as never, at: world.now().toISOString(), moved: { refund: operation.amount }, reason: 'refunded' }, 0)[1]] });\n    const result = await continueAsJob(world, operation);",
    },
    {
      file: "packages/core/src/verify-one/verify-once.ts",
      from: 'import * as v from "valibot";',
      to: 'import * as v from "valibot";\nimport { move } from "../money/ledger.ts";\nimport { commit } from "../runtime/commit.ts";',
    },
  ],

  "the account is read from a cache of half a second": [
    {
      file: "packages/api/src/endpoints/get-account.ts",
      from: 'caller.mode === "live" ? await getBalance(world.table, caller.account) : TEST_BALANCE;',
      to: 'caller.mode === "live" ? await (cached[`${caller.account} ${Math.floor(Date.now() / 500)}`] ??= getBalance(world.table, caller.account)) : TEST_BALANCE;',
    },
    {
      file: "packages/api/src/endpoints/get-account.ts",
      from: "export const getAccount =",
      to: "const cached: Record<string, ReturnType<typeof getBalance>> = {};\nexport const getAccount =",
    },
  ],
};

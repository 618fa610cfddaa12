import { iterateAccounts } from "@mailproof/core/accounts/account-items";
import { grantCredits, openAccount } from "@mailproof/core/accounts/accounts";
import { audit } from "@mailproof/core/background/audit";
import { createAudit } from "@mailproof/core/money/audit";
import { toBalanceKey } from "@mailproof/core/money/balance";
import { credits, type Halves } from "@mailproof/core/money/credits";
import { toEntryItem, toUsageKey } from "@mailproof/core/money/items";
import { move } from "@mailproof/core/money/ledger";
import { toChunkKey } from "@mailproof/core/rows/chunks";
import { expect, test } from "vitest";
import { whenQuiet, whenWorked } from "../../app/drain-queues.ts";
import { createStoppingWorld, runTurn, withMessageFates } from "../../app/faulty-worlds.ts";
import { given, givenWorld } from "../../app/given.ts";
import { whenVerified } from "../../app/send.ts";
import { createEmails, givenChunked, whenBatched, whenProcessed } from "../../things/jobs.ts";

const MONTH_MS = 31 * 86_400_000;

test.each([
  ["available = granted - debited + refunded", { available: 1 }],
  ["held + spent + refunded = debited", { available: -2, debited: 2 }],
  ["nothing is below zero", { held: -2, spent: 2 }],
  ["granted = the sum of the entries in the ledger", { available: 4, granted: 4 }],
  ["debited = the sum of the entries in the ledger", { available: -2, debited: 2, spent: 2 }],
  ["spent = the sum of the entries in the ledger", { available: -2, debited: 2, spent: 2 }],
  ["held = the sum of the entries in the ledger", { available: -2, debited: 2, held: 2 }],
  ["refunded = the sum of the entries in the ledger", { debited: 2, refunded: 2 }],
  ["available = the sum of the entries in the ledger", { available: -2, debited: 2, spent: 2 }],
  ["granted keeps up with the ledger", { available: 4, granted: 4 }],
  ["debited keeps up with the ledger", { available: -2, debited: 2, spent: 2 }],
  ["refunded keeps up with the ledger", { debited: 2, refunded: 2 }],
])("the audit reports the broken invariant: %s", async (invariant, add) => {
  const { world, account } = await given({ balance: 10 });
  await world.table.write({ update: toBalanceKey(account), add });

  const { ok, violations } = await audit(world.table, world.now());

  expect(ok).toBe(false);
  expect(violations).toContainEqual({ account_id: account, law: invariant });
});

const HELD_FOR_WORK = "credits are held for work under way, and for nothing else";

test("the audit finds a hold without work although every sum is right", async () => {
  const { world, account } = await given({ balance: 10 });
  const at = world.now().toISOString();
  const origin = { account, operation: "job_9", openedAt: at };
  const orphan = {
    ...origin,
    step: "debit" as const,
    at,
    moved: { hold: credits(1) },
    reason: "verify" as const,
    countedIn: undefined,
  };
  await world.table.transact(move(orphan));

  const { violations } = await audit(world.table, world.now());

  expect(violations).toEqual([{ account_id: account, law: HELD_FOR_WORK }]);
});

test.each([
  ["an operation", "OPERATION#job_1", "ann@x.com"],
  ["a job", "JOB#job_1", "slow@x.com"],
])("the audit finds %s whose hold exceeds its debit", async (_case, pk, email) => {
  const ctx = await given({ balance: 10 });
  const { world, table, account, liveKey } = ctx;
  void whenVerified(createStoppingWorld(ctx, email === "slow@x.com" ? 2 : 1).world, liveKey, {
    email,
  });
  for (let turns = 0; turns < 5; turns++) await runTurn();
  expect(await audit(table, world.now())).toMatchObject({ ok: true });
  const [item] = table.items().filter((one) => one.pk === pk);
  await table.write({ update: { pk, sk: item?.sk ?? "" }, set: { amount: 4, held: 4 } });

  const { violations } = await audit(table, world.now());

  expect(violations).toEqual([{ account_id: account, law: HELD_FOR_WORK }]);
});

test("the audit finds an operation without an entry in the ledger", async () => {
  const ctx = await given({ balance: 10 });
  const { world, table, account } = ctx;
  void whenVerified(createStoppingWorld(ctx, 1).world, ctx.liveKey, { email: "ann@x.com" });
  await runTurn();
  const held = table.items().find(({ sk }) => sk === "OPERATION");
  const twin = { ...held, pk: "OPERATION#job_9", sk: "OPERATION", id: "job_9", list_sk: "job_9" };
  await table.write({ create: twin });

  const { violations } = await audit(table, world.now());

  expect(violations).toEqual([{ account_id: account, law: HELD_FOR_WORK }]);
});

const USAGE = "usage, in total and by operation, = the sum of the entries of each month";

test.each([
  ["the account used more", { debited: 2 }],
  ["the account received fewer refunds", { refunded: -2 }],
  ["the account received fewer grants", { granted: -2 }],
  ["an operation used more", { debited_verify: 2 }],
  ["an operation received more refunds", { refunded_find: 2 }],
])("the audit reports usage that contradicts the ledger: %s", async (_case, add) => {
  const ctx = await given({ balance: 10 });
  const { world, table, account } = ctx;
  await whenVerified(world, ctx.liveKey, { email: "error@x.com" });
  await table.write({ update: toUsageKey(account, world.now().toISOString()), add });

  const { violations } = await audit(table, world.now());

  expect(violations).toEqual([{ account_id: account, law: USAGE }]);
});

test("the audit compares the usage of a closed month with its closing", async () => {
  const ctx = await given({ balance: 10 });
  const { world, table, account } = ctx;
  const openedAt = world.now().toISOString();
  await whenVerified(world, ctx.liveKey, { email: "ann@x.com" });
  ctx.later(3 * MONTH_MS);
  expect(await audit(table, world.now())).toMatchObject({ ok: true });
  await table.write({ update: toUsageKey(account, openedAt), add: { debited: 2 } });

  const { violations } = await audit(table, world.now());

  expect(violations).toEqual([{ account_id: account, law: USAGE }]);
});

test("work under way for a test key holds no credits", async () => {
  const { world, testKey } = await given({ balance: 10 });
  await whenVerified(world, testKey, { email: "slow@x.com" });

  expect(await audit(world.table, world.now())).toMatchObject({ ok: true });
});

const COUNTERS =
  "a job's counters add up to what it processed, and a completed or cancelled job has processed or refunded all";
const CHUNKS = "a job has processed the rows that its chunks have";

test.each([
  ["counts more than it processed", { valid: 2 }, [COUNTERS]],
  ["counts less than it processed", { valid: 0 }, [COUNTERS]],
  ["processed more rows than its total", { processed: 2, valid: 2 }, [COUNTERS, CHUNKS]],
  ["is completed before all rows are processed", { total: 2 }, [COUNTERS]],
  ["was refunded for a row that it processed", { refunded: 1 }, [COUNTERS]],
  ["processed more than its chunks", { total: 2, processed: 2, valid: 2 }, [CHUNKS]],
  ["processed less than its chunks", { processed: 0, valid: 0, refunded: 1 }, [CHUNKS]],
])("the audit finds a job that %s", async (_case, set, invariants) => {
  const ctx = await given({ balance: 10 });
  const { world, table, account } = ctx;
  await whenVerified(world, ctx.liveKey, { email: "slow@x.com" });
  await whenWorked(ctx);
  await table.write({ update: { pk: "JOB#job_1", sk: "JOB" }, set });

  const { violations } = await audit(table, world.now());

  expect(violations).toEqual(
    invariants.map((invariant) => ({ account_id: account, law: invariant })),
  );
});

test("the audit finds a job of chunks consistent from its start to its end, with refunded chunks too", async () => {
  const ctx = await givenChunked();
  const world = withMessageFates(
    ctx,
    (chunk) => (["sent", "refused", "unknown"] as const)[chunk] ?? "sent",
  );
  await whenProcessed({ ...ctx, world }, createEmails(6));
  const audits = [];
  for (const happens of [() => whenWorked(ctx), () => whenQuiet({ ...ctx, world })]) {
    audits.push(await audit(ctx.table, world.now()));
    await happens();
  }
  audits.push(await audit(ctx.table, world.now()));

  expect(audits.map(({ violations }) => violations)).toEqual([[], [], []]);
});

test.each([
  ["twice", { rows: 4 }],
  ["not at all", { rows: 0 }],
])("the audit finds a chunk that counts its rows %s", async (_case, set) => {
  const ctx = await givenChunked();
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(5) });
  await whenWorked(ctx);
  await ctx.table.write({ update: toChunkKey("job_1", 1), set });

  const { violations } = await audit(ctx.table, ctx.world.now());

  expect(violations).toEqual([{ account_id: ctx.account, law: CHUNKS }]);
});

test("the audit reports no broken invariant when chunks end during its count", async () => {
  const ctx = await givenChunked({ rows: 1 });
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(5) });
  const working = {
    ...ctx.table,
    query: async (query: Parameters<typeof ctx.table.query>[0]) => {
      if (query.pk === "CHUNKS#job_1") await whenWorked(ctx);
      return ctx.table.query(query);
    },
  };

  expect(await audit(working, ctx.world.now())).toMatchObject({ ok: true });
});

test("the audit does not count the chunks of a job whose retention has ended", async () => {
  const ctx = await givenChunked({ plan: "free" });
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(5) });
  await whenWorked(ctx);
  ctx.later(7 * 86_400_000);

  expect(ctx.table.items().filter(({ pk }) => pk.startsWith("CHUNKS#"))).toEqual([]);
  expect(await audit(ctx.table, ctx.world.now())).toMatchObject({ ok: true });
});

test("the audit reports no broken invariant when a grant arrives during its read of the ledger", async () => {
  const { world, account } = await given({ balance: 10 });
  const moving = {
    ...world.table,
    query: async (query: Parameters<typeof world.table.query>[0]) => {
      await grantCredits(world, account, credits(1));
      return world.table.query(query);
    },
  };

  expect(await audit(moving, world.now())).toMatchObject({ ok: true });
});

const createStrayEntry = (account: string, at: string) => ({
  account,
  operation: "txn_9",
  openedAt: at,
  step: "grant" as const,
  at,
  moved: { grant: 2 as Halves },
  reason: "opening" as const,
  countedIn: undefined,
});

test("the audit finds an entry that the balance lacks", async () => {
  const { world, account } = await given();
  await world.table.write({
    create: toEntryItem(createStrayEntry(account, world.now().toISOString())),
  });

  expect((await audit(world.table, world.now())).ok).toBe(false);
});

test("the audit finds an account without a balance", async () => {
  const { world, account } = await given();
  await world.table.write({ remove: toBalanceKey(account) });

  const { violations } = await audit(world.table, world.now());

  expect(violations).toEqual([{ account_id: account, law: "the account has a balance" }]);
});

test.each([
  ["2026-11-30T23:59:59.999Z", "2026-11-30T23:59:59.999Z", "2027-02-01T00:00:00.000Z"],
  ["2026-11-30T23:59:59.999Z", "2027-01-15T00:00:00.000Z", "2027-02-01T00:00:00.000Z"],
  ["2027-01-31T12:00:00.000Z", "2027-02-28T00:00:00.000Z", "2027-03-01T00:00:00.000Z"],
  ["2027-01-31T12:00:00.000Z", "2027-03-01T00:00:00.000Z", "2027-03-01T00:00:00.000Z"],
])(
  "the audit of an account opened at %s finds a stray entry of %s at %s",
  async (opened, openedAt, to) => {
    const { world, later } = givenWorld();
    later(Date.parse(opened) - world.now().getTime());
    const { account } = await openAccount(world, { name: "Bo", plan: "free", opening: credits(0) });
    await world.table.write({ create: toEntryItem(createStrayEntry(account, openedAt)) });

    expect((await audit(world.table, new Date(to))).ok).toBe(false);
  },
);

test("the audit includes the held credits and broken invariants that another reader reports", async () => {
  const { world, account } = await given({ balance: 10 });
  const auditWith = createAudit(iterateAccounts, [
    async () => ({ held: new Map([["job_9", 2]]), broken: [] }),
    async (_table, read) => ({ held: new Map(), broken: [`${read} is out of order`] }),
  ]);

  const { violations } = await auditWith(world.table, world.now());

  expect(violations).toEqual([
    { account_id: account, law: HELD_FOR_WORK },
    { account_id: account, law: `${account} is out of order` },
  ]);
});

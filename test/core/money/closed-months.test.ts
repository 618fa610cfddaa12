import { grantCredits } from "@mailproof/core/accounts/accounts";
import { audit } from "@mailproof/core/background/audit";
import { credits } from "@mailproof/core/money/credits";
import type { Item, Table } from "@mailproof/core/ports/table";
import { expect, test } from "vitest";
import { given as givenAny } from "../../app/given.ts";
import { whenVerified } from "../../app/send.ts";

const DAY_MS = 86_400_000;
const MONTH_MS = 31 * DAY_MS;

/** An account with charges in November, December, January and February, in April. */
const given = async () => {
  const ctx = await givenAny({ balance: 100 });
  for (let month = 0; month < 4; month++) {
    await whenVerified(ctx.world, ctx.liveKey, { email: `ann${month}@x.com` });
    ctx.later(MONTH_MS);
  }
  ctx.later(MONTH_MS);
  return ctx;
};

type TestContext = Awaited<ReturnType<typeof given>>;

const CLOSED = ["2026-11", "2026-12", "2027-01", "2027-02"];

const runAudit = (ctx: TestContext, isFull = false, table: Table = ctx.table) =>
  audit(table, ctx.world.now(), { isFull });

const listItems = ({ table }: TestContext, prefix: string) =>
  table.items().filter(({ pk }) => pk.startsWith(prefix));
const listClosed = (ctx: TestContext) =>
  listItems(ctx, "CLOSING#")
    .filter(({ isProved }) => isProved)
    .map(({ sk }) => sk);

/** The months whose entries an audit reads. */
const listReadMonths = async (ctx: TestContext, isFull = false): Promise<readonly string[]> => {
  const read = new Set<string>();
  const table: Table = {
    ...ctx.table,
    query: (query) => {
      const [name, , month = ""] = query.pk.split("#");
      if (name === "LEDGER") read.add(month);
      return ctx.table.query(query);
    },
  };
  expect(await runAudit(ctx, isFull, table)).toMatchObject({ ok: true });
  return [...read];
};

const put = (ctx: TestContext, item: Item) => ctx.table.write({ put: item });

test("the audit reads a closed month once, and later only its closing and the open months", async () => {
  const ctx = await given();

  const first = await listReadMonths(ctx);
  const later = await listReadMonths(ctx);

  expect(first).toEqual([...CLOSED, "2027-03", "2027-04"]);
  expect(listClosed(ctx)).toEqual(CLOSED);
  expect(later).toEqual(["2027-03", "2027-04"]);
});

test("a full audit reads the closed months again", async () => {
  const ctx = await given();
  await runAudit(ctx);

  expect(await listReadMonths(ctx, true)).toEqual([...CLOSED, "2027-03", "2027-04"]);
});

test("the audit closes a month 35 days after its end, not before", async () => {
  const ctx = await givenAny({ balance: 10 });
  ctx.later(Date.parse("2027-01-04T23:59:59.999Z") - ctx.world.now().getTime());
  await runAudit(ctx);
  expect(listClosed(ctx)).toEqual([]);

  ctx.later(1);
  await runAudit(ctx);

  expect(listClosed(ctx)).toEqual(["2026-11"]);
});

const takeEntry = (ctx: TestContext): Item => {
  const [entry] = listItems(ctx, `LEDGER#${ctx.account}#2026-12`);
  if (!entry) throw new Error("no entry");
  return entry;
};
const DIFFERS = "the entries of 2026-12 are those that it was closed with";

test.each<[string, (ctx: TestContext, entry: Item) => Promise<unknown>]>([
  ["whose amount was changed", (ctx, entry) => put(ctx, { ...entry, moved: { hold: 4 } })],
  ["whose reason was changed", (ctx, entry) => put(ctx, { ...entry, reason: "find" })],
  ["that was removed", (ctx, entry) => ctx.table.write({ remove: entry })],
])("a full audit finds an entry of a closed month %s", async (_case, tamper) => {
  const ctx = await given();
  await runAudit(ctx);
  await tamper(ctx, takeEntry(ctx));

  const quick = await runAudit(ctx);
  const full = await runAudit(ctx, true);

  expect(quick).toMatchObject({ ok: true });
  expect(full.violations).toContainEqual({ account_id: ctx.account, law: DIFFERS });
  // The audit does not repair what it finds.
  expect((await runAudit(ctx, true)).ok).toBe(false);
});

test("the next audit finds a changed closing", async () => {
  const ctx = await given();
  await runAudit(ctx);
  const [closing] = listItems(ctx, "CLOSING#").filter(({ sk }) => sk === "2026-12");
  await put(ctx, { ...(closing as Item), sums: { ...(closing?.["sums"] as object), spent: 20 } });

  const { violations } = await runAudit(ctx);

  expect(violations).toEqual([{ account_id: ctx.account, law: DIFFERS }]);
});

test("the audit finds a balance that differs from the closed months", async () => {
  const ctx = await given();
  await runAudit(ctx);
  await ctx.table.write({
    update: { pk: `BALANCE#${ctx.account}`, sk: "BALANCE" },
    add: { available: 2, granted: 2 },
  });

  const { violations } = await runAudit(ctx);

  expect(violations.map(({ law: invariant }) => invariant)).toContain(
    "granted = the sum of the entries in the ledger",
  );
});

test("the audit never closes a month whose entries differ from the balance", async () => {
  const ctx = await given();
  await put(ctx, { ...takeEntry(ctx), moved: { hold: 4 } });

  const audits = [await runAudit(ctx), await runAudit(ctx)];

  expect(audits.map(({ ok }) => ok)).toEqual([false, false]);
  expect(listClosed(ctx)).toEqual([]);
});

test.each([0, 1, 2, 3, 4, 5, 6, 7])(
  "the next audit continues an audit that stopped after %d writes",
  async (writes) => {
    const ctx = await given();
    let left = writes;
    const stopping: Table = {
      ...ctx.table,
      query: (query) => (left < 0 ? Promise.reject(new Error("stopped")) : ctx.table.query(query)),
      write: (write) => {
        left--;
        return left < 0 ? Promise.reject(new Error("stopped")) : ctx.table.write(write);
      },
    };
    await runAudit(ctx, false, stopping).catch(() => undefined);

    const read = await listReadMonths(ctx);

    // The first writes are a month each; then the four are proved.
    expect(read).toEqual([...CLOSED.slice(Math.min(writes, 4)), "2027-03", "2027-04"]);
    expect(listClosed(ctx)).toEqual(CLOSED);
    expect(await runAudit(ctx, true)).toMatchObject({ ok: true, late: [] });
  },
);

test.each([1, 2, 3, 4])(
  "the next audit continues an audit that stopped after reading month %d",
  async (months) => {
    const ctx = await given();
    const stopAt = [...CLOSED, "2027-03"][months] ?? "";
    const stopping: Table = {
      ...ctx.table,
      query: (query) =>
        query.pk.endsWith(`#${stopAt}`)
          ? Promise.reject(new Error("stopped"))
          : ctx.table.query(query),
    };
    await expect(runAudit(ctx, false, stopping)).rejects.toThrow("stopped");
    expect(listClosed(ctx)).toEqual([]);

    expect(await listReadMonths(ctx)).toEqual([...CLOSED.slice(months), "2027-03", "2027-04"]);
    expect(listClosed(ctx)).toEqual(CLOSED);
  },
);

test("the audit counts an entry that a wrong clock writes to a closed month, and reports it once", async () => {
  const ctx = await given();
  await runAudit(ctx);
  ctx.jump(-4 * MONTH_MS);
  await whenVerified(ctx.world, ctx.liveKey, { email: "late@x.com" });
  await grantCredits(ctx.world, ctx.account, credits(5));
  ctx.jump(4 * MONTH_MS);

  const audits = [await runAudit(ctx), await runAudit(ctx), await runAudit(ctx, true)];

  expect(audits.map(({ ok }) => ok)).toEqual([true, true, true]);
  expect(audits.map(({ late }) => late)).toEqual([
    [{ account_id: ctx.account, month: "2026-12", entries: 3 }],
    [],
    [],
  ]);
  expect(await listReadMonths(ctx)).toEqual(["2027-03", "2027-04"]);
});

test("the audit finds an entry in a closed month that the balance lacks", async () => {
  const ctx = await given();
  await runAudit(ctx);
  const entry = takeEntry(ctx);
  await put(ctx, { ...entry, sk: `${entry.sk}x`, operation: "stray", moved: { grant: 2 } });

  // The balance agrees with the closings.
  expect(await runAudit(ctx)).toMatchObject({ ok: true });
  expect(await runAudit(ctx, true)).toMatchObject({ ok: false });
});

test("a month that a clock ahead of time closed opens again when the clock is right", async () => {
  const ctx = await givenAny({ balance: 10 });
  await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" });
  ctx.jump(100 * DAY_MS);
  await runAudit(ctx);
  expect(listClosed(ctx)).toEqual(["2026-11"]);
  ctx.jump(-100 * DAY_MS);

  await whenVerified(ctx.world, ctx.liveKey, { email: "bob@x.com" });

  expect(await runAudit(ctx)).toMatchObject({ ok: true, late: [] });
  ctx.later(100 * DAY_MS);
  const audits = [await runAudit(ctx), await runAudit(ctx)];
  expect(audits).toMatchObject([
    { ok: true, late: [{ month: "2026-11", entries: 2 }] },
    { ok: true, late: [] },
  ]);
});

test("the audit closes no month with held credits", async () => {
  const ctx = await givenAny({ balance: 10 });
  await whenVerified(ctx.world, ctx.liveKey, { email: "slow@x.com" });
  ctx.later(100 * DAY_MS);

  expect(await runAudit(ctx)).toMatchObject({ ok: true });
  expect(listClosed(ctx)).toEqual([]);
});

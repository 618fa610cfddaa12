import { emitEvent } from "@mailproof/core/webhooks/items";
import { expect, test } from "vitest";
import { whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { send } from "../app/send.ts";
import type { TestContext } from "../things/jobs.ts";
import { whenEventEmitted, whenSubscribed } from "../things/webhooks.ts";

const ROUTE = "GET /v1/events";

const readEvents = async (
  { world, liveKey }: Pick<TestContext, "world" | "liveKey">,
  query: Record<string, string> = {},
  key = liveKey,
) => {
  const { statusCode, data } = await send(world, ROUTE, { key, query });
  expect(statusCode).toBe(200);
  return { ids: data.events.map(({ id }: { id: string }) => id), ...data };
};

test("the first read of events returns a cursor, which reads the later events once each, oldest first", async () => {
  const ctx = await given();
  await whenEventEmitted(ctx);
  ctx.later(1_000);
  const first = await readEvents(ctx);
  await whenEventEmitted(ctx);
  ctx.later(10);
  await whenEventEmitted(ctx);

  const second = await readEvents(ctx, { after: first.cursor });
  const third = await readEvents(ctx, { after: second.cursor });

  expect(first.events).toEqual([]);
  expect(second.events).toEqual([
    {
      id: "evt_2",
      type: "credits.low",
      created_at: "2026-11-21T00:00:01.000Z",
      data: { account_id: ctx.account, available: 5, threshold: 10 },
    },
    expect.objectContaining({ id: "evt_3" }),
  ]);
  expect(third.events).toEqual([]);
});

test("a read of events returns an event of a slow transaction after a later one, and no event twice", async () => {
  const ctx = await given();
  const { world, table, account } = ctx;
  const { cursor } = await readEvents(ctx);
  const slow = emitEvent(world, account, "credits.low", {});
  ctx.later(5_000);
  await whenEventEmitted(ctx);
  const second = await readEvents(ctx, { after: cursor });
  await table.transact([slow]);

  const third = await readEvents(ctx, { after: second.cursor });
  ctx.later(60_000);
  const fourth = await readEvents(ctx, { after: third.cursor });
  await whenEventEmitted(ctx);
  const fifth = await readEvents(ctx, { after: fourth.cursor });

  expect([second.ids, third.ids, fourth.ids, fifth.ids]).toEqual([
    ["evt_2"],
    ["evt_1"],
    [],
    ["evt_3"],
  ]);
});

test("pages of events of any size return every event once, also hundreds of one second", async () => {
  const ctx = await given();
  let { cursor } = await readEvents(ctx);
  for (let n = 0; n < 250; n++) {
    await whenEventEmitted(ctx);
    ctx.later(4);
  }
  const all: string[] = [];
  for (;;) {
    const page = await readEvents(ctx, { after: cursor, limit: "40" });
    all.push(...page.ids);
    cursor = page.cursor;
    expect(cursor.length).toBeLessThan(4_000);
    if (page.ids.length === 0) break;
  }

  expect(all).toEqual(Array.from({ length: 250 }, (_, n) => `evt_${n + 1}`));
});

test("a read of events with wait returns when an event happens or its time ends", async () => {
  const ctx = await given();
  const { cursor } = await readEvents(ctx);
  const startedMs = ctx.world.now().getTime();
  const waiting = readEvents(ctx, { after: cursor, wait: "25" });
  await ctx.world.sleep(3_500);
  await whenEventEmitted(ctx);

  const found = await waiting;
  const foundMs = ctx.world.now().getTime();
  const none = await readEvents(ctx, { after: found.cursor, wait: "10" });

  expect(found.ids).toEqual(["evt_1"]);
  expect(foundMs - startedMs).toBe(4_000);
  expect(none.events).toEqual([]);
  expect(ctx.world.now().getTime() - foundMs).toBe(10_000);
});

test("a read of events with wait reads the table once a second", async () => {
  const ctx = await given();
  const { cursor } = await readEvents(ctx);
  let queries = 0;
  const table: TestContext["table"] = {
    ...ctx.table,
    query: (query) => {
      if (query.pk.startsWith("EVENTS#")) queries++;
      return ctx.table.query(query);
    },
  };
  const world = { ...ctx.world, table };
  await readEvents({ ...ctx, world }, { after: cursor, wait: "10" });

  expect(queries).toBe(11);
});

test("webhooks receive their deliveries as before, and a test key reads only events of test keys", async () => {
  const ctx = await given();
  const { account, liveKey, testKey, world } = ctx;
  await whenSubscribed(ctx);
  const live = await readEvents(ctx);
  const mine = await readEvents(ctx, {}, testKey);
  await whenEventEmitted(ctx);
  await whenEventEmitted(ctx, `${account}~test`);

  expect((await readEvents(ctx, { after: live.cursor })).ids).toEqual(["evt_1"]);
  expect((await readEvents(ctx, { after: mine.cursor }, testKey)).ids).toEqual(["evt_2"]);
  ctx.later(31_000);
  await world.sleep(0);
  await whenWorked(ctx);
  const { data } = await send(world, "GET /v1/webhooks", { key: liveKey });
  expect(data.webhooks).toHaveLength(1);
  // A cursor belongs to its reader.
  const foreign = await send(world, ROUTE, { key: testKey, query: { after: live.cursor } });
  expect(foreign.statusCode).toBe(400);
});

test("a read of events answers 400 for a cursor of another list and for a wait of minutes", async () => {
  const { world, liveKey: key } = await given();

  for (const query of [{ after: "x" }, { wait: "26" }, { wait: "-1" }, { since: "2026-11-21" }])
    expect((await send(world, ROUTE, { key, query })).statusCode).toBe(400);
});

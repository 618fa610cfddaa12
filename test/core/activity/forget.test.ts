import { forgetActivity } from "@mailproof/core/activity/forget";
import { recordEvents } from "@mailproof/core/activity/record";
import { expect, test } from "vitest";
import {
  createEvent,
  toAddress,
  toRecordedEvent,
  whenActivityRead,
  whenEventsSent,
} from "../../activity.ts";
import { withTable } from "../../faulty-worlds.ts";
import { given } from "../../given.ts";
import { listStoredItems } from "../../ledger.ts";

const ann = toAddress("ANN@x.com");

test("a forgotten address is unknown, and its domain no longer counts it; other addresses stay", async () => {
  const ctx = await given();
  const { world, liveKey: key } = ctx;
  await whenEventsSent(
    world,
    key,
    createEvent("open", 1),
    createEvent("open", 1, { email: "bo@x.com" }),
  );

  expect(await forgetActivity(world, ann)).toBe(1);

  expect((await whenActivityRead(world, key)).data.activity.total_opens).toBe(0);
  expect((await whenActivityRead(world, key, "bo@x.com")).data.activity.total_opens).toBe(1);
  expect(listStoredItems(ctx).reduce((sum, item) => sum + Number(item["people"] ?? 0), 0)).toBe(1);
  expect(await forgetActivity(world, ann)).toBe(0);
});

test("a repeat of an event from before the erasure is not counted again; a new event is", async () => {
  const { world, liveKey: key } = await given();
  const open = createEvent("open", 1);
  await whenEventsSent(world, key, open);
  await forgetActivity(world, ann);

  await whenEventsSent(world, key, open, createEvent("click", 1));

  expect((await whenActivityRead(world, key)).data.activity).toMatchObject({
    total_opens: 0,
    total_clicks: 1,
  });
});

test("an event recorded during the erasure is forgotten, too, and so is a write whose reply was lost", async () => {
  const ctx = await given();
  const { world, table, account, liveKey: key } = ctx;
  await whenEventsSent(world, key, createEvent("open", 1));
  const source = { account, channel: "api" } as const;
  let turn = 0;
  const busy = withTable(ctx, {
    transact: async (writes) => {
      turn++;
      if (turn === 1) await recordEvents(world, source, [toRecordedEvent(createEvent("open", 2))]);
      const result = await table.transact(writes);
      return turn === 2 ? { outcome: "ambiguous" } : result;
    },
  });

  expect(await forgetActivity(busy, ann)).toBe(1);
  expect((await whenActivityRead(world, key)).data.activity.engagement_level).toBe("unknown");
});

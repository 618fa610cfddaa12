import { forgetActivity } from "@mailproof/core/activity/forget";
import { recordEvents } from "@mailproof/core/activity/record";
import { expect, test } from "vitest";
import { addressOf, anEvent, toTold, whenAsked, whenTold } from "../../activity.ts";
import { overTable } from "../../breaking.ts";
import { given } from "../../given.ts";
import { storedIn } from "../../ledger.ts";

const ann = addressOf("ANN@x.com");

test("what is forgotten is unknown, and no more one of its domain's addresses; others stay", async () => {
  const house = await given();
  const { world, liveKey: key } = house;
  await whenTold(world, key, anEvent("open", 1), anEvent("open", 1, { email: "bo@x.com" }));

  expect(await forgetActivity(world, ann)).toBe(1);

  expect((await whenAsked(world, key)).data.activity.total_opens).toBe(0);
  expect((await whenAsked(world, key, "bo@x.com")).data.activity.total_opens).toBe(1);
  expect(storedIn(house).reduce((sum, item) => sum + Number(item["people"] ?? 0), 0)).toBe(1);
  expect(await forgetActivity(world, ann)).toBe(0);
});

test("an event that was counted before it was forgotten does not come back with a repeat; a new one does", async () => {
  const { world, liveKey: key } = await given();
  const open = anEvent("open", 1);
  await whenTold(world, key, open);
  await forgetActivity(world, ann);

  await whenTold(world, key, open, anEvent("click", 1));

  expect((await whenAsked(world, key)).data.activity).toMatchObject({
    total_opens: 0,
    total_clicks: 1,
  });
});

test("an event that comes between is forgotten, too, and so is what a lost reply leaves open", async () => {
  const house = await given();
  const { world, table, account, liveKey: key } = house;
  await whenTold(world, key, anEvent("open", 1));
  const source = { account, way: "api" } as const;
  let turn = 0;
  const busy = overTable(house, {
    transact: async (writes) => {
      turn++;
      if (turn === 1) await recordEvents(world, source, [toTold(anEvent("open", 2))]);
      const result = await table.transact(writes);
      return turn === 2 ? { outcome: "ambiguous" } : result;
    },
  });

  expect(await forgetActivity(busy, ann)).toBe(1);
  expect((await whenAsked(world, key)).data.activity.engagement_level).toBe("unknown");
});

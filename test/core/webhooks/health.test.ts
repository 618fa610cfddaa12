import { describe, expect, test } from "vitest";
import type { House } from "../../jobs.ts";
import { send } from "../../send.ts";
import {
  deliveriesIn,
  givenHook,
  HOUR_MS,
  hookIn,
  whenAnnounced,
  whenDue,
  whenPassed,
} from "../../webhooks.ts";
import { whenQuiet } from "../../working.ts";

describe("a webhook", () => {
  test("whose address answers 410 is disabled at once, and its owner sees why", async () => {
    const house = await givenHook();
    house.servers.answer(410);
    await whenAnnounced(house);
    house.later(30_000);
    await whenDue(house);

    expect(await hookIn(house)).toMatchObject({ status: "disabled", disabled_because: "gone" });
    expect(await deliveriesIn(house)).toMatchObject([
      {
        event: "webhook.disabled",
        status: "noted",
        attempts: 0,
        error: expect.stringContaining("410"),
      },
      { event: "credits.low", status: "failed", response_status: 410 },
    ]);
    expect(house.logged).toContainEqual(expect.objectContaining({ event: "webhook_disabled" }));
    await whenAnnounced(house);
    await whenQuiet(house);
    expect(house.servers.heard).toHaveLength(1);
  });

  /** An event each six hours. */
  const whenDaysPass = async (house: House, days: number): Promise<void> => {
    for (let quarter = 0; quarter < days * 4; quarter++) {
      await whenAnnounced(house);
      await whenPassed(house, 6 * HOUR_MS);
    }
  };

  test("at which everything fails is disabled after five days, not before, with a line in its log", async () => {
    const house = await givenHook();
    house.servers.answer(500);

    await whenDaysPass(house, 4.75);
    expect(await hookIn(house)).toMatchObject({
      status: "active",
      failing_since: "2026-11-21T00:01:00.000Z",
    });

    await whenDaysPass(house, 1);
    expect(await hookIn(house)).toMatchObject({ status: "disabled", disabled_because: "failing" });
    const notes = (await deliveriesIn(house)).filter(({ status }) => status === "noted");
    expect(notes).toMatchObject([
      { event: "webhook.disabled", error: expect.stringContaining("five days") },
    ]);
    await whenPassed(house, HOUR_MS);
    const calls = house.servers.heard.length;
    await whenDaysPass(house, 1);
    expect(house.servers.heard).toHaveLength(calls);
    expect(house.table.isAnythingDue()).toBe(false);
  }, 60_000);

  test("at which something arrives now and then is never disabled", async () => {
    const house = await givenHook();
    house.servers.answer(500);
    await whenDaysPass(house, 3);
    house.servers.answer(200);
    await whenPassed(house, 6 * HOUR_MS);
    expect(await hookIn(house)).not.toHaveProperty("failing_since");
    house.servers.answer(500);

    await whenDaysPass(house, 4);

    expect(await hookIn(house)).toMatchObject({ status: "active" });
  }, 60_000);

  test("that is enabled again has five days again", async () => {
    const house = await givenHook();
    house.servers.answer(410);
    await whenAnnounced(house);
    await whenQuiet(house);
    const body = { status: "active" };
    await send(house.world, "PUT /v1/webhooks/whk_1", { key: house.liveKey, body });
    house.servers.answer(200);
    await whenAnnounced(house);

    await whenQuiet(house);

    expect(await deliveriesIn(house)).toMatchObject([{ status: "delivered" }, {}, {}]);
  });
});

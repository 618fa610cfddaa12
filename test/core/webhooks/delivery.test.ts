import { describe, expect, test } from "vitest";
import { send } from "../../send.ts";
import {
  DAY_MS,
  deliveriesIn,
  givenHook,
  HOOK,
  HOUR_MS,
  opened,
  whenAnnounced,
  whenDue,
  whenPassed,
} from "../../webhooks.ts";

describe("a delivery that fails", () => {
  test("is tried again with the same id and body, a new timestamp, and a signature that fits", async () => {
    const house = await givenHook();
    house.servers.answer(500);
    await whenAnnounced(house);
    await whenPassed(house, HOUR_MS);
    house.servers.answer(200);

    await whenPassed(house, 12 * HOUR_MS);

    const { heard } = house.servers;
    expect(heard.length).toBeGreaterThan(3);
    expect(new Set(heard.map(({ body }) => body)).size).toBe(1);
    expect(new Set(heard.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(heard.map(({ headers }) => headers["webhook-timestamp"])).size).toBe(
      heard.length,
    );
    for (const one of heard) expect(opened(house.secret, one)).toBeDefined();
    expect(await deliveriesIn(house)).toMatchObject([
      { status: "delivered", attempts: heard.length, next_attempt_at: null, error: null },
    ]);
  });

  test("is given up after a day, and nothing is due any more", async () => {
    const house = await givenHook();
    house.servers.answer(() => "connect_timeout");
    await whenAnnounced(house);

    await whenPassed(house, DAY_MS + HOUR_MS);

    expect(await deliveriesIn(house)).toMatchObject([
      { status: "failed", error: "connect_timeout", response_status: null, next_attempt_at: null },
    ]);
    expect(house.table.isAnythingDue()).toBe(false);
    const [first, last] = [house.servers.heard.at(0), house.servers.heard.at(-1)];
    expect(Number(last?.at) - Number(first?.at)).toBeGreaterThanOrEqual(DAY_MS);
  });

  test("is signed with the secret of the moment: a new one counts at once", async () => {
    const house = await givenHook();
    house.servers.answer(500);
    await whenAnnounced(house);
    house.later(30_000);
    await whenDue(house);
    const rotated = await send(house.world, "POST /v1/webhooks/whk_1/secret", {
      key: house.liveKey,
    });

    await whenPassed(house, HOUR_MS);

    const last = house.servers.heard.at(-1);
    expect(last && opened(rotated.data.secret, last)).toBeDefined();
    expect(() => last && opened(house.secret, last)).toThrow("No matching signature");
  });

  test("goes to the address of the moment", async () => {
    const house = await givenHook();
    house.servers.answer(500);
    await whenAnnounced(house);
    house.later(30_000);
    await whenDue(house);
    const body = { url: "https://new.example/" };
    await send(house.world, "PUT /v1/webhooks/whk_1", { key: house.liveKey, body });

    await whenPassed(house, HOUR_MS);

    expect(house.servers.heard.at(0)?.url).toBe(HOOK);
    expect(house.servers.heard.at(-1)?.url).toBe("https://new.example/");
  });

  test("waits as long as its server asked for", async () => {
    const house = await givenHook();
    house.servers.answer(() => ({ status: 429, retryAfter: "1800" }));
    await whenAnnounced(house);
    house.later(30_000);
    await whenDue(house);

    await whenPassed(house, 29 * 60_000);
    expect(house.servers.heard).toHaveLength(1);

    await whenPassed(house, 2 * 60_000);
    expect(house.servers.heard).toHaveLength(2);
  });

  test("is not sent unsigned when its secret cannot be opened any more", async () => {
    const house = await givenHook();
    await whenAnnounced(house);
    house.later(30_000);
    const settings = { ...house.world.settings, sealingKey: "another key of the operator" };

    await whenDue({ ...house, world: { ...house.world, settings } });

    expect(house.servers.heard).toEqual([]);
    expect(await deliveriesIn(house)).toMatchObject([
      { status: "pending", error: "secret_unreadable", attempts: 1 },
    ]);
    expect(house.logged).toContainEqual(expect.objectContaining({ event: "secret_unreadable" }));
  });
});

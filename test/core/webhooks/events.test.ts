import { EventPayload } from "@mailproof/core/webhooks/payloads";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { given } from "../../given.ts";
import { send, whenVerified } from "../../send.ts";
import {
  eventsTold,
  givenHook,
  HOOK,
  opened,
  whenAnnounced,
  whenDue,
  whenSubscribed,
} from "../../webhooks.ts";
import { whenQuiet, whenWorked } from "../../working.ts";

describe("an event", () => {
  test("goes out as soon as what it tells of is written, signed, with the body that is documented", async () => {
    const house = await givenHook();
    await whenVerified(house.world, house.liveKey, { email: "slow@x.com" });

    await whenWorked(house);

    const [heard] = house.servers.heard;
    expect(heard).toMatchObject({
      method: "POST",
      url: HOOK,
      headers: {
        "content-type": "application/json",
        "user-agent": "mailproof/0.0.0-test",
        "webhook-id": "evt_1",
      },
    });
    const event = heard && opened(house.secret, heard);
    expect(event).toEqual({
      id: "evt_1",
      type: "job.completed",
      created_at: "2026-11-21T00:00:40.000Z",
      data: {
        job_id: "job_1",
        status: "completed",
        progress: { total: 1, processed: 1, valid: 1, invalid: 0, risky: 0, unknown: 0 },
      },
    });
    expect(v.is(EventPayload, event)).toBe(true);
  });

  test("of which nobody spoke goes out when somebody looks", async () => {
    const house = await givenHook();
    await whenAnnounced(house);
    house.later(30_000);

    await whenDue(house);

    expect(eventsTold(house.servers.heard)).toMatchObject([{ id: "evt_1", type: "credits.low" }]);
  });

  test("goes to those who subscribed to it, each with a secret of its own, and to nobody else", async () => {
    const house = await givenHook(["credits.low"]);
    const second = await whenSubscribed(house, {
      url: "https://b.example/",
      events: ["credits.low"],
    });
    await whenSubscribed(house, { url: "https://c.example/", events: ["job.failed"] });
    await whenSubscribed(house, { url: "https://d.example/", key: house.testKey });
    await whenAnnounced(house);

    await whenQuiet(house);

    const { heard } = house.servers;
    expect(heard.map(({ url }) => url).toSorted()).toEqual(["https://b.example/", HOOK]);
    const ours = heard.find(({ url }) => url === HOOK);
    expect(ours && opened(house.secret, ours)).toBeDefined();
    expect(() => ours && opened(second.data.secret, ours)).toThrow("No matching signature");
    expect(new Set(heard.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  });

  test("of a test key goes to the webhooks of test keys", async () => {
    const house = await givenHook();
    await whenSubscribed(house, { url: "https://test.example/", key: house.testKey });
    await whenVerified(house.world, house.testKey, { email: "slow@x.com" });

    await whenQuiet(house);

    expect(house.servers.heard.map(({ url }) => url)).toEqual(["https://test.example/"]);
  });

  test("that nobody subscribed to is done with nobody called", async () => {
    const house = await given({ balance: 10 });
    await whenAnnounced(house);

    await whenQuiet(house);

    expect(house.servers.heard).toEqual([]);
    expect(house.table.items().filter(({ pk }) => pk.startsWith("DELIVERY#"))).toEqual([]);
  });

  test("at a disabled webhook is not kept for later", async () => {
    const house = await givenHook();
    const change = (status: string) =>
      send(house.world, "PUT /v1/webhooks/whk_1", { key: house.liveKey, body: { status } });
    await change("disabled");
    await whenAnnounced(house);
    await whenQuiet(house);

    await change("active");
    await whenQuiet(house);

    expect(house.servers.heard).toEqual([]);
  });
});

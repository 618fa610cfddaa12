import type { Item } from "@mailproof/core/table";
import { deliver } from "@mailproof/core/webhooks/deliver";
import { announce, readDelivery } from "@mailproof/core/webhooks/items";
import { EventPayload } from "@mailproof/core/webhooks/payloads";
import * as v from "valibot";
import { describe, expect, test, vi } from "vitest";
import { given } from "../../given.ts";
import {
  anns,
  csvOf,
  givenChunked,
  givenUpload,
  processOf,
  whenBatched,
  whenFiled,
} from "../../jobs.ts";
import { send, whenVerified } from "../../send.ts";
import { deliveriesIn, eventsTold, HOOK, opened, whenSubscribed } from "../../webhooks.ts";
import { whenQuiet, whenReconciled, whenWorked } from "../../working.ts";

type House = Awaited<ReturnType<typeof given>>;

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Something that is to be told, and nobody has said so to the workers. */
const whenAnnounced = async ({ world, table, account }: House, owner = account): Promise<void> => {
  const data = { account_id: account, available: 5, threshold: 10 };
  await table.transact([announce(world, owner, "credits.low", data)]);
};

/** What is due now is done now. */
const whenDue = async (house: House): Promise<void> => {
  await whenReconciled(house);
  await whenWorked(house);
};

/** So long, with a look each minute. */
const whenPassed = async (house: House, ms: number): Promise<void> => {
  const until = house.world.now().getTime() + ms;
  while (house.world.now().getTime() < until) {
    house.later(60_000);
    await whenDue(house);
  }
};

const givenHook = async (events?: readonly string[]) => {
  const house = await given({ balance: 10 });
  const { data } = await whenSubscribed(house, events ? { events } : {});
  return { ...house, secret: data.secret as string };
};

const hookIn = async ({ world, liveKey: key }: House) =>
  (await send(world, "GET /v1/webhooks", { key })).data.webhooks[0];

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

const isPutOff = (item: Item): boolean => item.sk === "DELIVERY" && readDelivery(item).waits > 0;

describe("a callback", () => {
  const URL = "https://back.example/done";

  test("of a batch is signed by the secret that came with it", async () => {
    const house = await givenChunked();
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const callback = { webhook_url: URL, webhook_secret: secret };

    await whenBatched(house.world, house.liveKey, { emails: anns(3), ...callback });
    await whenWorked(house);

    const [heard] = house.servers.heard;
    expect(heard?.url).toBe(URL);
    expect(heard && opened(secret, heard)).toMatchObject({ type: "job.completed" });
  });

  test("of a batch without a secret, and of a file, is not signed", async () => {
    const house = await givenChunked();
    await whenBatched(house.world, house.liveKey, { emails: anns(3), webhook_url: URL });
    const fileKey = await givenUpload(house, house.liveKey, csvOf(anns(3)));
    await whenFiled(house.world, house.liveKey, processOf(fileKey, { webhook_url: URL }));

    await whenWorked(house);

    expect(house.servers.heard).toHaveLength(2);
    for (const { headers } of house.servers.heard) {
      expect(headers).not.toHaveProperty("webhook-signature");
      expect(headers["webhook-id"]).toMatch(/^evt_/);
    }
  });

  test("comes beside what subscribers are told, and is tried again like it", async () => {
    const house = await givenChunked();
    await whenSubscribed(house);
    house.servers.answer(({ url }) => (url === URL ? 500 : 200));
    await whenBatched(house.world, house.liveKey, { emails: anns(1), webhook_url: URL });
    await whenWorked(house);

    house.servers.answer(200);
    await whenPassed(house, HOUR);

    const urls = house.servers.heard.map(({ url }) => url);
    expect(urls.toSorted()).toEqual([URL, URL, HOOK]);
  });

  test("whose servers all hang leaves half of what can be in hand to others, however many it names", async () => {
    const house = await given();
    const { world, table, queue, servers, account } = house;
    const { promise: hung, resolve: letGo } = Promise.withResolvers<number>();
    servers.answer(() => hung);
    const data = { account_id: account, available: 5, threshold: 10 };
    for (let n = 0; n < 100; n++) {
      const callback = { url: `https://h${n}.example/`, secret: null };
      await table.transact([announce(world, account, "credits.low", data, callback)]);
    }
    house.later(30_000);
    await whenReconciled(house);

    const inHand: Promise<void>[] = [];
    for (;;) {
      const messages = await queue.receive(deliver.queue, { max: 10, waitMs: 0 });
      if (messages.length === 0) break;
      inHand.push(...messages.map(({ body }) => deliver.handle(world, body)));
    }
    await vi.waitFor(() => expect(table.items().filter(isPutOff)).toHaveLength(68));

    expect(servers.heard).toHaveLength(32);
    letGo(200);
    await Promise.all(inHand);
  });

  test.each([
    ["a batch", "POST /v1/verify/batch", { emails: anns(1) }],
    ["a file", "POST /v1/verify/file", processOf("uploads/live/acc_1/upl_1.csv")],
  ])(
    "to a private address is refused with %s, before anything is charged",
    async (_, route, body) => {
      const house = await givenChunked();
      house.servers.refuse(() => "private_address");

      const { statusCode, error } = await send(house.world, route, {
        key: house.liveKey,
        body: { ...body, webhook_url: "https://10.0.0.1/" },
      });

      expect(statusCode).toBe(400);
      expect(error.message).toBe(
        "webhook_url: must not lead to a private address, unless the operator's OUTBOUND_ALLOW_PRIVATE has it. Nothing was charged.",
      );
    },
  );

  test("with a secret that promises base64 and is none is 400", async () => {
    const house = await givenChunked();
    const callback = { webhook_url: URL, webhook_secret: "whsec_no base64, this" };

    const told = await whenBatched(house.world, house.liveKey, { emails: anns(1), ...callback });

    expect(told.error.message).toContain("webhook_secret: must be base64 after whsec_");
  });
});

describe("a delivery that fails", () => {
  test("is tried again with the same id and body, a new timestamp, and a signature that fits", async () => {
    const house = await givenHook();
    house.servers.answer(500);
    await whenAnnounced(house);
    await whenPassed(house, HOUR);
    house.servers.answer(200);

    await whenPassed(house, 12 * HOUR);

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

    await whenPassed(house, DAY + HOUR);

    expect(await deliveriesIn(house)).toMatchObject([
      { status: "failed", error: "connect_timeout", response_status: null, next_attempt_at: null },
    ]);
    expect(house.table.isAnythingDue()).toBe(false);
    const [first, last] = [house.servers.heard.at(0), house.servers.heard.at(-1)];
    expect(Number(last?.at) - Number(first?.at)).toBeGreaterThanOrEqual(DAY);
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

    await whenPassed(house, HOUR);

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

    await whenPassed(house, HOUR);

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
      await whenPassed(house, 6 * HOUR);
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
    await whenPassed(house, HOUR);
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
    await whenPassed(house, 6 * HOUR);
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

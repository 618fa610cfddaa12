import type { KeyMode } from "@mailproof/core/access/key-form";
import { ownerOf } from "@mailproof/core/access/payer";
import type { Item } from "@mailproof/core/table";
import { deliver } from "@mailproof/core/webhooks/deliver";
import { announce, readDelivery } from "@mailproof/core/webhooks/items";
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
import { send } from "../../send.ts";
import { HOOK, HOUR_MS, opened, whenPassed, whenSubscribed } from "../../webhooks.ts";
import { whenReconciled, whenWorked } from "../../working.ts";

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

  test.each(["x", "whsec_no base64, this", "whsec_", " ", "🔑".repeat(128), "\u0000"])(
    "of a batch is signed by the own bytes of a secret such as %j",
    async (secret) => {
      const house = await givenChunked();
      const callback = { webhook_url: URL, webhook_secret: secret };

      await whenBatched(house.world, house.liveKey, { emails: anns(1), ...callback });
      await whenWorked(house);

      const [heard] = house.servers.heard;
      const asBase64 = Buffer.from(secret).toString("base64");
      expect(heard && opened(asBase64, heard)).toMatchObject({ type: "job.completed" });
    },
  );

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
    await whenPassed(house, HOUR_MS);

    const urls = house.servers.heard.map(({ url }) => url);
    expect(urls.toSorted()).toEqual([URL, URL, HOOK]);
  });

  test.each<[string, readonly KeyMode[]]>([
    ["a live key", ["live"]],
    ["a live and a test key", ["live", "test"]],
  ])(
    "whose servers all hang leaves half of what can be in hand to others, with %s",
    async (_keys, modes) => {
      const house = await given();
      const { world, table, queue, servers, account } = house;
      const { promise: hung, resolve: letGo } = Promise.withResolvers<number>();
      servers.answer(() => hung);
      const data = { account_id: account, available: 5, threshold: 10 };
      for (let n = 0; n < 100; n++) {
        const callback = { url: `https://h${n}.example/`, secret: null };
        const owner = ownerOf({ account, mode: modes[n % modes.length] ?? "live" });
        await table.transact([announce(world, owner, "credits.low", data, callback)]);
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
    },
  );

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
});
